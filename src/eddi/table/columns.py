"""Clean Arrow columns and convert them to numbers."""

import math
from collections import Counter
from collections.abc import Collection, Sequence
from typing import NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from eddi.errors import TableError
from eddi.table.cell_arrays import is_numeric, is_text, value_type
from eddi.table.cells.missing import MISSING_MARKERS, NONE_MARKER, has_code
from eddi.table.cells.number_format import detect_partial_format, parse_number
from eddi.table.mismatches import Mismatches
from eddi.table.schema import Schema
from eddi.table.survival.time_bins import SurvivalTimes
from eddi.table.survival.time_cells import check_time_cells, raise_unknown_event
from eddi.table.text import format_list, format_names, format_value
from eddi.table.variable import Kind, Level, Variable, level_position

LEADING_ZERO = r"^[+-]?0[0-9]"
"""Pattern of a text such as 007 or 02139, which is a code and not a number."""


def clean(column: pa.ChunkedArray, *, codes: tuple[Level, ...] = ()) -> pa.ChunkedArray:
    """Return the column with stripped text, null for missing values, and numbers for numeric text.

    Whole numbers become int64, other numbers float64, and dictionaries their values. Text with leading
    zeros remains text. Dates and nested values are returned unchanged.

    Args:
        column: the column.
        codes: values that mean "missing" in addition to the usual markers.
    """
    if is_text(column.type) or pa.types.is_dictionary(column.type):
        indices, values = factorize(column, codes=codes)
        cells = _parse_plain_numbers(values).take(pa.array(indices, mask=indices < 0))
        return _nan_to_null(pa.chunked_array([cells]))
    if pa.types.is_integer(column.type) and column.type != pa.uint64():
        return _codes_to_null(column.cast(pa.int64()), codes)
    if is_numeric(column.type):
        return _codes_to_null(_nan_to_null(column.cast(pa.float64(), safe=False)), codes)
    return column


def factorize(
    column: pa.ChunkedArray, *, levels: tuple[Level, ...] = (), codes: tuple[Level, ...] = ()
) -> tuple[NDArray[np.int64], pa.Array]:
    """Return each row's index into the distinct values, -1 = missing, and these values, stripped.

    Two values may become equal when they are stripped. They keep their two indices.

    Args:
        column: the column.
        levels: the levels of the variable. A marker such as "None" that is a level is not missing.
        codes: values that mean "missing" in addition to the usual markers.
    """
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    if not encoded.num_chunks:
        return np.zeros(0, np.int64), pa.array([], value_type(column.type))
    array = pa.concat_arrays(encoded.unify_dictionaries().chunks)
    values, missing = _strip_and_find_missing(array.dictionary, levels)
    if codes:
        missing |= np.array([has_code(codes, value) for value in values.to_pylist()], dtype=np.bool_)
    indices = array.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    lookup = np.append(np.where(missing, -1, np.arange(len(values))), -1)  # the last entry is for -1
    return lookup[indices], values


def find_missing(column: pa.ChunkedArray, variable: Variable | None = None) -> NDArray[np.bool_]:
    """Return a mask of the missing cells: null, NaN, text such as "NA", or a code of the variable [rows]."""
    levels, codes = (variable.levels, variable.codes) if variable is not None else ((), ())
    if is_text(column.type) or pa.types.is_dictionary(column.type):
        return factorize(column, levels=levels, codes=codes)[0] < 0
    numbers = _codes_to_null(column, codes)
    return np.asarray(numbers.is_null(nan_is_null=True).to_numpy(), dtype=np.bool_)


def column_to_numbers(
    column: pa.ChunkedArray, variable: Variable, mismatches: Mismatches | None = None
) -> NDArray[np.float64]:
    """Return the column as numbers, NaN = missing: quantities, or positions in the levels [rows].

    With ``mismatches``, a value that does not fit is counted there, and its number is NaN.

    Raises:
        TableError: a value is infinite, is not a number, or is not one of the levels.
    """
    if variable.source is not None and variable.source.is_list:
        return _find_options(column, variable, mismatches)
    if variable.kind.has_levels:
        return _find_level_positions(column, variable, mismatches)
    quantities = _parse_quantities(column, variable, mismatches)  # [rows]
    if np.isinf(quantities).any():
        raise_infinite(variable.name)
    if mismatches is not None:
        return mismatches.check_quantities(variable, quantities)
    if variable.kind is Kind.COUNT:
        _check_counts(quantities, variable)
    return quantities


