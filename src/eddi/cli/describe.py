"""What `eddi describe` says of a model or a table."""

import sys
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eddi.cli import terminal

if TYPE_CHECKING:
    import pyarrow as pa

    from eddi.model.partial_vae import PartialVAE

MODEL_ENDING = ".eddi"


def describe(path: Path, *, json: bool) -> None:
    """Print a model's card, or a line for each column of a table."""
    if _is_model(path):
        _model(path, json=json)
    else:
        _table(path, json=json)


def _is_model(path: Path) -> bool:
    if path.suffix.lower() == MODEL_ENDING or not zipfile.is_zipfile(path):
        return path.suffix.lower() == MODEL_ENDING
    with zipfile.ZipFile(path) as archive:  # an Excel file is a zip file too
        return "model.json" in archive.namelist()


def _model(path: Path, *, json: bool) -> None:
    from eddi.model.files.archive import load
    from eddi.model.files.model_card import card

    model = load(path)
    if json:
        return terminal.put(terminal.as_json(_facts(model)))
    if not sys.stdout.isatty():
        return terminal.put(card(model))
    from rich.markdown import Markdown

    return terminal.console(stderr=False).print(Markdown(card(model)))


def _facts(model: "PartialVAE") -> dict[str, Any]:
    return {
        "target": list(model.target_),
        "rows": model.n_rows_,
        "kinds": terminal.kinds(model.schema_),
        "fingerprint": model.fingerprint_,
        "set_encoder": model.set_encoder,
        "recipe": asdict(model.recipe_),
        "training": asdict(model.history_[-1]),
        "schema": model.schema_.to_document(),
    }


def _table(path: Path, *, json: bool) -> None:
    from eddi.table import formats

    table = formats.read(path)
    described = _columns(table)
    if json:
        return terminal.put(terminal.as_json({"rows": table.num_rows, "columns": described}))
    out = terminal.console(stderr=False)
    heading = f"{path.name}: {table.num_rows:,} rows, {table.num_columns} columns"
    out.print(heading, markup=False, soft_wrap=True)
    return out.print(terminal.columns_table(described))


def _columns(table: "pa.Table") -> list[dict[str, Any]]:
    """Each column's name, kind, share of holes, and values in words."""
    from eddi.table.columns import find_missing
    from eddi.table.schema import Schema

    schema = Schema.infer(table)
    variables = {variable.name: variable for variable in schema.variables}
    reasons = {aside.name: aside.reason for aside in schema.set_aside}
    return [
        {
            "name": name,
            "kind": str(variables[name].kind) if name in variables else "set aside",
            "missing": round(float(find_missing(table.column(name)).mean()), 4),
            "values": terminal.values(variables[name]) if name in variables else reasons[name],
        }
        for name in table.column_names
    ]
