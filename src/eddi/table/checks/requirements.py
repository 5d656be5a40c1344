"""Prerequisites of questions must be values that their variables can have."""

import math

from eddi.errors import SchemaError
from eddi.table.cells.number_format import parse_number
from eddi.table.question import Comparison
from eddi.table.variable import Level, Variable, level_position


def check_requirement(question: str, variable: Variable, part: Level | Comparison) -> None:
    """Check one prerequisite of a question.

    Raises:
        SchemaError: the variable cannot have this value.
    """
    if isinstance(part, Comparison):
        part.check(question, variable)
    elif not variable.kind.has_levels:
        if math.isnan(parse_number(part)):
            raise SchemaError(
                f"question {question!r} requires {variable.name!r} to be {part!r}, which is not one of its "
                f"levels (it is {variable.kind} and has none). Use a comparison such as "
                f'"{variable.name} > 3".'
            )
    elif level_position(variable.levels, part) is None:
        levels = ", ".join(map(str, variable.levels))
        raise SchemaError(
            f"question {question!r} requires {variable.name!r} to be {part!r}, "
            f"which is not one of its levels ({levels})."
        )
