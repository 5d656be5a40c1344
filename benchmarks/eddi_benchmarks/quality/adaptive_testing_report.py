"""Report on adaptive testing: correlation by number of items, exposure and balance."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from eddi.evaluate import figures
from eddi_benchmarks.harness.run_result import RunResult
from eddi_benchmarks.report.content import Figure, ReportTable, Section
from eddi_benchmarks.report.statistics import format_mean

LENGTHS = (1, 3, 5, 8, 10, 12, 15)
PARAGRAPHS = (
    "The dataset psych/bfi: 25 items of five personality scales. People who answered all items are split at "
    "random. Each method asks held-out people items one by one and predicts the five full scores, each the "
    "mean of its five items. The table has the correlation of predicted and true scores, averaged over the "
    "scales.",
    "Ours is a model that is learned from the training people, with the five scores as targets. The short "
    "form asks everybody the same items in the order that is best on training people, and predicts with "
    "the same model; so does random. The item bank has a graded response model for each scale, calibrated "
    "on the same people; `Information` and `FisherInformation` (the rule of catsim) choose its items.",
    "With balance, the best item of the section that is furthest below its share is asked (`Balance`). With "
    "limited exposure, `Exposure` also withholds items that earlier people were asked too often. Such a "
    "limit belongs to a test of a certain length, so these interviews end there.",
)


def report_sections(results: Sequence[RunResult], folder: Path) -> list[Section]:
    """The tables and the figure, from the runs that are finished."""
    if not results:
        return []
    tables = (_correlation_table(results), _constraint_table(results))
    return [Section("Five scores from few items", PARAGRAPHS, tables, _plot(results, folder))]


def _methods(results: Sequence[RunResult]) -> list[str]:
    return list(results[0].measurements["methods"])


def _collect(results: Sequence[RunResult], method: str, measure: str) -> list[list[float]]:
    return [result.measurements["methods"][method][measure] for result in results]


def _correlation_table(results: Sequence[RunResult]) -> ReportTable:
    rows, values = [], []
    for method in _methods(results):
        curves = _collect(results, method, "correlation")
        lengths = [n for n in LENGTHS if n <= len(curves[0])]
        cells = [[curve[n - 1] for curve in curves] for n in lengths]
        values.append([float(np.mean(cell)) for cell in cells])
        texts = [format_mean(cell, 3) for cell in cells] + ["-"] * (len(LENGTHS) - len(cells))
        rows.append((method, *texts))
    best = set()
    for column in range(len(LENGTHS)):
        present = [(line[column], row) for row, line in enumerate(values) if column < len(line)]
        best |= {(max(present)[1], column + 1)} if present else set()
    first = results[0].measurements
    note = (
        f"Means over {len(results)} splits, ± the standard error over splits; {first['n_train']:,} training "
        f"people, {first['n_test']:,} held-out people. The best method is in bold."
    )
    columns = ("method", *(f"{n} items" if n > 1 else "1 item" for n in LENGTHS))
    return ReportTable("Correlation with the full scores", columns, tuple(rows), note, frozenset(best))


def _constraint_table(results: Sequence[RunResult]) -> ReportTable:
    length = results[0].settings["length"]
    rows = []
    for method in _methods(results):
        highest = [max(rates) for rates in _collect(results, method, "exposure")]
        lowest = [min(rates) for rates in _collect(results, method, "exposure")]
        sections = np.array(_collect(results, method, "per_section"))
        at_length = [curve[length - 1] for curve in _collect(results, method, "correlation")]
        rows.append(
            (
                method,
                format_mean(at_length, 3),
                f"{max(highest):.2f}",
                f"{min(lowest):.2f}",
                f"{sections[:, 0].min():.0f} to {sections[:, 1].max():.0f}",
            )
        )
    columns = ("method", "correlation", "highest exposure", "lowest exposure", "items per scale")
    note = (
        "Exposure is the share of held-out people who were asked an item: of all items and splits, the "
        "highest and the lowest. Items per scale: the fewest and the most that a person was asked."
    )
    return ReportTable(f"Tests of {length} items", columns, tuple(rows), note)


def _plot(results: Sequence[RunResult], folder: Path) -> tuple[Figure, ...]:
    figure = figures.figure(7.2, 4.4)
    axes = figure.subplots()
    for place, method in enumerate(_methods(results)):
        curve = np.mean(_collect(results, method, "correlation"), axis=0)
        is_bank = method.startswith("item bank")
        axes.plot(
            np.arange(1, len(curve) + 1),
            curve,
            color=figures.COLOURS[place % len(figures.COLOURS)],
            marker=figures.MARKERS[place % len(figures.MARKERS)],
            ms=3,
            lw=1.4,
            ls="--" if is_bank else "-",
            label=method,
        )
    axes.set(xlabel="items asked", ylabel="correlation with the full scores")
    axes.legend(fontsize=figures.SMALL, frameon=False, loc="lower right")
    figures.tidy(axes)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "correlation.png"
    figures.save(figure, path)
    caption = "Correlation of predicted and true scores by number of items, averaged over five scales"
    return (Figure(path, caption),)