def table_to_numbers(
    table: pa.Table,
    schema: Schema,
    *,
    optional: Collection[str] = (),
    hidden: Collection[str] = (),
    mismatches: Mismatches | None = None,
) -> NDArray[np.float64]:
    """Return the columns of the schema, in its order, as numbers, NaN = missing [rows, variables].

    Args:
        table: as `formats.read` returns it.
        schema: the variables to read; other columns are ignored. An indicator without a column of its own
            tells whether the cell of its variable has a value.
        optional: variables whose column may be absent from the table; their values are then missing.
        hidden: variables that are not read; their values are missing, whatever the table contains.
        mismatches: counts what does not fit, which is then missing, too; None if it is an error.

    Raises:
        TableError: a column is absent, or a value does not fit its variable; with ``mismatches``, no
            variable has a column.
    """
    indices = {name: index for index, name in enumerate(table.column_names)}
    expected = [variable for variable in schema.variables if variable.name not in hidden]
    if mismatches is not None:  # rows to predict: an outcome is no evidence
        expected = [variable for variable in expected if variable.survival is None]
    required = [
        name for v in expected if v.name not in optional and not v.indicates for name in v.columns
    ]
    absent = [name for name in required if name not in indices]
    if mismatches is not None and any(variable.column in indices for variable in expected):
        mismatches.absent.update(absent)
    elif absent:
        raise TableError(
            f"the table has no column {format_names(list(dict.fromkeys(absent)))}, which the schema "
            f"expects. Its columns are: {format_names(table.column_names)}. "
            "Is this the wrong schema for the table?"
        )
    numbers = np.full((len(schema.variables), table.num_rows), np.nan)  # [variables, rows]
    for row, variable in zip(numbers, schema.variables, strict=True):
        if variable.name in hidden:
            continue
        if indices.keys() >= set(variable.columns):
            row[:] = _read_variable(table, variable, mismatches)
        elif variable.indicates in indices and variable.indicates not in hidden:
            row[:] = ~find_missing(table.column(indices[variable.indicates]), schema[variable.indicates])
    return np.ascontiguousarray(numbers.T)  # [rows, variables]


def _read_variable(
    table: pa.Table, variable: Variable, mismatches: Mismatches | None
) -> NDArray[np.float64]:
    if variable.survival is None:
        return column_to_numbers(table.column(variable.column), variable, mismatches)
    times = read_survival(table, variable, is_checked=mismatches is None)
    return times.to_numbers(variable.survival.edges)


def read_survival(
    table: pa.Table, variable: Variable, *, is_checked: bool = True, persons: Sequence[object] = ()
) -> SurvivalTimes:
    """Return the times and events of a survival variable.

    Args:
        table: with its columns.
        variable: the survival variable.
        is_checked: whether times and events that are not valid are an error; otherwise they are not known.
        persons: names of the rows for error messages; their numbers if there are none.

    Raises:
        TableError: a column is absent, a time is no number, or ``is_checked`` and a row is not valid.
    """
    survival = variable.survival
    assert survival is not None  # noqa: S101  # callers check
    if absent := [name for name in survival.columns if name not in table.column_names]:
        raise TableError(
            f"the table has no column {format_names(absent)}, which the survival variable "
            f"{variable.name!r} needs. Its columns are: {format_names(table.column_names)}."
        )
    times = _read_times(table, survival.time, variable)
    entries = _read_times(table, survival.entry, variable) if survival.entry else None
    events = _find_events(table.column(survival.event), variable)
    if is_checked:
        return SurvivalTimes.check(variable.name, times, events, entries, persons=persons)
    return SurvivalTimes.read(times, events, entries)


def _read_times(table: pa.Table, name: str, variable: Variable) -> NDArray[np.float64]:
    column = Variable(name, Kind.REAL, missing=variable.missing, declined=variable.declined)
    check_time_cells(table.column(name), name, variable)
    times = _parse_quantities(table.column(name), column, None)
    if np.isinf(times).any():
        raise_infinite(name)
    return times


