"""A suite as a chapter of the report: what was run, under which circumstances, and what came of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eddi_benchmarks.harness.experiment import Experiment, Outcome
from eddi_benchmarks.harness.suite import Suite
from eddi_benchmarks.report.content import Grid, Section
from eddi_benchmarks.report.provenance import Facts


@dataclass(frozen=True)
class Chapter:
    """One suite's part of a report; its facts are None and its sections none before anything was run."""

    suite: Suite
    n_finished: int
    facts: Facts | None
    sections: tuple[Section, ...]

    @classmethod
    def of(
        cls, suite: Suite, outcomes: Sequence[Outcome], experiment: Experiment, pictures: Path
    ) -> "Chapter":
        """The chapter on ``outcomes`` of ``suite``; its pictures go to the folder ``pictures``."""
        pictures.mkdir(parents=True, exist_ok=True)
        told = tuple(experiment.sections(outcomes, pictures))
        if not any(pictures.iterdir()):
            pictures.rmdir()
        return cls(suite, len(outcomes), Facts.of(outcomes), told)

    @property
    def size(self) -> str:
        """How much of the suite this is: "240 runs", "7 of 240 runs", "6 of 6 runs of a quick look"."""
        n_all = len(self.suite.runs)
        n_runs = f"{n_all}" if self.n_finished == n_all else f"{self.n_finished} of {n_all}"
        return f"{n_runs} run{'s' if n_all > 1 else ''}{' of a quick look' if self.suite.quick else ''}"

    @property
    def grids(self) -> list[Grid]:
        """All tables, in order."""
        return [grid for section in self.sections for grid in section.grids]

    def to_document(self) -> dict[str, Any]:
        """The numbers and their circumstances as plain JSON, without words and pictures."""
        return {
            "suite": self.suite.name,
            "title": self.suite.title,
            "quick": self.suite.quick,
            "runs": {"finished": self.n_finished, "all": len(self.suite.runs)},
            "circumstances": self.facts and self.facts.to_document(),
            "grids": [
                {"section": section.title, **grid_document(grid)}
                for section in self.sections
                for grid in section.grids
            ],
        }


def grid_document(grid: Grid) -> dict[str, Any]:
    """A table as plain JSON."""
    return {
        "title": grid.title,
        "columns": list(grid.columns),
        "rows": [list(row) for row in grid.rows],
        "best": sorted(map(list, grid.best)),
        "note": grid.note,
    }
