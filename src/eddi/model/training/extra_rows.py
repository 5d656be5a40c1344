"""Rows that are trained on next to those of a table, but never held out: rows of beliefs, above all.

Few rows of data cannot determine a network. Rows that are drawn from the beliefs of a schema take their
place, and count less and less as rows of data arrive: together as much as a fixed number of rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from eddi.table.evidence import Evidence

Number = TypeVar("Number", bound=np.generic)

MAX_WEIGHED_ROWS = 200  # of beliefs; they count as few rows of data, so more change little
MAX_SIMILAR_ROWS = 20  # of beliefs, of which one completes a row of data
ROUNDING = 1e-6  # of distances between coded values, relative to their standard deviation
MAX_JOINED_ROWS = 100_000  # more tell no more about the scale of values, knots and factors


@dataclass(frozen=True)
class ExtraRows:
    """Rows with a weight.

    Args:
        rows: the rows.
        weight: how much each of them counts, relative to a row of the table.
        is_prior: whether they are drawn from beliefs.
        related: positions of the variables with a stated relation.
    """

    rows: Evidence
    weight: float
    is_prior: bool = False
    related: tuple[int, ...] = ()

    def complete(self, table: Evidence, targets: Sequence[int] = ()) -> "ExtraRows":
        """Replace each prior row by a table row with a known target; impute what it lacks from prior rows.

        A question that nobody was asked has values in prior rows alone, where nothing tells about the target
        unless a relation is stated. A network would learn that such an answer identifies a prior row. The
        factor model is fitted to prior rows as drawn. Rows that are not drawn from beliefs stay as they are.
        """
        is_usable = table.observed[:, list(targets)].any(1) if targets else np.ones(len(table), bool)
        if not self.is_prior or not is_usable.any():
            return self
        random = np.random.default_rng(len(table))
        places = random.permutation(np.arange(len(self.rows)) % is_usable.sum())
        known = table[np.flatnonzero(is_usable)[places]]
        drawn = self.rows[self._find_similar(known, random)]
        values = np.where(known.observed, known.values, drawn.values)
        return replace(self, rows=Evidence(values, known.observed | drawn.observed))

    def _find_similar(self, known: Evidence, random: np.random.Generator) -> NDArray[np.int64]:
        """For each row, one of the rows of beliefs that are most similar in related variables [rows]."""
        n_rows = len(self.rows)
        distances = ROUNDING * random.random(
            (len(known), n_rows)
        )  # any of them if there are no relations
        for place in self.related:
            scale = self.rows.values[:, place].std() + ROUNDING
            differences = (known.values[:, [place]] - self.rows.values[:, place]) / scale
            distances += known.observed[:, [place]] * differences**2
        n_similar = min(MAX_SIMILAR_ROWS, n_rows)
        similar = np.argpartition(distances, n_similar - 1, axis=1)[:, :n_similar]
        chosen = random.integers(n_similar, size=len(known))
        return np.asarray(similar[np.arange(len(known)), chosen])


def join_rows(evidence: Evidence, extra: ExtraRows | None) -> Evidence:
    """The rows of a table and the extra ones, repeated so that each counts about as much as its weight."""
    if extra is None:
        return evidence
    values = repeat_rows(evidence.values, extra.rows.values, extra.weight)
    return Evidence(values, repeat_rows(evidence.observed, extra.rows.observed, extra.weight))


def weigh_rows(
    evidence: Evidence, extra: ExtraRows | None
) -> tuple[Evidence, NDArray[np.float32] | None]:
    """The rows of a table and the extra ones, with the weight of each row; None if all are 1.

    The rows with the larger weight, which are those of the data, count as one row each.
    """
    if extra is None:
        return evidence, None
    if extra.weight < 1 and len(extra.rows) > MAX_WEIGHED_ROWS:  # rows of beliefs
        weight = extra.weight * len(extra.rows) / MAX_WEIGHED_ROWS
        return weigh_rows(evidence, replace(extra, rows=extra.rows[:MAX_WEIGHED_ROWS], weight=weight))
    values = np.concatenate([evidence.values, extra.rows.values])
    observed = np.concatenate([evidence.observed, extra.rows.observed])
    weights = np.repeat([1.0, extra.weight], [len(evidence), len(extra.rows)]) / max(1.0, extra.weight)
    return Evidence(values, observed), weights.astype(np.float32)


def repeat_rows(rows: NDArray[Number], extra: NDArray[Number], weight: float) -> NDArray[Number]:
    """Rows and extra rows [rows, variables], repeated as `join_rows` does."""
    n_repeats, n_extra_repeats = _count_repeats(1 / weight, rows), _count_repeats(weight, extra)
    return np.concatenate([*[rows] * n_repeats, *[extra] * n_extra_repeats])


def _count_repeats(weight: float, rows: NDArray[Any]) -> int:
    return max(1, min(round(weight), MAX_JOINED_ROWS // max(len(rows), 1)))
