"""Clean Arrow columns, convert them to numbers, and fill missing values with numbers."""

import math
from collections import Counter
from collections.abc import Callable, Collection
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from eddi.errors import TableError
from eddi.table.mismatches import Mismatches
from eddi.table.schema import Schema
from eddi.table.text import format_list, format_names, format_value, parse_number
from eddi.table.variable import Kind, Level, Variable, level_position

# "None" and "none" are not in the list: they are real levels in medical data (no eye response, no
# pain). Neither are "-" (a negative test), "unknown" (an answer people give) and codes such as 99.
MISSING_MARKERS = frozenset(
    [
        *["", "NA", "N/A", "n/a", "na", "NaN", "nan", "-nan", "-NaN", "NaT"],
        *["null", "NULL", "Null", "?", "<NA>", "#N/A", "#NA", "#N/A N/A"],
        *["1.#QNAN", "-1.#QNAN", "1.#IND", "-1.#IND"],  # how old Windows programs print NaN
        ".",  # how SAS and Stata write a missing value
    ]
)


def clean(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the column with stripped text, null for missing values, and numbers for numeric text.

    Whole numbers become int64, other numbers float64, and dictionaries their values. Dates and nested
    values are returned unchanged.
    """
    if is_text(column.type) or pa.types.is_dictionary(column.type):
        codes, values = factorize(column)
        cells = _parse_numbers(values).take(pa.array(codes, mask=codes < 0))
        return _nan_to_null(pa.chunked_array([cells]))
    if pa.types.is_integer(column.type) and column.type != pa.uint64():
        return column.cast(pa.int64())
    if _is_numeric(column.type):
        return _nan_to_null(column.cast(pa.float64(), safe=False))
    return column


def factorize(column: pa.ChunkedArray) -> tuple[NDArray[np.int64], pa.Array]:
    """Return each row's index into the distinct values, -1 = missing, and these values, stripped.

    Two values may become equal when they are stripped. They keep their two indices.
    """
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    if not encoded.num_chunks:
        return np.zeros(0, np.int64), pa.array([], _value_type(column.type))
    array = pa.concat_arrays(encoded.unify_dictionaries().chunks)
    values, missing = _strip_and_find_missing(array.dictionary)
    codes = array.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    lookup = np.append(np.where(missing, -1, np.arange(len(values))), -1)  # the last entry is for -1
    return lookup[codes], values


def find_missing(column: pa.ChunkedArray) -> NDArray[np.bool_]:
    """Return a mask of the missing cells: null, NaN, or text such as "NA" [rows]."""
    if is_text(column.type) or pa.types.is_dictionary(column.type):
        return factorize(column)[0] < 0
    return np.asarray(column.is_null(nan_is_null=True).to_numpy(), dtype=np.bool_)


def column_to_numbers(
    column: pa.ChunkedArray, variable: Variable, mismatches: Mismatches | None = None
) -> NDArray[np.float64]:
    """Return the column as numbers, NaN = missing: quantities, or positions in the levels [rows].

    With ``mismatches``, a value that does not fit is counted there, and its number is NaN.

    Raises:
        TableError: a value is infinite, is not a number, or is not one of the levels.
    """
    if variable.kind.has_levels:
        return _find_level_positions(column, variable, mismatches)
    if mismatches is not None:
        return _read_quantities(column, variable, mismatches)
    quantities = _parse_quantities(column, variable)  # [rows]
    if np.isinf(quantities).any():
        raise_infinite(variable.name)
    if variable.kind is Kind.COUNT:
        _check_counts(quantities, variable)
    return quantities


def table_to_numbers(
    table: pa.Table,
    schema: Schema,
    *,
    optional: Collection[str] = (),
    mismatches: Mismatches | None = None,
) -> NDArray[np.float64]:
    """Return the columns of the schema, in its order, as numbers, NaN = missing [rows, variables].

    Args:
        table: as `formats.read` returns it.
        schema: the variables to read; other columns are ignored.
        optional: columns that may be absent from the table; their values are then missing.
        mismatches: counts what does not fit, which is then missing, too; None if it is an error.

    Raises:
        TableError: a column is absent, or a value does not fit its variable; with ``mismatches``, no
            variable has a column.
    """
    indices = {name: index for index, name in enumerate(table.column_names)}
    absent = [name for name in schema.names if name not in indices and name not in optional]
    if mismatches is not None and not indices.keys().isdisjoint(schema.names):
        mismatches.absent.update(absent)
    elif absent:
        raise TableError(
            f"the table has no column {format_names(absent)}, which the schema expects. Its columns "
            f"are: {format_names(table.column_names)}. Is this the wrong schema for the table?"
        )
    numbers = np.full((len(schema.variables), table.num_rows), np.nan)  # [variables, rows]
    for row, variable in zip(numbers, schema.variables, strict=True):
        if variable.name in indices:
            row[:] = column_to_numbers(table.column(indices[variable.name]), variable, mismatches)
    return np.ascontiguousarray(numbers.T)  # [rows, variables]


def fill_missing(table: pa.Table, schema: Schema, numbers: NDArray[np.float64]) -> pa.Table:
    """Return the table with its missing values filled. Observed cells and other columns are unchanged.

    Args:
        table: as `formats.read` returns it. Variables without a column are ignored.
        schema: the variables to fill.
        numbers: one number per row and variable, of which only those for missing cells are used. A NaN
            leaves the cell missing.
    """
    columns = dict(zip(table.column_names, table.columns, strict=True))
    for variable, values in zip(schema.variables, numbers.T, strict=True):
        if variable.name in columns:
            columns[variable.name] = _fill_column(columns[variable.name], variable, values)
    return pa.Table.from_arrays(list(columns.values()), names=list(columns))


def types_after_filling(
    columns: pa.Schema, schema: Schema, has_missing: Callable[[str], bool]
) -> pa.Schema:
    """Return the column types that `fill_missing` produces, given the types but not the table.

    Args:
        columns: names and types of the columns.
        schema: the variables to fill.
        has_missing: whether the column of this name has missing values.
    """
    fields = []
    for field in columns:
        is_filled = field.name in schema.names and not pa.types.is_dictionary(field.type)
        new_type = _filled_type(field.type, schema[field.name]) if is_filled else field.type
        changes = new_type != field.type and has_missing(field.name)
        fields.append(pa.field(field.name, new_type) if changes else field)
    return pa.schema(fields)


def round_to_valid(numbers: NDArray[np.float64], schema: Schema) -> NDArray[np.float64]:
    """Return the nearest numbers a table can hold: whole counts and existing level positions.

    Args:
        numbers: predicted numbers [..., variables].
        schema: the variables.
    """
    numbers = numbers.copy()
    for position, variable in enumerate(schema.variables):
        if variable.kind is not Kind.REAL:
            highest = variable.n_levels - 1 if variable.kind.has_levels else np.inf
            numbers[..., position] = np.clip(np.rint(numbers[..., position]), 0, highest)
    return numbers


def raise_infinite(name: str) -> NoReturn:
    """Raise the error for a column with an infinite value."""
    raise TableError(
        f"{name!r} holds an infinite value; numbers must be finite. "
        "Correct it, or make it missing (an empty cell)."
    )


def is_text(data_type: pa.DataType) -> bool:
    """Whether an Arrow type is one of the string types."""
    is_view = hasattr(pa.types, "is_string_view") and pa.types.is_string_view(data_type)
    return bool(pa.types.is_string(data_type) or pa.types.is_large_string(data_type) or is_view)


def _is_numeric(data_type: pa.DataType) -> bool:
    checks = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    return any(check(data_type) for check in checks)


def _value_type(data_type: pa.DataType) -> pa.DataType:
    return data_type.value_type if pa.types.is_dictionary(data_type) else data_type


def _nan_to_null(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if not pa.types.is_floating(column.type) or not pc.any(pc.is_nan(column)).as_py():
        return column
    return pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)


def _strip_and_find_missing(values: pa.Array) -> tuple[pa.Array, NDArray[np.bool_]]:
    """Return the values with stripped text, and a mask of those that mean "missing"."""
    if is_text(values.type):
        values = pc.utf8_trim_whitespace(values.cast(pa.large_string()))
        markers = pa.array(sorted(MISSING_MARKERS), values.type)
        missing = pc.or_(values.is_null(), pc.is_in(values, value_set=markers))
    else:
        missing = values.is_null(nan_is_null=True)
    return values, np.asarray(missing.to_numpy(zero_copy_only=False), dtype=np.bool_)


def _parse_numbers(values: pa.Array) -> pa.Array:
    """Return text as int64 or float64 if every value that is not missing is a number."""
    if not is_text(values.type):
        return pa.concat_arrays(clean(pa.chunked_array([values])).chunks or [values])
    missing = pa.array(_strip_and_find_missing(values)[1])
    observed = pc.if_else(missing, pa.scalar(None, values.type), values)
    for number_type in (pa.int64(), pa.float64()):
        try:
            return observed.cast(number_type)
        except pa.ArrowInvalid:
            continue
    return values


def _find_level_positions(
    column: pa.ChunkedArray, variable: Variable, mismatches: Mismatches | None
) -> NDArray[np.float64]:
    try:
        codes, values = factorize(column)
    except pa.ArrowNotImplementedError:
        raise TableError(
            f"{variable.name!r} holds {column.type}, which cannot be levels of a variable. "
            "Set the column aside in the schema."
        ) from None
    # Only the values that occur: unused categories need not be levels.
    is_used = np.zeros(len(values) + 1, np.bool_)
    is_used[codes] = True
    exact = {str(level): position for position, level in enumerate(variable.levels)}
    lookup = np.full(len(values) + 1, np.nan)  # the last entry is for -1, missing
    unknown: dict[object, int] = {}
    for code in np.flatnonzero(is_used[:-1]).tolist():
        value = values[code].as_py()
        position = exact.get(str(value))  # exact spellings first, for speed
        if position is None:
            position = level_position(variable.levels, value)
        if position is not None:
            lookup[code] = position
        elif mismatches is None:
            _raise_unknown_level(value, variable)
        else:
            unknown[value] = int((codes == code).sum())
    if mismatches is not None and unknown:
        mismatches.add_unknown(variable, unknown)
    return lookup[codes]


def _raise_unknown_level(value: object, variable: Variable) -> NoReturn:
    raise TableError(
        f"{variable.name!r} has the level {format_value(value)!r}, which is not in the schema "
        f"(levels: {format_list(variable.levels)}). A model knows only the levels it was trained "
        "with: correct the value, or make it missing."
    )


def _read_quantities(
    column: pa.ChunkedArray, variable: Variable, mismatches: Mismatches
) -> NDArray[np.float64]:
    """Return quantities; values that are not numbers are counted, and become NaN."""
    try:
        quantities = _parse_quantities(column, variable)
    except TableError:
        codes, values = factorize(column)
        numbers = [*map(parse_number, values.to_pylist()), math.nan]  # the last one is for -1, missing
        quantities = np.array(numbers)[codes]
        unknown = codes[(codes >= 0) & np.isnan(quantities)].tolist()
        mismatches.add_unknown(variable, Counter(str(values[code]) for code in unknown))
    if np.isinf(quantities).any():
        raise_infinite(variable.name)
    return mismatches.check_quantities(variable, quantities)


def _parse_quantities(column: pa.ChunkedArray, variable: Variable) -> NDArray[np.float64]:
    cleaned = clean(column)
    data_type = cleaned.type
    if not (_is_numeric(data_type) or pa.types.is_boolean(data_type) or pa.types.is_null(data_type)):
        raise TableError(
            f"{variable.name!r} is {variable.kind} and must hold numbers, got "
            f"{_first_non_number(cleaned)!r}. Correct it, or make {variable.name!r} a category "
            "in the schema."
        )
    if pa.types.is_boolean(data_type):
        cleaned = cleaned.cast(pa.int64())
    floats = cleaned.cast(pa.float64(), safe=False)  # integers beyond 2**53 are rounded
    return np.array(floats.to_numpy(), dtype=np.float64)


def _first_non_number(column: pa.ChunkedArray) -> str:
    """Return the first value that is not a number, for an error message."""
    values = column.drop_null().unique().to_pylist()
    return next((str(value) for value in values if math.isnan(parse_number(value))), str(column.type))


def _check_counts(quantities: NDArray[np.float64], variable: Variable) -> None:
    invalid = (quantities < 0) | (quantities % 1 > 0)
    if invalid.any():
        raise TableError(
            f"{variable.name!r} is count and must hold whole numbers from 0 up, got "
            f"{quantities[invalid][0]:g}. Correct it, or make {variable.name!r} real in the schema."
        )


def _fill_column(
    column: pa.ChunkedArray, variable: Variable, values: NDArray[np.float64]
) -> pa.ChunkedArray:
    """Return the column with its missing cells filled, or the same object if there are none."""
    is_filled = find_missing(column) & ~np.isnan(values)
    if not is_filled.any():
        return column
    new_type = _filled_type(_value_type(column.type), variable)
    cells = _numbers_to_cells(np.where(is_filled, values, 0.0), variable, new_type)
    observed = column.cast(_value_type(column.type)).cast(new_type, safe=False)
    filled = pc.if_else(pa.array(is_filled), cells, observed)
    return _encode_like(filled, column) if pa.types.is_dictionary(column.type) else filled


def _filled_type(data_type: pa.DataType, variable: Variable) -> pa.DataType:
    """Return the column's own type if it can hold the variable's values, else the nearest that can."""
    types = pa.types
    if types.is_null(data_type):
        return _default_type(variable)
    has_levels = variable.kind.has_levels
    has_fractions = variable.kind is Kind.REAL or (
        has_levels and not all(_is_whole(level) for level in variable.levels)
    )
    if types.is_decimal(data_type) or (types.is_integer(data_type) and has_fractions):
        return pa.float64()
    if types.is_boolean(data_type) and not has_levels:
        return pa.float64()
    return pa.large_string() if is_text(data_type) and data_type != pa.string() else data_type


def _default_type(variable: Variable) -> pa.DataType:
    """Return the Arrow type for a variable whose column has no type of its own."""
    if not variable.kind.has_levels:
        return pa.int64() if variable.kind is Kind.COUNT else pa.float64()
    types = {type(level) for level in variable.levels}
    if types == {bool}:
        return pa.bool_()
    if types <= {int, float}:
        return pa.int64() if types == {int} else pa.float64()
    return pa.string()


def _is_whole(level: Level) -> bool:
    try:
        return float(level).is_integer()
    except ValueError:
        return False


def _numbers_to_cells(
    numbers: NDArray[np.float64], variable: Variable, data_type: pa.DataType
) -> pa.Array:
    """Return the numbers of a variable as cells of an Arrow type."""
    if variable.kind.has_levels:
        cells = pa.array([_level_to_cell(level, data_type) for level in variable.levels], data_type)
        highest = variable.n_levels - 1
        return cells.take(pa.array(np.clip(np.rint(numbers), 0, highest).astype(np.int64)))
    quantities = np.rint(numbers) if variable.kind is Kind.COUNT else numbers
    if is_text(data_type):
        return pa.array([format_value(float(quantity)) for quantity in quantities], data_type)
    return pa.array(quantities).cast(data_type, safe=False)


def _level_to_cell(level: Level, data_type: pa.DataType) -> Any:
    if is_text(data_type):
        return str(level)
    if pa.types.is_boolean(data_type):
        return level_position((False, True), level) == 1
    if _is_numeric(data_type):
        number = float(level)
        return int(number) if pa.types.is_integer(data_type) and math.isfinite(number) else number
    return level


def _encode_like(column: pa.ChunkedArray, original: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the column as a dictionary in the order of the original's, with new values at the end."""
    old = original.unify_dictionaries().chunk(0).dictionary.cast(column.type, safe=False)
    new = [value for value in column.unique().drop_null() if not pc.is_in(value, old).as_py()]
    values = pa.concat_arrays([old, pa.array(new, column.type)])
    codes = pa.concat_arrays(pc.index_in(column, value_set=values).chunks)
    ordered = original.type.ordered
    return pa.chunked_array([pa.DictionaryArray.from_arrays(codes, values, ordered=ordered)])
