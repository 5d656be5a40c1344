"""Indicators: binary variables that say whether another variable has a value.

If people with a high income do not tell it, that they did not tell it is information about their risk. An
indicator makes it available to a model (Little 1993; Van Ness et al. 2023). It is an ordinary binary
variable. In a table it is known for every row. In an interview it is known as soon as its variable was
answered or declined. It is never asked for.
"""

from collections.abc import Collection, Iterable

import numpy as np
from numpy.typing import NDArray

from eddi.table.schema import Schema
from eddi.table.variable import Kind, Variable

MIN_SHARE = 0.02  # of missing and of observed values; with less there is nothing to learn
NO, YES = "no", "yes"


def add_indicators(schema: Schema, names: Iterable[str]) -> Schema:
    """The schema with an indicator for each of these variables that has none, such as "income answered"."""
    for name in names:
        if name not in schema.indicators and not schema[name].indicates:
            indicator = Variable(f"{name} answered", Kind.BINARY, levels=(NO, YES), indicates=name)
            schema = schema.with_variable(indicator)
    return schema


def find_incomplete(
    schema: Schema, numbers: NDArray[np.float64], *, targets: Collection[str] = ()
) -> list[str]:
    """The variables, besides targets, some of whose values are missing, in a table [rows, variables]."""
    missing = np.isnan(numbers).mean(0) if len(numbers) else np.zeros(numbers.shape[1])
    return [
        variable.name
        for variable, share in zip(schema.variables, missing, strict=True)
        if MIN_SHARE < share < 1 - MIN_SHARE and variable.name not in targets and not variable.indicates
    ]


def mark_answers(
    row: NDArray[np.float64], schema: Schema, *, values: Iterable[str], without: Iterable[str]
) -> None:
    """Set the indicators of a row [variables], given which variables have a value and which have none."""
    for names, number in ((values, 1.0), (without, 0.0)):
        for name in names:
            if (indicator := schema.indicators.get(name)) is not None:
                row[schema.position(indicator)] = number
