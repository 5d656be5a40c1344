"""One Arrow column as clean values and as numbers, and numbers back into a table."""

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from eddi.errors import TableError
from eddi.table.schema import Schema
from eddi.table.variable import Kind, Level, Variable, level_position

# "None" and "none" are not here: they are real levels in medical data (no eye response, no pain).
# Neither are "-" (a negative test), "unknown" (an answer people give) or numeric codes such as 99.
MISSING_WORDS = frozenset(
    [
        *["", "NA", "N/A", "n/a", "na", "NaN", "nan", "-nan", "-NaN", "NaT"],
        *["null", "NULL", "Null", "?", "<NA>", "#N/A", "#NA", "#N/A N/A"],
        *["1.#QNAN", "-1.#QNAN", "1.#IND", "-1.#IND"],  # how old Windows programs print NaN
        ".",  # how SAS and Stata write a hole
    ]
)

N_SHOWN = 12  # names or levels in an error message: enough to recognise, few enough to read


def clean(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column with words stripped, every kind of hole as null, and numeric words as numbers.

    Whole numbers come back as int64, other numbers as float64, dictionaries as their values;
    dates and nested values as they are.
    """
    if is_text(column.type) or pa.types.is_dictionary(column.type):
        places, values = distinct(column)
        taken = _as_numbers(values).take(pa.array(places, mask=places < 0))
        return _without_nan(pa.chunked_array([taken]))
    if pa.types.is_integer(column.type) and column.type != pa.uint64():
        return column.cast(pa.int64())
    if _is_number(column.type):
        return _without_nan(column.cast(pa.float64(), safe=False))
    return column


def distinct(column: pa.ChunkedArray) -> tuple[NDArray[np.int64], pa.Array]:
    """Each row's place among the distinct values, -1 = missing; and those values, words stripped.

    Stripping can make two of them equal; their rows keep their two places.
    """
    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    one = pa.concat_arrays(coded.unify_dictionaries().chunks) if coded.num_chunks else None
    if one is None:
        return np.zeros(0, np.int64), pa.array([], _value_type(column.type))
    values, missing = _tidy(one.dictionary)
    places = one.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    lookup = np.append(np.where(missing, -1, np.arange(len(values))), -1)  # the last serves -1
    return lookup[places], values


def holes(column: pa.ChunkedArray) -> NDArray[np.bool_]:
    """Which cells are missing, in whatever way the column writes that."""
    if is_text(column.type) or pa.types.is_dictionary(column.type):
        return distinct(column)[0] < 0
    return np.asarray(column.is_null(nan_is_null=True).to_numpy(), dtype=np.bool_)


def numbers(column: pa.ChunkedArray, variable: Variable) -> NDArray[np.float64]:
    """The variable's numbers, NaN = missing: quantities, or positions in its levels.

    Raises:
        TableError: a value is infinite, is not a number, or is not one of the levels.
    """
    if variable.kind.has_levels:
        return _positions(column, variable)
    quantities = _quantities(column, variable)  # [rows]
    if np.isinf(quantities).any():
        refuse_infinite(variable.name)
    if variable.kind is Kind.COUNT:
        _refuse_uncountable(quantities, variable)
    return quantities


def table_numbers(
    table: pa.Table, schema: Schema, *, optional: Collection[str] = ()
) -> NDArray[np.float64]:
    """The table's numbers in the schema's order, NaN = missing; other columns are left out.

    Args:
        table: as `formats.read` gives it.
        schema: what the columns are.
        optional: names the table may lack altogether, which then means "not observed".

    Raises:
        TableError: the table lacks a column, or a value does not fit its variable.
    """
    places = {name: place for place, name in enumerate(table.column_names)}
    _refuse_lacking(places, [n for n in schema.names if n not in places and n not in optional])
    out = np.full((len(schema.variables), table.num_rows), np.nan)  # [variables, rows]
    for row, variable in zip(out, schema.variables, strict=True):
        if variable.name in places:
            row[:] = numbers(table.column(places[variable.name]), variable)
    return np.ascontiguousarray(out.T)  # [rows, variables]


def with_numbers(table: pa.Table, schema: Schema, filled: NDArray[np.float64]) -> pa.Table:
    """The table with ``filled`` in its holes; observed cells and other columns are untouched.

    Args:
        table: as `formats.read` gives it. A variable it lacks stays lacking.
        schema: what the columns are.
        filled: a number for each row and variable; only those in holes are read, and a NaN
            leaves its hole open.
    """
    columns = dict(zip(table.column_names, table.columns, strict=True))
    for variable, values in zip(schema.variables, filled.T, strict=True):
        if variable.name in columns:
            columns[variable.name] = _fill(columns[variable.name], variable, values)
    return pa.Table.from_arrays(list(columns.values()), names=list(columns))


def possible(numbers: NDArray[np.float64], schema: Schema) -> NDArray[np.float64]:
    """Numbers a table can hold [..., variables]: whole counts, positions of real levels."""
    numbers = numbers.copy()
    for position, variable in enumerate(schema.variables):
        if variable.kind is not Kind.REAL:
            top = variable.n_levels - 1 if variable.kind.has_levels else np.inf
            numbers[..., position] = np.clip(np.rint(numbers[..., position]), 0, top)
    return numbers


def filled_types(columns: pa.Schema, schema: Schema, has_holes: Callable[[str], bool]) -> pa.Schema:
    """The types that `with_numbers` gives the columns of a table of which only the types are at hand."""
    types = []
    for field in columns:
        fills = field.name in schema.names and not pa.types.is_dictionary(field.type)
        kind = _filled_type(field.type, schema[field.name]) if fills else field.type
        changes = kind != field.type and has_holes(field.name)
        types.append(pa.field(field.name, kind) if changes else field)
    return pa.schema(types)


def refuse_infinite(name: str) -> NoReturn:
    """Raise the error for a column that holds an infinity."""
    raise TableError(
        f"{name!r} holds an infinite value; numbers must be finite. "
        "Correct it, or make it missing (an empty cell)."
    )


def is_text(kind: pa.DataType) -> bool:
    """Whether an Arrow type is one of its string types."""
    views = hasattr(pa.types, "is_string_view") and pa.types.is_string_view(kind)
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or views)


def shown(value: object) -> str:
    """A value as a person would write it: 7 rather than 7.0."""
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    return str(int(value)) if whole else str(value)  # type: ignore[call-overload]


def listing(words: Sequence[object]) -> str:
    """A few words for an error message, and how many more there are."""
    more = f" and {len(words) - N_SHOWN} more" if len(words) > N_SHOWN else ""
    return (", ".join(map(shown, words[:N_SHOWN])) or "none") + more


def _is_number(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def _value_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _without_nan(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if not pa.types.is_floating(column.type) or not pc.any(pc.is_nan(column)).as_py():
        return column
    return pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)


def _tidy(values: pa.Array) -> tuple[pa.Array, NDArray[np.bool_]]:
    """Distinct values with words stripped, and which of them mean "missing"."""
    if is_text(values.type):
        values = pc.utf8_trim_whitespace(values.cast(pa.large_string()))
        words = pa.array(sorted(MISSING_WORDS), values.type)
        missing = pc.or_(values.is_null(), pc.is_in(values, value_set=words))
    else:
        missing = values.is_null(nan_is_null=True)
    return values, np.asarray(missing.to_numpy(zero_copy_only=False), dtype=np.bool_)


def _as_numbers(values: pa.Array) -> pa.Array:
    """Words as int64 or float64 where every one that is not a missing word is a number."""
    if not is_text(values.type):
        return pa.concat_arrays(clean(pa.chunked_array([values])).chunks or [values])
    known = pc.if_else(pa.array(_tidy(values)[1]), pa.scalar(None, values.type), values)
    for kind in (pa.int64(), pa.float64()):
        try:
            return known.cast(kind)
        except pa.ArrowInvalid:
            continue
    return values


def _positions(column: pa.ChunkedArray, variable: Variable) -> NDArray[np.float64]:
    try:
        places, values = distinct(column)
    except pa.ArrowNotImplementedError:
        raise TableError(
            f"{variable.name!r} holds {column.type}, which cannot be levels of a variable. "
            "Set the column aside in the schema."
        ) from None
    used = np.zeros(len(values) + 1, np.bool_)
    used[places] = True  # an unused category, or one that means missing, is nobody's answer
    exact = {str(level): position for position, level in enumerate(variable.levels)}
    lookup = np.full(len(values) + 1, np.nan)  # the last serves -1: missing
    for place in np.flatnonzero(used[:-1]).tolist():
        lookup[place] = _position(values[place].as_py(), variable, exact)
    return lookup[places]


def _position(value: object, variable: Variable, exact: dict[str, int]) -> float:
    position = exact.get(str(value))
    if position is None:
        position = level_position(variable.levels, value)
    if position is None:
        raise TableError(
            f"{variable.name!r} has the level {shown(value)!r}, which this schema does not know "
            f"(known: {listing(variable.levels)}). It was never seen in training: correct it, "
            "or make it missing."
        )
    return float(position)


def _quantities(column: pa.ChunkedArray, variable: Variable) -> NDArray[np.float64]:
    cleaned = clean(column)
    kind = cleaned.type
    if not (_is_number(kind) or pa.types.is_boolean(kind) or pa.types.is_null(kind)):
        raise TableError(
            f"{variable.name!r} is {variable.kind} and must hold numbers, got "
            f"{_not_a_number(cleaned)!r}. Correct it, or make {variable.name!r} a category "
            "in the schema."
        )
    if pa.types.is_boolean(kind):
        cleaned = cleaned.cast(pa.int64())
    floats = cleaned.cast(pa.float64(), safe=False)  # beyond 2**53 the nearest float will do
    return np.array(floats.to_numpy(), dtype=np.float64)


def _not_a_number(column: pa.ChunkedArray) -> str:
    """The first value of a column that no number could be."""
    for value in column.drop_null().unique().to_pylist():
        try:
            float(value)
        except (TypeError, ValueError):
            return str(value)
    return str(column.type)


def _refuse_uncountable(quantities: NDArray[np.float64], variable: Variable) -> None:
    wrong = (quantities < 0) | (quantities % 1 > 0)
    if wrong.any():
        raise TableError(
            f"{variable.name!r} is count and must hold whole numbers from 0 up, got "
            f"{quantities[wrong][0]:g}. Correct it, or make {variable.name!r} real in the schema."
        )


def _refuse_lacking(places: dict[str, int], lacking: list[str]) -> None:
    if lacking:
        few = [repr(name) for name in lacking]
        raise TableError(
            f"the table has no column {listing(few)}, which the schema expects. Its columns are: "
            f"{listing([repr(name) for name in places])}. Is this the wrong schema for the table?"
        )


def _fill(column: pa.ChunkedArray, variable: Variable, values: NDArray[np.float64]) -> pa.ChunkedArray:
    """The column with its holes filled; the very same one where there is nothing to fill."""
    open_cells = holes(column) & ~np.isnan(values)
    if not open_cells.any():
        return column
    kind = _filled_type(_value_type(column.type), variable)
    cells = _cells(np.where(open_cells, values, 0.0), variable, kind)
    known = column.cast(_value_type(column.type)).cast(kind, safe=False)
    merged = pc.if_else(pa.array(open_cells), cells, known)
    return _recode(merged, column) if pa.types.is_dictionary(column.type) else merged


def _filled_type(kind: pa.DataType, variable: Variable) -> pa.DataType:
    """The column's own type where it can hold the variable's values, else the nearest that can."""
    if pa.types.is_null(kind):
        return _natural_type(variable)
    halves = variable.kind.has_levels and not all(_is_whole(level) for level in variable.levels)
    if pa.types.is_integer(kind) and (variable.kind is Kind.REAL or halves):
        return pa.float64()
    if pa.types.is_decimal(kind) or (pa.types.is_boolean(kind) and not variable.kind.has_levels):
        return pa.float64()
    return pa.large_string() if is_text(kind) and kind != pa.string() else kind


def _natural_type(variable: Variable) -> pa.DataType:
    """The type of a column of which nothing is known but its variable."""
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


def _cells(values: NDArray[np.float64], variable: Variable, kind: pa.DataType) -> pa.Array:
    """Numbers of a variable as cells of an Arrow type."""
    if variable.kind.has_levels:
        labels = pa.array([_label(level, kind) for level in variable.levels], kind)
        last = variable.n_levels - 1
        return labels.take(pa.array(np.clip(np.rint(values), 0, last).astype(np.int64)))
    quantities = np.rint(values) if variable.kind is Kind.COUNT else values
    if is_text(kind):
        return pa.array([shown(float(one)) for one in quantities], kind)
    return pa.array(quantities).cast(kind, safe=False)


def _label(level: Level, kind: pa.DataType) -> Any:
    if is_text(kind):
        return str(level)
    if pa.types.is_boolean(kind):
        return level_position((False, True), level) == 1
    if _is_number(kind):
        number = float(level)
        return int(number) if pa.types.is_integer(kind) and math.isfinite(number) else number
    return level


def _recode(merged: pa.ChunkedArray, like: pa.ChunkedArray) -> pa.ChunkedArray:
    """``merged`` as a dictionary that keeps the order of ``like``'s own, new values last."""
    known = like.unify_dictionaries().chunk(0).dictionary.cast(merged.type, safe=False)
    fresh = [one for one in merged.unique().drop_null() if not pc.is_in(one, known).as_py()]
    values = pa.concat_arrays([known, pa.array(fresh, merged.type)])
    places = pa.concat_arrays(pc.index_in(merged, value_set=values).chunks)
    ordered = like.type.ordered
    return pa.chunked_array([pa.DictionaryArray.from_arrays(places, values, ordered=ordered)])
