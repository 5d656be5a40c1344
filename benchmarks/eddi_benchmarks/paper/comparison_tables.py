"""Tables that compare combinations of strategy and set encoder: average ranks and paired tests."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from eddi_benchmarks.harness.run_result import RunResult
from eddi_benchmarks.paper.comparison import (
    COMPARED_STRATEGIES,
    ENCODERS,
    STRATEGIES,
    Combination,
    PairedTest,
    RowAreas,
    combination_name,
)
from eddi_benchmarks.report.content import ReportTable
from eddi_benchmarks.report.statistics import (
    NOT_AVAILABLE,
    SIGNIFICANT,
    format_difference,
    format_p,
    format_with_error,
    mean_and_error,
)

TEST_NOTE = (
    "Paired two-sided Wilcoxon signed-rank tests: over test rows (as in the paper, although rows that "
    "share a model are not independent), and over the means of splits (dataset and repetition). The "
    "saving is the mean area of the second less that of the first: above 0 the first is better, in bold "
    f"where the test over rows gives p < {SIGNIFICANT}."
)


def rank_table(
    results: Sequence[RunResult],
    metric: str,
    *,
    paper: Mapping[Combination, float | None],
    title: str,
) -> ReportTable:
    """Average ranks of the combinations in ``paper``, the paper's ranks, and the differences.

    A strategy without numbers in the paper (None) has only our ranks.
    """
    areas = RowAreas.from_results(results, metric, list(paper))
    means, errors = mean_and_error(areas.mean_ranks)
    ours = dict(zip(paper, means.tolist(), strict=True))
    error = dict(zip(paper, errors.tolist(), strict=True))
    theirs = {pair: rank for pair, rank in paper.items() if rank is not None}
    encoders = [encoder for encoder in ENCODERS if any(encoder == pair[1] for pair in paper)]
    rows: list[tuple[str, ...]] = []
    best: set[tuple[int, int]] = set()
    for strategy in dict.fromkeys(strategy for strategy, _ in paper):
        pairs = [(strategy, encoder) for encoder in encoders]
        best |= _best_cells(len(rows), pairs, ours)
        cells = (format_with_error(ours[pair], error[pair], 2) for pair in pairs)
        rows.append((STRATEGIES[strategy], "ours", *cells))
        if set(pairs) <= set(theirs):
            best |= _best_cells(len(rows), pairs, theirs)
            differences = (format_difference(ours[pair] - theirs[pair], 2) for pair in pairs)
            rows.append(("", "paper", *(f"{theirs[pair]:.2f}" for pair in pairs)))
            rows.append(("", "difference", *differences))
    note = (
        f"Average rank of a test row's AUIC among {len(paper)} combinations; 1 is best. "
        f"± is the standard error over repetitions. Ours: {areas.describe()}"
    )
    columns = ("", "", *(ENCODERS[encoder] for encoder in encoders))
    return ReportTable(title, columns, tuple(rows), note, frozenset(best))


def _best_cells(
    row: int, pairs: Sequence[Combination], values: Mapping[Combination, float]
) -> set[tuple[int, int]]:
    """The cells of a row that hold the smallest of all ``values``."""
    smallest = min(values.values())
    return {(row, 2 + column) for column, pair in enumerate(pairs) if values[pair] == smallest}


def reference_test_table(
    results: Sequence[RunResult],
    metric: str,
    *,
    reference: Combination = ("eddi", "pnp"),
    strategies: Sequence[str] = COMPARED_STRATEGIES,
    paper: Mapping[Combination, str] | None = None,
    title: str,
) -> ReportTable:
    """Paired tests of one combination against all others, and of EDDI against Random by encoder.

    Args:
        results: finished runs.
        metric: whose areas to compare.
        reference: the combination that is compared with all others.
        strategies: the strategies of the others.
        paper: the p-values that the paper prints.
        title: of the table.
    """
    combinations = [(strategy, encoder) for strategy in strategies for encoder in ENCODERS]
    table = _TestTable(RowAreas.from_results(results, metric, combinations))
    for strategy in strategies:
        others = [(strategy, encoder) for encoder in ENCODERS]
        pairs = [None if other == reference else (reference, other) for other in others]
        paper_ps = [paper.get(other, NOT_AVAILABLE) for other in others] if paper else None
        table.add(f"{combination_name(reference)} against {STRATEGIES[strategy]}", pairs, paper_ps)
    if {"eddi", "rand"} <= set(strategies):
        table.add(
            "EDDI against Random, same encoder",
            [(("eddi", encoder), ("rand", encoder)) for encoder in ENCODERS],
        )
    return table.build(title)


def strategy_test_table(
    results: Sequence[RunResult],
    metric: str,
    *,
    strategies: tuple[str, str],
    paper: Mapping[str, str] | None = None,
    title: str,
) -> ReportTable:
    """Paired tests of one strategy against another with each encoder; ``paper``: p by encoder."""
    first, second = strategies
    combinations = [(strategy, encoder) for strategy in strategies for encoder in ENCODERS]
    table = _TestTable(RowAreas.from_results(results, metric, combinations))
    pairs = [((first, encoder), (second, encoder)) for encoder in ENCODERS]
    paper_ps = [paper[encoder] for encoder in ENCODERS] if paper else None
    table.add(f"{STRATEGIES[first]} against {STRATEGIES[second]}", pairs, paper_ps)
    return table.build(title)


@dataclass(frozen=True)
class _TestTable:
    """Collects the rows of a table of paired tests, a column for each encoder."""

    areas: RowAreas
    rows: list[tuple[str, ...]] = field(default_factory=list)
    best: set[tuple[int, int]] = field(default_factory=set)

    def add(
        self,
        label: str,
        pairs: Sequence[tuple[Combination, Combination] | None],
        paper: Sequence[str] | None = None,
    ) -> None:
        """Test each pair; the column of None stays empty."""
        tests = [
            PairedTest.from_areas(self.areas, *pair) if pair and self.areas.by_split else None
            for pair in pairs
        ]
        for column, test in enumerate(tests):
            if test and test.is_win:
                self.best.add((len(self.rows) + 2, 2 + column))
        savings = (format_difference(t.mean_saving, 4) if t else NOT_AVAILABLE for t in tests)
        self.rows.append((label, "p over rows", *(format_p(t.p_rows if t else None) for t in tests)))
        self.rows.append(("", "p over splits", *(format_p(t.p_splits if t else None) for t in tests)))
        self.rows.append(("", "saving", *savings))
        if paper:
            self.rows.append(("", "p in the paper", *paper))

    def build(self, title: str) -> ReportTable:
        note = f"{TEST_NOTE} {self.areas.describe()}"
        columns = ("", "", *ENCODERS.values())
        return ReportTable(title, columns, tuple(self.rows), note, frozenset(self.best))
