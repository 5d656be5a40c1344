"""`eddi item-bank`: turn a table of item parameters into a model file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eddi.cli import terminal
from eddi.cli.errors import check_writable
from eddi.cli.options import Json

if TYPE_CHECKING:
    from eddi.model.item_bank import ItemBank

N_SCORES = 7  # values of the trait in the table of information: -3 to 3 standard deviations


def item_bank(
    items: Annotated[
        Path, typer.Argument(help="A table with one item per row: item, text, a, b1, b2, ..., options.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Model file to write.")],
    trait: Annotated[
        str, typer.Option(help="Name of the trait, if the table has no column for it.")
    ] = "trait",
    mean: Annotated[float, typer.Option(help="Reported score of a trait of 0. T-scores: 50.")] = 50.0,
    sd: Annotated[
        float, typer.Option(help="Reported score per unit of the trait. T-scores: 10.")
    ] = 10.0,
    plot: Annotated[
        Path | None, typer.Option(help="Plot the information of the items to a .png, .svg or .pdf file.")
    ] = None,
    json: Json = False,
) -> None:
    """Write a model file from known item parameters, for a computerised adaptive test.

    For example: eddi item-bank depression.csv --trait depression -o depression.eddi

    Items follow the graded response model; with one threshold, the two-parameter
    logistic model. The file works with `eddi interview`, `eddi simulate` and
    `eddi serve`; stop at a standard error with --sd-below 3. The table shows the
    information of all items, and the standard error and reliability that follow.
    """
    for path in (output, plot):
        if path is not None:
            check_writable(path)
    from eddi.model.item_bank import ItemBank, Trait

    bank = ItemBank.from_csv(items, trait=Trait(trait, report_mean=mean, report_sd=sd))
    bank.save(output)
    terminal.print_message(f"wrote {output}: {len(bank.items)} items, {', '.join(bank.target)}")
    if json:
        terminal.print_data(terminal.to_json({"items": len(bank.items), "traits": _measure(bank)}))
    else:
        _print_information(bank)
    if plot is not None:
        from eddi.evaluate.item_tests.item_information import plot_item_information

        plot_item_information(bank, plot)
        terminal.print_message(f"wrote {plot}")


def _measure(bank: "ItemBank") -> "dict[str, list[dict[str, float]]]":
    """Information, standard error and reliability of all items by trait, at several scores."""
    from eddi.evaluate.item_tests.item_information import trait_precision

    return {
        trait.name: [
            {
                "score": float(score),
                "information": float(information),
                "standard_error": float(error),
                "reliability": float(reliability),
            }
            for score, information, error, reliability in zip(
                *trait_precision(bank, trait.name, n_points=N_SCORES), strict=True
            )
        ]
        for trait in bank.traits
    }


def _print_information(bank: "ItemBank") -> None:
    from rich.table import Table
    from rich.text import Text

    out = terminal.open_console(stderr=False)
    for name, lines in _measure(bank).items():
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
        for heading in (name, "information", "standard error", "reliability"):
            table.add_column(Text(heading), justify="right")
        for line in lines:
            table.add_row(*(f"{value:.3g}" for value in line.values()))
        out.print(table)
