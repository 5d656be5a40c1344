"""What an analyst should look at before a table is learned from: leaks, holes, names of rows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from eddi.service.analyst.tables import KeptTable
from eddi.table.columns import table_to_numbers
from eddi.table.schema import Schema

MANY_MISSING = 0.5  # share of a column's cells
FEW_ROWS = 100
LEAK = 0.97  # of what can be known of the target, known from one variable alone
MAX_ROWS = 4_000  # looked at for leaks: they are no subtle effect
MAX_BINS = 40
LEAST_IN_BIN = 5

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Caution:
    """Something to look at: about which column (None for the table), and how it is called."""

    column: str | None
    kind: str  # "leak", "missing", "identifier", "left out", "rows", "target"
    words: str

    @property
    def is_grave(self) -> bool:
        """Whether the model would mislead, were it left as it is."""
        return self.kind in ("leak", "target")


def cautions(kept: KeptTable, table: pa.Table) -> list[Caution]:
    """All there is to look at, the gravest first."""
    found = [*_about_table(kept), *leaks(kept.schema, table), *_about_columns(kept)]
    return sorted(found, key=lambda one: not one.is_grave)


def _about_table(kept: KeptTable) -> list[Caution]:
    found = []
    if kept.n_rows < FEW_ROWS:
        words = f"{kept.n_rows} rows are few to learn from; expect wide intervals."
        found.append(Caution(None, "rows", words))
    if not kept.schema.targets:
        found.append(Caution(None, "target", "No column is marked as what interviews find out."))
    return found


def _about_columns(kept: KeptTable) -> list[Caution]:
    aside = {one.name: one for one in kept.schema.set_aside}
    found = []
    for name, facts in zip(kept.columns, kept.profiles, strict=True):
        share = facts["missing"] / max(kept.n_rows, 1)
        if name in aside:
            kind = "identifier" if aside[name].role == "identifier" else "left out"
            found.append(Caution(name, kind, f"Left out: {aside[name].reason}."))
        elif share >= MANY_MISSING:
            found.append(Caution(name, "missing", f"{share:.0%} of its cells are missing."))
    return found


def leaks(schema: Schema, table: pa.Table) -> list[Caution]:
    """Variables that give a target away: known alone, they tell nearly all there is to know of it."""
    if not schema.targets:
        return []
    some = table.slice(0, MAX_ROWS) if table.num_rows > MAX_ROWS else table
    rows = table_to_numbers(some, schema)
    found = []
    for target in schema.targets:
        truth = rows[:, schema.position(target)]
        for place, variable in enumerate(schema.variables):
            if variable.name in schema.targets:
                continue
            told = strength(rows[:, place], truth, levels=schema[target].kind.has_levels)
            if told >= LEAK:
                words = (
                    f"Tells {told:.0%} of {target!r} by itself. If it is only known afterwards, or is "
                    "worked out from it, leave it out."
                )
                found.append(Caution(variable.name, "leak", words))
    return found


def strength(values: Numbers, truth: Numbers, *, levels: bool) -> float:
    """How much of ``truth`` is known from ``values`` alone, 0 to 1, judged on rows not learned from.

    Values are cut into bins; what half of the rows show in a bin is the guess for the other half. For
    quantities this is the share of variance explained, for levels the share of mistakes avoided. What
    merely rises or falls with a quantity tells all of it, however finely it does.
    """
    both = ~np.isnan(values) & ~np.isnan(truth)
    x, y = values[both], truth[both]
    if len(x) < 4 * LEAST_IN_BIN or len(np.unique(x)) < 2 or len(np.unique(y)) < 2:
        return 0.0
    bins = _bins(x)
    halves = np.arange(len(x)) % 2 == 0
    scores = [_told(bins, y, learned=half, levels=levels) for half in (halves, ~halves)]
    told = max(0.0, sum(scores) / 2)
    return told if levels else max(told, float(np.corrcoef(_ranks(x), _ranks(y))[0, 1]) ** 2)


def _ranks(values: Numbers) -> Numbers:
    """The place of each value among all, the same for equal ones."""
    ordered = np.sort(values)
    ends = [np.searchsorted(ordered, values, side) for side in ("left", "right")]
    return np.asarray((ends[0] + ends[1]) / 2)


def _bins(x: Numbers) -> NDArray[np.int64]:
    distinct, places = np.unique(x, return_inverse=True)
    if len(distinct) <= MAX_BINS:
        return np.asarray(places, dtype=np.int64)
    n_bins = max(2, min(MAX_BINS, len(x) // (2 * LEAST_IN_BIN)))
    edges = np.quantile(x, np.linspace(0, 1, n_bins + 1)[1:-1])
    return np.searchsorted(edges, x).astype(np.int64)


def _told(bins: NDArray[np.int64], y: Numbers, *, learned: NDArray[np.bool_], levels: bool) -> float:
    n_bins = int(bins.max()) + 1
    if levels:
        kinds = y.astype(np.int64)
        counts = np.zeros((n_bins, int(kinds.max()) + 1))
        np.add.at(counts, (bins[learned], kinds[learned]), 1)
        commonest = int(counts.sum(0).argmax())
        guess = np.where(counts.sum(1) > 0, counts.argmax(1), commonest)
        wrong = float((guess[bins[~learned]] != kinds[~learned]).mean())
        base = float((kinds[~learned] != commonest).mean())
    else:
        sums = np.bincount(bins[learned], y[learned], n_bins)
        n = np.bincount(bins[learned], minlength=n_bins)
        guess = np.where(n > 0, sums / np.maximum(n, 1), y[learned].mean())
        wrong = float(((guess[bins[~learned]] - y[~learned]) ** 2).mean())
        base = float(((y[learned].mean() - y[~learned]) ** 2).mean())
    return 1 - wrong / base if base > 0 else 0.0


def by_column(found: Sequence[Caution]) -> dict[str, list[Caution]]:
    """Cautions by the column they are about."""
    columns: dict[str, list[Caution]] = {}
    for one in found:
        if one.column is not None:
            columns.setdefault(one.column, []).append(one)
    return columns
