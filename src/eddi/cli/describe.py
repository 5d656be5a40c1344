"""`eddi describe`: summarize a model or a table."""

import sys
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eddi.cli import terminal
from eddi.cli.options import Json

if TYPE_CHECKING:
    import pyarrow as pa

    from eddi.model.fitted import FittedModel

MODEL_SUFFIX = ".eddi"


def describe(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="A model or a table.")],
    json: Json = False,
) -> None:
    """Print the card of a model, or the columns of a table.

    For example: eddi describe people.eddi, or eddi describe people.csv
    """
    if _is_model(path):
        _describe_model(path, json=json)
    else:
        _describe_table(path, json=json)


def _is_model(path: Path) -> bool:
    if path.suffix.lower() == MODEL_SUFFIX:
        return True
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:  # Excel files are zip files, too
        return not {"model.json", "item_bank.json"}.isdisjoint(archive.namelist())


def _describe_model(path: Path, *, json: bool) -> None:
    from eddi.model.files.archive import load
    from eddi.model.files.model_card import model_card
    from eddi.model.item_bank import ItemBank
    from eddi.model.item_bank.bank_file import item_bank_card

    model = load(path)
    if json:
        summary = model.to_document() if isinstance(model, ItemBank) else _summarize_model(model)
        return terminal.print_data(terminal.to_json(summary))
    card = item_bank_card(model) if isinstance(model, ItemBank) else model_card(model)
    if not sys.stdout.isatty():
        return terminal.print_data(card)
    from rich.markdown import Markdown

    return terminal.open_console(stderr=False).print(Markdown(card))


def _summarize_model(model: "FittedModel") -> dict[str, Any]:
    return {
        "target": list(model.target),
        "rows": model.training.n_rows,
        "kinds": terminal.count_kinds(model.schema),
        "fingerprint": model.training.fingerprint,
        "set_encoder": model.set_encoder,
        "recipe": asdict(model.recipe),
        "training": asdict(model.training.history[-1]),
        "schema": model.schema.to_document(),
    }


def _describe_table(path: Path, *, json: bool) -> None:
    from eddi.table import formats

    table = formats.read(path)
    columns = _summarize_columns(table)
    if json:
        return terminal.print_data(terminal.to_json({"rows": table.num_rows, "columns": columns}))
    out = terminal.open_console(stderr=False)
    heading = f"{path.name}: {table.num_rows:,} rows, {table.num_columns} columns"
    out.print(heading, markup=False, soft_wrap=True)
    return out.print(terminal.build_columns_table(columns))


def _summarize_columns(table: "pa.Table") -> list[dict[str, Any]]:
    """Return the name, kind, share of missing values and possible values of each column."""
    from eddi.table.columns import find_missing
    from eddi.table.schema import Schema

    schema = Schema.infer(table)
    descriptions = {column.name: ("set aside", column.reason) for column in schema.set_aside}
    for variable in schema.variables:
        descriptions[variable.name] = (str(variable.kind), terminal.describe_values(variable))
    for question in schema.explicit_questions:  # the columns whose cells list options
        options = [source.option for name in question.reveals if (source := schema[name].source)]
        descriptions[question.name] = ("options", terminal.join_names(options))
    return [
        {
            "name": name,
            "kind": descriptions[name][0],
            "missing": round(float(find_missing(table.column(name)).mean()), 4),
            "values": descriptions[name][1],
        }
        for name in table.column_names
    ]
