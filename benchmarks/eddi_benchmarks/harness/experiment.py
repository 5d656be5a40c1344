"""What a suite runs: one pure function of its settings, and how its outcomes are told."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eddi.errors import EddiError
from eddi_benchmarks.report.content import Section

Settings = Mapping[str, Any]  # plain JSON values: str, int, float, bool, lists of those
Figures = dict[str, Any]  # plain JSON, what one run found


class ExperimentError(EddiError, ValueError):
    """A suite names an experiment that does not exist."""


@dataclass(frozen=True)
class Outcome:
    """One finished run: its settings, what it found, and under which circumstances."""

    run: str
    settings: dict[str, Any]
    figures: dict[str, Any]
    circumstances: dict[
        str, Any
    ]  # data (name -> sha256), commit, versions, machine, device, seed, seconds
    folder: Path | None = None
    """Where the run's own files lie; not part of the JSON."""


@dataclass(frozen=True)
class Experiment:
    """How to play one run, which datasets it needs, and how to tell many outcomes.

    `play` gets the settings (a seed among them) and a folder of its own for small files beside the
    JSON, to be made only if used. `sections` gets any part of the outcomes, and a folder for pictures.
    """

    play: Callable[[Settings, Path], Figures]
    datasets: Callable[[Settings], tuple[str, ...]]
    sections: Callable[[Sequence[Outcome], Path], list[Section]]


def experiment(name: str) -> Experiment:
    """The experiment called ``name``; only its own module is imported."""
    match name:
        case "uci":
            from eddi_benchmarks.paper.uci.experiment import EXPERIMENT
        case "mnist":
            from eddi_benchmarks.paper.mnist.experiment import EXPERIMENT
        case "dral":
            from eddi_benchmarks.paper.dral import EXPERIMENT
        case "icu":
            from eddi_benchmarks.paper.icu import EXPERIMENT
        case "nhanes":
            from eddi_benchmarks.paper.nhanes import EXPERIMENT
        case "networks":
            from eddi_benchmarks.quality.networks import EXPERIMENT
        case "decisions":
            from eddi_benchmarks.decisions.experiment import EXPERIMENT
        case "holes":
            from eddi_benchmarks.quality.missing_values import EXPERIMENT
        case "self-test":
            from eddi_benchmarks.self_test import EXPERIMENT
        case _:
            raise ExperimentError(
                f"there is no experiment {name!r}. "
                "There are uci, mnist, dral, icu, nhanes, networks, decisions, holes, self-test."
            )
    return EXPERIMENT
