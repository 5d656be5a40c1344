"""Times of measurements: numbers, dates or text become numbers in the unit of the schema."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from eddi.errors import TableError
from eddi.table.cell_arrays import is_numeric, is_text, value_type
from eddi.table.text import note_count

SECONDS = {
    **dict.fromkeys(("s", "sec", "second", "seconds"), 1.0),
    **dict.fromkeys(("min", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hour", "hours"), 3600.0),
    **dict.fromkeys(("d", "day", "days"), 86_400.0),
    **dict.fromkeys(("w", "week", "weeks"), 604_800.0),
    **dict.fromkeys(("month", "months"), 2_629_800.0),  # a twelfth of a year
    **dict.fromkeys(("y", "year", "years"), 31_557_600.0),  # 365.25 days
}
NUMBER_WITH_UNIT = re.compile(r"([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)\s*([A-Za-z]*)")
LOCAL = "local"  # zone of a date without a time zone


@dataclass(frozen=True)
class Times:
    """The times of a column.

    Args:
        numbers: in the unit of the schema; those of dates count from 1970.
        zone: time zone of dates; "local" for dates without one; empty for numbers.
    """

    numbers: NDArray[np.float64]
    zone: str = ""


def read_times(column: pa.ChunkedArray, name: str, unit: str) -> Times:
    """Read a column of times.

    Args:
        column: numbers, dates, or text with either of them.
        name: of the column, for messages.
        unit: of the schema.

    Raises:
        TableError: a time is missing or cannot be read, or units or time zones are mixed.
    """
    if column.null_count:
        row = int(np.flatnonzero(column.is_null().to_numpy())[0]) + 1
        raise TableError(
            f"{name!r} has no time in row {row}{note_count(column.null_count, 'rows')}. Every measurement "
            "needs a time: add it, or remove the row."
        )
    data_type = value_type(column.type)
    if is_numeric(data_type):
        numbers = column.cast(pa.float64(), safe=False).to_numpy()
        return _check_finite(Times(np.asarray(numbers, dtype=np.float64)), name)
    if pa.types.is_timestamp(data_type) or pa.types.is_date(data_type):
        zone = data_type.tz if pa.types.is_timestamp(data_type) else None
        microseconds = column.cast(pa.timestamp("us", tz=zone), safe=False)  # pandas has nanoseconds
        seconds = microseconds.cast(pa.int64()).to_numpy() / 1e6
        return Times(seconds / _find_seconds(name, unit), zone or LOCAL)
    if is_text(data_type):
        return _read_texts(column, name, unit)
    raise TableError(f"{name!r} has type {data_type}. Times must be numbers or dates.")


def guess_unit(column: pa.ChunkedArray, name: str) -> str:
    """The unit of dates, or of text such as "3 h"; none for numbers, whose unit only the user knows."""
    data_type = value_type(column.type)
    if is_text(data_type):
        match = NUMBER_WITH_UNIT.fullmatch(str(column[0].as_py()).strip())
        if match:
            return match[2]
    elif not (pa.types.is_timestamp(data_type) or pa.types.is_date(data_type)):
        return ""
    seconds = read_times(column, name, "s").numbers
    return "days" if seconds.max() - seconds.min() > 30 * SECONDS["days"] else "h"


def subtract_entry(times: Times, entry: Times, name: str) -> NDArray[np.float64]:
    """Times that count from the entry of the person.

    Raises:
        TableError: one of the two is a date and the other is not, or only one has a time zone.
    """
    if times.zone != entry.zone:
        zones = " and ".join(zone or "numbers" for zone in (times.zone, entry.zone))
        raise TableError(
            f"{name!r} and the times of entry do not agree: {zones}. Use numbers for both, or dates in "
            "the same time zone."
        )
    return times.numbers - entry.numbers


def _read_texts(column: pa.ChunkedArray, name: str, unit: str) -> Times:
    encoded = column.dictionary_encode().combine_chunks()
    array = encoded if isinstance(encoded, pa.DictionaryArray) else encoded.chunk(0)
    texts = [str(text).strip() for text in array.dictionary.to_pylist()]
    parsed = [_parse_text(text, name, unit) for text in texts]
    zones = list(dict.fromkeys(zone for _, zone in parsed))
    if len(zones) > 1:
        examples = [texts[[zone for _, zone in parsed].index(found)] for found in zones[:2]]
        what = "dates and numbers" if "" in zones else "time zones"
        raise TableError(
            f"{name!r} mixes {what}, such as {examples[0]!r} and {examples[1]!r}. "
            "Write all times in the same way, such as dates in UTC."
        )
    numbers = np.array([number for number, _ in parsed])[array.indices.to_numpy()]
    return _check_finite(Times(numbers, zones[0] if zones else ""), name)


def _parse_text(text: str, name: str, unit: str) -> tuple[float, str]:
    """The number that a text stands for, and its time zone."""
    match = NUMBER_WITH_UNIT.fullmatch(text)
    if match:
        if match[2] and not is_same_unit(match[2], unit):
            raise TableError(
                f"{name!r} has the time {text!r}, but the unit of the schema is {unit!r}. Convert all "
                "times to one unit."
            )
        return float(match[1]), ""
    try:
        date = datetime.fromisoformat(text)
    except ValueError:
        raise TableError(
            f"{name!r} has the time {text!r}, which is neither a number nor a date such as 2024-05-31 "
            "or 2024-05-31T14:30."
        ) from None
    seconds_per_unit = _find_seconds(name, unit)
    if date.tzinfo is None:
        return (date - datetime(1970, 1, 1)).total_seconds() / seconds_per_unit, LOCAL
    return date.timestamp() / seconds_per_unit, str(timezone(date.utcoffset() or timedelta()))


def is_same_unit(text: str, unit: str) -> bool:
    """Whether two names are those of the same unit, such as "h" and "hours"."""
    return text == unit or (text in SECONDS and SECONDS[text] == SECONDS.get(unit))


def _find_seconds(name: str, unit: str) -> float:
    if unit not in SECONDS:
        raise TableError(
            f"{name!r} has dates, and the unit of the schema is {unit!r}. Give a unit in [time], such as "
            'unit = "h" or unit = "days".'
        )
    return SECONDS[unit]


def _check_finite(times: Times, name: str) -> Times:
    wrong = np.flatnonzero(~np.isfinite(times.numbers))
    if len(wrong):
        raise TableError(f"{name!r} has no finite time in row {wrong[0] + 1}. Correct it.")
    return times
