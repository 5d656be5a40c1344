"""The few-rows suite: the methods of the decisions suite with 50 to 200 training rows.

A run is one of the decisions suite. The test rows are those of that suite; the training rows are a random
subset of its training rows, and a smaller subset is part of a larger one. A cell is a dataset and a number
of training rows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from eddi_benchmarks.decisions.experiment import required_datasets, run
from eddi_benchmarks.decisions.results import METHODS, DecisionResults
from eddi_benchmarks.harness.experiment import Experiment
from eddi_benchmarks.harness.run_result import RunResult
from eddi_benchmarks.report.content import ReportTable, Section
from eddi_benchmarks.report.statistics import NOT_AVAILABLE, format_mean, mean_and_error

PARAGRAPHS = (
    "A cell is a dataset and a number of training rows, which are a random subset of the training rows of "
    "the decisions suite; the test rows are those of that suite. All methods take their validation rows "
    "from the training rows. Error is the mean over the steps of an interview, along the order of the "
    "method itself: of the RMSE, in units of the target's range in all training rows of the split, from "
    "before the first question on; or of the share of wrong classes after the first question and later ones.",
    "GDFS and DIME choose dropout and the length of training on validation rows. Boosted trees and linear "
    "models ask a fixed order that is greedy on the training rows, and are fitted to each of its prefixes.",
)


@dataclass(frozen=True)
class Cell:
    """The results of all methods on one dataset with one number of training rows."""

    results: DecisionResults  # with this number of training rows
    dataset: str
    n_train: int

    @property
    def label(self) -> str:
        return f"{self.dataset}, {self.n_train} rows"

    @property
    def methods(self) -> list[str]:
        """The methods with results, without those that minimise cost."""
        names = self.results.methods_without_cost
        return [name for name in names if self.results.by_seed(self.dataset, name)]

    def errors(self, method: str) -> list[float]:
        """The mean error along the method's own order, by split."""
        areas = list(self.results.areas(self.dataset, method).values())
        return [1 - area for area in areas] if self.results.is_class else areas

    @property
    def best_method(self) -> str:
        """The method with the lowest mean error."""
        return min(self.methods, key=lambda name: float(np.mean(self.errors(name))))

    @property
    def near_best_methods(self) -> list[str]:
        """The methods whose error is within one standard error of the best one's.

        The standard error is that of the difference from the best method on the same splits.
        """
        return [name for name in self.methods if self._is_near(self.best_method, name)]

    def _is_near(self, best: str, method: str) -> bool:
        gains = self.results.gains(self.dataset, best, method)
        gain, error = mean_and_error(gains)
        return method == best or bool(gain <= error)  # not if the error is NaN: one split

    def largest_increase(self, method: str) -> float:
        """The largest relative increase of the mean error after any earlier step of an interview."""
        curve = self.results.curves(self.dataset, method, self.results.metric).mean(0)
        error = 1 - curve if self.results.is_class else curve
        minimum = np.maximum(np.minimum.accumulate(error), self._smallest_error)
        return float(np.max(error / minimum - 1, initial=0.0))

    @property
    def _smallest_error(self) -> float:
        """One wrong class in all splits; a relative increase from no error at all is not defined."""
        runs = self.results.of_dataset(self.dataset)
        n_test = {r.settings["seed"]: r.measurements["n_rows"]["test"] for r in runs}
        return 1 / sum(n_test.values()) if self.results.is_class else 0.0

    def coverage(self, method: str) -> str:
        """Mean, minimum and maximum over the steps of the coverage of 90% intervals."""
        mean = self.results.curves(self.dataset, method, "coverage").mean(0)
        return f"{mean.mean():.2f} ({mean.min():.2f} to {mean.max():.2f})"


def make_cells(results: Sequence[RunResult], *, is_class: bool) -> list[Cell]:
    """All cells with results, by dataset and then by number of training rows."""
    sizes = sorted({int(result.settings["max_train"]) for result in results})
    by_size = {
        size: DecisionResults.select(
            [result for result in results if result.settings["max_train"] == size], is_class=is_class
        )
        for size in sizes
    }
    datasets = dict.fromkeys(dataset for part in by_size.values() for dataset in part.datasets)
    return [
        Cell(part, dataset, size)
        for dataset in datasets
        for size, part in by_size.items()
        if dataset in part.datasets
    ]