def _find_events(column: pa.ChunkedArray, variable: Variable) -> NDArray[np.float64]:
    """Return 1 where the event of a survival variable happened, 0 where it did not, NaN = missing [rows]."""
    survival = variable.survival
    assert survival is not None  # noqa: S101  # callers check
    if survival.occurred is None:
        events = Variable(survival.event, Kind.BINARY, (0, 1), missing=variable.codes)
        try:
            return _find_level_positions(column, events, None)
        except TableError as error:
            raise_unknown_event(error, variable)
    indices, values = factorize(column, levels=(survival.occurred,), codes=variable.codes)
    lookup = [
        float(level_position((survival.occurred,), value) is not None) for value in values.to_pylist()
    ]
    return np.array([*lookup, np.nan])[indices]


def raise_infinite(name: str) -> NoReturn:
    """Raise the error for a column with an infinite value."""
    raise TableError(
        f"{name!r} holds an infinite value; numbers must be finite. "
        "Correct it, or make it missing (an empty cell)."
    )


def _nan_to_null(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if not pa.types.is_floating(column.type) or not pc.any(pc.is_nan(column)).as_py():
        return column
    return pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)


def _codes_to_null(column: pa.ChunkedArray, codes: tuple[Level, ...]) -> pa.ChunkedArray:
    """Return numbers with null for those that are a code."""
    numbers = [number for code in codes if math.isfinite(number := parse_number(code))]
    if not numbers or not is_numeric(column.type):
        return column
    is_code = pc.is_in(column.cast(pa.float64(), safe=False), value_set=pa.array(numbers, pa.float64()))
    return pc.if_else(is_code, pa.scalar(None, column.type), column)


def _strip_and_find_missing(
    values: pa.Array, levels: tuple[Level, ...] = ()
) -> tuple[pa.Array, NDArray[np.bool_]]:
    """Return the values with stripped text, and a mask of those that mean "missing"."""
    if is_text(values.type):
        values = pc.utf8_trim_whitespace(values.cast(pa.large_string()))
        listed = {level for level in levels if isinstance(level, str)}
        markers = pa.array(sorted({*MISSING_MARKERS, NONE_MARKER} - listed), values.type)
        missing = pc.or_(values.is_null(), pc.is_in(values, value_set=markers))
    else:
        missing = values.is_null(nan_is_null=True)
    return values, np.asarray(missing.to_numpy(zero_copy_only=False), dtype=np.bool_)


def _parse_plain_numbers(values: pa.Array) -> pa.Array:
    """Return text as int64 or float64 if every value that is not missing is a plain number."""
    if not is_text(values.type):
        return values
    missing = pa.array(_strip_and_find_missing(values)[1])
    observed = pc.if_else(missing, pa.scalar(None, values.type), values)
    if pc.any(pc.match_substring_regex(observed, LEADING_ZERO)).as_py():
        return values
    for number_type in (pa.int64(), pa.float64()):
        try:
            return observed.cast(number_type)
        except pa.ArrowInvalid:
            continue
    return values


def _find_options(
    column: pa.ChunkedArray, variable: Variable, mismatches: Mismatches | None
) -> NDArray[np.float64]:
    """Return 1 where a cell lists the option of the variable, 0 where it lists others [rows]."""
    if pa.types.is_null(column.type):
        return np.full(len(column), np.nan)
    is_number = variable.source is not None and variable.source.option.strip().lstrip("-").isdigit()
    if is_number and pa.types.is_integer(column.type):  # every cell lists one option
        column = column.cast(pa.string())
    if variable.source is None or not is_text(value_type(column.type)):
        if mismatches is None:
            raise TableError(
                f"{variable.column!r} must hold text that lists options, got {column.type}. "
                f"Set {variable.name!r} aside in the schema."
            )
        mismatches.add_unknown(variable, Counter(column.drop_null().to_pylist()))
        return np.full(len(column), np.nan)
    indices, values = factorize(column, codes=variable.codes)
    lookup = [float(variable.source.is_listed(value)) for value in values.to_pylist()]
    return np.array([*lookup, np.nan])[indices]


