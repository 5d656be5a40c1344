"""Errors in the columns of a survival variable: cells that are no times or no events."""

import re
from typing import NoReturn

import pyarrow as pa

from eddi.errors import TableError
from eddi.table.cell_arrays import is_text, value_type
from eddi.table.series.clock import is_same_unit
from eddi.table.variable import Variable

UNIT_AFTER_NUMBER = re.compile(r"[+-]?[0-9][0-9.,]*\s*([A-Za-z]+)")


def check_time_cells(column: pa.ChunkedArray, name: str, variable: Variable) -> None:
    """Raise a `TableError` if times of a survival variable are dates, or have different units."""
    data_type = value_type(column.type)
    if pa.types.is_timestamp(data_type) or pa.types.is_date(data_type):
        raise TableError(
            f"{name!r}, a time of {variable.name!r}, holds dates. Give the time since the start as a number, "
            "such as days. With repeated measurements, a date is possible if their times are dates, too."
        )
    if not is_text(data_type):
        return
    texts = [str(text).strip() for text in column.unique().to_pylist() if text is not None]
    units: dict[str, str] = {}  # an example of each
    for text in texts:
        if match := UNIT_AFTER_NUMBER.fullmatch(text):
            units.setdefault(match[1], text)
    expected = variable.unit or next(iter(units), "")
    for unit, text in units.items():
        if not is_same_unit(unit, expected):
            given = f"the unit is {expected!r}" if variable.unit else f"others have {expected!r}"
            raise TableError(
                f"{name!r}, a time of {variable.name!r}, is {text!r}, but {given}. Convert all times to one "
                "unit."
            )


def raise_unknown_event(error: TableError, variable: Variable) -> NoReturn:
    """Raise the error for a value of the event column that is neither 0 nor 1."""
    found = str(error).partition(", which is not")[0].replace("level", "value")
    raise TableError(
        f"{found}; 0 and 1, or false and true, are expected. Say which value means that the event of "
        f'{variable.name!r} happened, such as occurred = "dead"; others mean that it did not.'
    ) from None