def report_sections(results: Sequence[RunResult], folder: Path) -> list[Section]:  # noqa: ARG001
    """Report on the runs that are finished, first real-valued targets and then classes."""
    parts = [make_cells(results, is_class=is_class) for is_class in (False, True)]
    cells = [cell for part in parts for cell in part]
    if not cells:
        return []
    errors = tuple(_error_table(part) for part in parts if part)
    increases = tuple(_increase_table(part) for part in parts if part)
    coverage = tuple(_coverage_table(part) for part in parts[:1] if part)
    return [
        Section("Error with few training rows", PARAGRAPHS, (_summary_table(cells), *errors)),
        Section("Does an answer ever increase the error?", (), increases),
        *([Section("Coverage of 90% intervals", (), coverage)] if coverage else []),
    ]


def _summary_table(cells: Sequence[Cell]) -> ReportTable:
    rows = []
    for name in _methods(cells):
        measured = [cell for cell in cells if name in cell.methods]
        n_best = sum(cell.best_method == name for cell in measured)
        n_near = sum(name in cell.near_best_methods for cell in measured)
        rows.append((METHODS[name], str(len(measured)), str(n_best), str(n_near)))
    columns = ("method", "cells", "lowest error", "within one standard error of the lowest")
    note = (
        "Number of cells. The standard error is that of the difference from the best method of the cell on "
        "the same splits; the best method itself counts."
    )
    return ReportTable("Who is best", columns, tuple(rows), note)


def _error_table(cells: Sequence[Cell]) -> ReportTable:
    """A row per cell and a column per method."""
    methods = _methods(cells)
    best = {(row, 1 + methods.index(cell.best_method)) for row, cell in enumerate(cells)}
    rows = []
    for cell in cells:
        near = [METHODS[name] for name in cell.near_best_methods if name != cell.best_method]
        errors = [format_mean(cell.errors(name), 3) for name in methods]
        rows.append((cell.label, *errors, ", ".join(near) or NOT_AVAILABLE))
    columns = ("", *(METHODS[name] for name in methods), "within one standard error")
    title = "Classes: mean share of errors" if cells[0].results.is_class else "Real targets: mean RMSE"
    note = (
        "Mean and standard error over splits; the lowest in bold. Last column: other methods whose "
        "difference from it is at most the standard error of that difference."
    )
    return ReportTable(title, columns, tuple(rows), note, frozenset(best))


def _increase_table(cells: Sequence[Cell]) -> ReportTable:
    kind = "classes" if cells[0].results.is_class else "real targets"
    note = (
        "By how much the error, averaged over splits, exceeds its lowest value after fewer answers: the "
        "maximum over the steps of an interview. 0%: no answer increases the error."
    )
    title = f"Largest relative increase of the error: {kind}"
    return _cell_table(title, cells, lambda cell, name: f"{cell.largest_increase(name):.1%}", note)


def _coverage_table(cells: Sequence[Cell]) -> ReportTable:
    note = "Mean over steps and splits (minimum and maximum over steps); nominal: 0.90."
    return _cell_table("Share of true values in the interval", cells, Cell.coverage, note)


def _cell_table(
    title: str, cells: Sequence[Cell], text: Callable[[Cell, str], str], note: str
) -> ReportTable:
    """A row per cell and a column per method."""
    methods = _methods(cells)
    rows = [
        (cell.label, *(text(cell, m) if m in cell.methods else NOT_AVAILABLE for m in methods))
        for cell in cells
    ]
    return ReportTable(title, ("", *(METHODS[m] for m in methods)), tuple(rows), note)


def _methods(cells: Sequence[Cell]) -> list[str]:
    """The methods with results in some cell, in the order of `METHODS`."""
    measured = {name for cell in cells for name in cell.methods}
    return [name for name in METHODS if name in measured]


EXPERIMENT = Experiment(run, required_datasets, report_sections)
