"""`eddi sensitivity`: how predictions change if missing values are higher or lower than assumed."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from eddi.cli import terminal
from eddi.cli.options import Json, ModelPath, Seed, Targets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eddi.evaluate.sensitivity import Sensitivity

STEPS = (-1.0, -0.5, 0.0, 0.5, 1.0)  # of the largest difference


def sensitivity(
    model: ModelPath,
    table: Annotated[Path, typer.Argument(help="A table in which some values are missing.")],
    target: Targets = None,
    variable: Annotated[
        list[str] | None,
        typer.Option(
            "--variable",
            "-v",
            metavar="NAME",
            help="Whose values are missing. Default: all that can be.",
        ),
    ] = None,
    largest: Annotated[
        float,
        typer.Option(
            metavar="SD", min=0.01, max=5.0, help="Largest difference, in standard deviations."
        ),
    ] = 1.0,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Show how predictions change if people without a value have higher or lower values than others.

    For example: eddi sensitivity people.eddi people.csv --target risk --variable income

    A model assumes that a missing value is like the observed values of similar people.
    No table can tell whether this is true. If no plausible difference changes a
    decision, the assumption does not matter.
    """
    from eddi.evaluate.sensitivity import analyse_sensitivity, find_variables
    from eddi.evaluate.simulate import resolve_target
    from eddi.model.files.archive import load
    from eddi.table import formats

    fitted, rows = load(model), formats.read(table)
    name = resolve_target(fitted, target)
    deltas = [largest * step for step in STEPS]
    names = variable or find_variables(fitted, rows, target=name)
    results = [
        analyse_sensitivity(fitted, rows, own, target=name, deltas=deltas, seed=seed) for own in names
    ]
    if json:
        return terminal.print_data(terminal.to_json([result.to_document() for result in results]))
    if not results:
        return terminal.print_message("no value is missing, so no assumption is needed.", style="green")
    out = terminal.open_console(stderr=False)
    for result in results:
        out.print(Text(result.summarize()), build_table(result), "", sep="\n")
    return None


def build_table(result: "Sensitivity") -> Table:
    """Return a table with one line per assumption."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("if those without a value are")
    for heading in (f"their {result.variable}", f"prediction of {result.target}", "largest change"):
        table.add_column(Text(heading), justify="right")
    rows: Sequence[tuple[float, ...]] = list(
        zip(result.deltas, result.values, result.mean_predictions, result.max_changes, strict=True)
    )
    for delta, *numbers in rows:
        table.add_row(describe_difference(delta), *(f"{number:.4g}" for number in numbers))
    return table


def describe_difference(delta: float) -> str:
    """Return an assumption in words."""
    if delta == 0:
        return "like the others"
    return f"{abs(delta):g} sd {'higher' if delta > 0 else 'lower'}"
