"""The report on one suite: which runs are finished, their provenance, and the sections about them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eddi_benchmarks.harness.experiment import Experiment
from eddi_benchmarks.harness.run_result import RunResult
from eddi_benchmarks.harness.suite import Suite
from eddi_benchmarks.report.content import ReportTable, Section
from eddi_benchmarks.report.provenance import Provenance


@dataclass(frozen=True)
class SuiteReport:
    """One suite's part of a report. Before the first run it has no provenance and no sections."""

    suite: Suite
    n_finished: int = 0
    provenance: Provenance | None = None
    sections: tuple[Section, ...] = ()

    @classmethod
    def from_results(
        cls, suite: Suite, results: Sequence[RunResult], experiment: Experiment, figure_folder: Path
    ) -> "SuiteReport":
        """Report on ``results``, which must not be empty; figures are written to ``figure_folder``."""
        figure_folder.mkdir(parents=True, exist_ok=True)
        sections = tuple(experiment.report_sections(results, figure_folder))
        if not any(figure_folder.iterdir()):
            figure_folder.rmdir()
        return cls(suite, len(results), Provenance.from_results(results), sections)

    @property
    def progress(self) -> str:
        """How much of the suite is finished: "240 runs", "7 of 240 runs", "6 runs, quick size"."""
        n_runs = len(self.suite.runs)
        count = f"{n_runs}" if self.n_finished == n_runs else f"{self.n_finished} of {n_runs}"
        return f"{count} run{'s' if n_runs > 1 else ''}{', quick size' if self.suite.quick else ''}"

    @property
    def tables(self) -> list[ReportTable]:
        """The tables of all sections, in order."""
        return [table for section in self.sections for table in section.tables]

    def to_document(self) -> dict[str, Any]:
        """The numbers and their provenance as JSON values, without text and figures."""
        return {
            "suite": self.suite.name,
            "title": self.suite.title,
            "quick": self.suite.quick,
            "runs": {"finished": self.n_finished, "all": len(self.suite.runs)},
            "circumstances": self.provenance and self.provenance.to_document(),
            "grids": [
                {"section": section.title, **_table_document(table)}
                for section in self.sections
                for table in section.tables
            ],
        }


def _table_document(table: ReportTable) -> dict[str, Any]:
    return {
        "title": table.title,
        "columns": list(table.columns),
        "rows": [list(row) for row in table.rows],
        "best": sorted(map(list, table.best)),
        "note": table.note,
    }
