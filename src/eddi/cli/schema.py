"""`eddi schema`: infer a schema from a table."""

from eddi.cli import terminal
from eddi.cli.options import Json, TablePath, Targets


def schema(table: TablePath, target: Targets = None, json: Json = False) -> None:
    """Infer the kind of each column of a table and print a schema as TOML to edit by hand.

    For example: eddi schema people.csv > people.toml
    """
    from eddi.table.schema import Schema

    inferred = Schema.infer(table, targets=target or ())
    terminal.print_data(terminal.to_json(inferred.to_document()) if json else inferred.to_toml())
    terminal.open_console(stderr=True).print(terminal.build_schema_table(inferred))