def _find_level_positions(
    column: pa.ChunkedArray, variable: Variable, mismatches: Mismatches | None
) -> NDArray[np.float64]:
    try:
        indices, values = factorize(column, levels=variable.levels, codes=variable.codes)
    except pa.ArrowNotImplementedError:
        raise TableError(
            f"{variable.name!r} holds {column.type}, which cannot be levels of a variable. "
            "Set the column aside in the schema."
        ) from None
    # Only the values that occur: unused categories need not be levels.
    is_used = np.zeros(len(values) + 1, np.bool_)
    is_used[indices] = True
    exact = {str(level): position for position, level in enumerate(variable.levels)}
    lookup = np.full(len(values) + 1, np.nan)  # the last entry is for -1, missing
    unknown: Counter[object] = Counter()
    for index in np.flatnonzero(is_used[:-1]).tolist():
        value = values[index].as_py()
        position = exact.get(str(value))  # exact spellings first, for speed
        if position is None:
            position = level_position(variable.levels, value)
        if position is not None:
            lookup[index] = position
        elif mismatches is None:
            _raise_unknown_level(value, variable)
        else:
            unknown[value] += int((indices == index).sum())
    if mismatches is not None and unknown:
        mismatches.add_unknown(variable, unknown)
    return lookup[indices]


def _raise_unknown_level(value: object, variable: Variable) -> NoReturn:
    raise TableError(
        f"{variable.name!r} has the level {format_value(value)!r}, which is not in the schema "
        f"(levels: {format_list(variable.levels)}). A model knows only the levels it was trained "
        "with: correct the value, or make it missing."
    )


def _parse_quantities(
    column: pa.ChunkedArray, variable: Variable, mismatches: Mismatches | None
) -> NDArray[np.float64]:
    data_type = column.type
    if data_type == pa.float64() and not variable.codes:  # nothing to clean: null becomes NaN
        return np.array(column.to_numpy(), dtype=np.float64)
    if is_numeric(data_type) or pa.types.is_boolean(data_type) or pa.types.is_null(data_type):
        cleaned = clean(column, codes=variable.codes)
        if pa.types.is_boolean(data_type):
            cleaned = cleaned.cast(pa.int64())
        floats = cleaned.cast(pa.float64(), safe=False)  # integers beyond 2**53 are rounded
        return np.array(floats.to_numpy(), dtype=np.float64)
    try:
        indices, values = factorize(column, codes=variable.codes)
    except pa.ArrowNotImplementedError:
        _raise_non_number(variable, data_type)
    used = np.unique(indices[indices >= 0])
    values = values.take(pa.array(used))
    lookup = np.full(used.max(initial=0) + 2, np.nan)  # the last entry is for -1, missing
    lookup[used] = _parse_values(values, variable)
    quantities = lookup[indices]
    is_invalid = np.isnan(quantities) & (indices >= 0)
    if is_invalid.any():
        texts = values.take(pa.array(np.searchsorted(used, indices[is_invalid]))).to_pylist()
        if mismatches is None:
            _raise_non_number(variable, texts[0])
        mismatches.add_unknown(variable, Counter(map(str, texts)))
    return quantities


def _parse_values(values: pa.Array, variable: Variable) -> NDArray[np.float64]:
    """Return distinct values as numbers, NaN = not a number.

    Text is in the format of the variable. If it has none, most of the values determine the format.
    """
    number_format = variable.format
    if number_format is None and is_text(values.type):
        try:
            return np.asarray(values.cast(pa.float64()).to_numpy(zero_copy_only=False))
        except pa.ArrowInvalid:
            partial = detect_partial_format(values.to_pylist())
            number_format = partial.format if partial is not None else None
    return np.array([parse_number(value, number_format) for value in values.to_pylist()], np.float64)


def _raise_non_number(variable: Variable, value: object) -> NoReturn:
    if variable.format is None:
        expected, format_hint = "numbers", ""
    else:
        expected = f"numbers such as {variable.format.example}"
        format_hint = ' Another notation needs another format, such as format = "1.234,5 kg".'
    raise TableError(
        f"{variable.name!r} is {variable.kind} and must hold {expected}, got {str(value)!r}. Correct it, "
        f"or make {variable.name!r} a category in the schema. If it means that the value is missing, add "
        f"missing = [{value!r}] to the variable.{format_hint}"
    )


def _check_counts(quantities: NDArray[np.float64], variable: Variable) -> None:
    invalid = (quantities < 0) | (quantities % 1 > 0)
    if invalid.any():
        raise TableError(
            f"{variable.name!r} is count and must hold whole numbers from 0 up, got "
            f"{quantities[invalid][0]:g}. Correct it, or make {variable.name!r} real in the schema."
        )
