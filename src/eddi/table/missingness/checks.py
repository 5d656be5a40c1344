"""Checks of the indicators of a schema."""

from collections.abc import Sequence

from eddi.errors import SchemaError
from eddi.table.variable import Kind, Variable


def check_indicators(variables: Sequence[Variable]) -> None:
    """Raise a `SchemaError` if an indicator is not binary, or does not indicate a variable of its own."""
    by_name = {variable.name: variable for variable in variables}
    indicated: set[str] = set()
    for variable in variables:
        if not (name := variable.indicates):
            continue
        if variable.kind is not Kind.BINARY:
            raise SchemaError(f"{variable.name!r} indicates {name!r} and must be binary.")
        if name not in by_name or by_name[name].indicates:
            raise SchemaError(
                f"{variable.name!r} indicates {name!r}, which is not a variable with values of its own."
            )
        if name in indicated:
            raise SchemaError(f"{name!r} has two indicators. Remove {variable.name!r}.")
        indicated.add(name)
