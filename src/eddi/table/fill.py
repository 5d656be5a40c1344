"""Fill the missing cells of Arrow columns with numbers."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from eddi.table.cell_arrays import is_numeric, is_text, value_type
from eddi.table.cells.multi_select import join_options
from eddi.table.columns import find_missing
from eddi.table.schema import Schema
from eddi.table.text import format_value
from eddi.table.variable import Kind, Level, Variable, level_position


def fill_missing(table: pa.Table, schema: Schema, numbers: NDArray[np.float64]) -> pa.Table:
    """Return the table with its missing values filled. Observed cells and other columns are unchanged.

    Args:
        table: as `formats.read` returns it. Variables without a column are ignored.
        schema: the variables to fill.
        numbers: one number per row and variable, of which only those for missing cells are used. A NaN
            leaves the cell missing.

    A code for a missing value is filled, too. A code for a declined answer is kept.
    """
    columns = dict(zip(table.column_names, table.columns, strict=True))
    options: dict[str, list[int]] = {}
    for position, variable in enumerate(schema.variables):
        is_listed = variable.source is not None and variable.source.is_list
        if variable.survival is not None:  # a time and an event are predicted, never filled in
            continue
        if is_listed and variable.column in columns:
            options.setdefault(variable.column, []).append(position)
        elif variable.column in columns and not is_listed:
            values = numbers[:, position]
            columns[variable.column] = _fill_column(columns[variable.column], variable, values)
    for name, positions in options.items():
        variables = [schema.variables[position] for position in positions]
        columns[name] = _fill_options(columns[name], variables, numbers[:, positions])
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
        is_filled = _is_filled(field, schema)
        new_type = _filled_type(field.type, schema[field.name]) if is_filled else field.type
        changes = new_type != field.type and (schema[field.name].missing or has_missing(field.name))
        fields.append(pa.field(field.name, new_type) if changes else field)
    return pa.schema(fields)


def _is_filled(field: pa.Field, schema: Schema) -> bool:
    is_variable = field.name in schema.names and schema[field.name].survival is None
    return is_variable and not pa.types.is_dictionary(field.type)


def round_to_valid(numbers: NDArray[np.float64], schema: Schema) -> NDArray[np.float64]:
    """Return the nearest numbers a table can hold: whole counts and existing level positions.

    Args:
        numbers: predicted numbers [..., variables].
        schema: the variables.
    """
    numbers = numbers.copy()
    for position, variable in enumerate(schema.variables):
        if variable.kind is not Kind.REAL:
            highest = variable.n_levels - 1 if variable.kind.is_discrete else np.inf
            numbers[..., position] = np.clip(np.rint(numbers[..., position]), 0, highest)
    return numbers


def numbers_to_column(numbers: NDArray[np.float64], variable: Variable) -> pa.Array:
    """Return the numbers of a variable as cells, null where they are NaN."""
    missing = np.isnan(numbers)
    cells = _numbers_to_cells(np.where(missing, 0.0, numbers), variable, _default_type(variable))
    return pc.if_else(pa.array(missing), pa.scalar(None, cells.type), cells)


def _fill_column(
    column: pa.ChunkedArray, variable: Variable, values: NDArray[np.float64]
) -> pa.ChunkedArray:
    """Return the column with its missing cells filled, or the same object if there are none."""
    is_filled = find_missing(column, replace(variable, declined=())) & ~np.isnan(values)
    if not is_filled.any():
        return column
    new_type = _filled_type(value_type(column.type), variable)
    cells = _numbers_to_cells(np.where(is_filled, values, 0.0), variable, new_type)
    observed = column.cast(value_type(column.type)).cast(new_type, safe=False)
    filled = pc.if_else(pa.array(is_filled), cells, observed)
    return _encode_like(filled, column) if pa.types.is_dictionary(column.type) else filled


def _fill_options(
    column: pa.ChunkedArray, variables: list[Variable], numbers: NDArray[np.float64]
) -> pa.ChunkedArray:
    """Return a column of options with its missing cells filled. A cell stays missing if no option fits.

    Args:
        column: cells that list options.
        variables: the variables of the options.
        numbers: 1 where an option is listed [rows, options].
    """
    is_filled = find_missing(column, replace(variables[0], declined=()))
    if not is_filled.any():
        return column
    if pa.types.is_integer(column.type):  # every cell lists one option, whose name is a number
        column = column.cast(pa.string())
    sources = [variable.source for variable in variables if variable.source is not None]
    cells = column.to_pylist()
    for row in np.flatnonzero(is_filled & (np.nan_to_num(numbers) > 0.5).any(1)).tolist():
        listed = (
            source.option for source, number in zip(sources, numbers[row], strict=True) if number > 0.5
        )
        cells[row] = join_options(listed, sources[0].separator)
    filled = pa.chunked_array([pa.array(cells, value_type(column.type))])
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
        write = format_value if variable.format is None else variable.format.write
        return pa.array([write(float(quantity)) for quantity in quantities], data_type)
    return pa.array(quantities).cast(data_type, safe=False)


def _level_to_cell(level: Level, data_type: pa.DataType) -> Any:
    if is_text(data_type):
        return str(level)
    if pa.types.is_boolean(data_type):
        return level_position((False, True), level) == 1
    if is_numeric(data_type):
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
