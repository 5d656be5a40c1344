"""Options and arguments that several commands share."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eddi.engine import EngineName

if TYPE_CHECKING:
    from eddi.strategy.stopping import Stop

MAX_SEED = 2**32 - 1


class UnknownRule(StrEnum):
    """What happens to values that a model does not know."""

    IGNORE = "ignore"
    ERROR = "error"


TablePath = Annotated[
    Path, typer.Argument(help="A CSV, TSV, Parquet or Excel file. Empty cells are missing values.")
]
ModelPath = Annotated[Path, typer.Argument(help="A model file written by `eddi fit`.")]
Targets = Annotated[
    list[str] | None,
    typer.Option("--target", "-t", metavar="NAME", help="Variable to predict. May be repeated."),
]
After = Annotated[int | None, typer.Option(metavar="N", min=0, help="Stop after this many answers.")]
Budget = Annotated[
    float | None, typer.Option(metavar="B", help="Maximum total cost of the questions asked.")
]
Risk = Annotated[
    float | None,
    typer.Option(metavar="P", help="Stop once the expected error rate is at most this value."),
]
Within = Annotated[
    float | None,
    typer.Option(
        metavar="X", help="With --risk: largest error of a numeric prediction that counts as correct."
    ),
]
Seed = Annotated[
    int, typer.Option(metavar="N", min=0, max=MAX_SEED, help="Random seed, for reproducible results.")
]
UnknownOption = Annotated[
    UnknownRule,
    typer.Option(
        "--unknown",
        help="Unknown levels and absent columns: treat as not observed, or stop with an error.",
    ),
]
EngineOption = Annotated[
    EngineName,
    typer.Option("--engine", help="Run in this process, in local processes, or on a Ray cluster."),
]
Workers = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Number of parallel workers. Default: one per core."),
]
StoreOption = Annotated[
    str | None, typer.Option(metavar="URL", help="sqlite:///answers.db, postgresql://... or memory:")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON to standard output.")]


def single_or_list(targets: list[str] | None) -> str | list[str] | None:
    """Return a single target as a string, several as a list, and none as None."""
    if not targets:
        return None
    return targets[0] if len(targets) == 1 else targets


def build_stopping_rule(
    *, after: int | None, budget: float | None, risk: float | None, within: float | None
) -> "Stop":
    """Return the stopping rule for the given options; None means no limit."""
    from eddi.strategy.stopping import Stop

    max_cost = Stop.budget if budget is None else budget
    return Stop(after=after, budget=max_cost, risk=risk, within=within)
