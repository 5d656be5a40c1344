"""Experiments: the code that a suite runs, and how its results are reported."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from eddi.errors import EddiError
from eddi_benchmarks.harness.run_result import Measurements, RunResult, Settings
from eddi_benchmarks.report.content import Section

MODULES = {
    "uci": "paper.uci.experiment",
    "mnist": "paper.mnist.experiment",
    "dral": "paper.dral",
    "icu": "paper.icu",
    "nhanes": "paper.nhanes",
    "networks": "quality.networks",
    "collinear": "quality.collinear",
    "decisions": "decisions.experiment",
    "few-rows": "decisions.few_rows",
    "cold-start": "deployment.cold_start",
    "holes": "quality.missing_values",
    "adaptive-testing": "quality.adaptive_testing",
    "series": "series.experiment",
    "survival": "survival.experiment",
    "self-test": "self_test",
}
"""The module that defines ``EXPERIMENT``, by the name that a suite uses."""


class ExperimentError(EddiError, ValueError):
    """A suite names an experiment that does not exist, or gives it a setting it does not accept."""


@dataclass(frozen=True)
class Experiment:
    """How to execute one run, which datasets it needs, and how to report on many results.

    Args:
        run: executes one run. It gets the settings, which include the seed, and a folder for files of
            its own, which it creates only if it needs it.
        required_datasets: the names of the datasets that a run with these settings reads.
        report_sections: reports on any finished runs; it gets a folder for figures.
    """

    run: Callable[[Settings, Path], Measurements]
    required_datasets: Callable[[Settings], tuple[str, ...]]
    report_sections: Callable[[Sequence[RunResult], Path], list[Section]]


def find_experiment(name: str) -> Experiment:
    """Import the experiment called ``name``; other experiments are not imported.

    Raises:
        ExperimentError: there is no such experiment.
    """
    if name not in MODULES:
        raise ExperimentError(
            f"there is no experiment {name!r}. Available experiments: {', '.join(MODULES)}."
        )
    experiment: Experiment = import_module(f"eddi_benchmarks.{MODULES[name]}").EXPERIMENT
    return experiment
