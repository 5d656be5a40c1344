"""Rows that are trained on next to those of a table, but never held out: rows of beliefs, above all.

Few rows of data cannot determine a network. Rows that are drawn from the beliefs of a schema take their
place, and count less and less as rows of data arrive: together as much as a fixed number of rows.
"""

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from eddi.table.evidence import Evidence

Number = TypeVar("Number", bound=np.generic)

MAX_WEIGHED_ROWS = 200  # of beliefs; they count as few rows of data, so more change little
MAX_JOINED_ROWS = 100_000  # more tell no more about the scale of values, knots and factors


@dataclass(frozen=True)
class ExtraRows:
    """Rows with a weight.

    Args:
        rows: the rows.
        weight: how much each of them counts, relative to a row of the table.
    """

    rows: Evidence
    weight: float


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
        return weigh_rows(evidence, ExtraRows(extra.rows[:MAX_WEIGHED_ROWS], weight))
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
