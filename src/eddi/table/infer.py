"""Infer the schema of a table from the names and values of its columns.

The rules follow common sense: whole numbers with few values are a scale, text with few values is a
category, and a column that numbers the rows is an identifier. A column that cannot be modelled is set
aside with a reason. A guess that may well be wrong gets a note.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from os import PathLike

import pyarrow as pa

from eddi.errors import TableError, TargetError
from eddi.table.cell_arrays import is_text
from eddi.table.cells.missing import MISSING_MARKERS, NONE_MARKER
from eddi.table.codebooks.apply_codebook import apply_codebook
from eddi.table.codebooks.read_codebook import read_codebook
from eddi.table.codebooks.table_columns import TableColumns
from eddi.table.kinds.column_stats import MAX_DISTINCT_VALUES, ColumnStats
from eddi.table.kinds.guess import MAX_FREQUENT_LEVELS, MAX_STEPS, Column, Guess
from eddi.table.kinds.missing_codes import propose_codes
from eddi.table.kinds.numbers import guess_numbers
from eddi.table.kinds.texts import guess_text
from eddi.table.schema import Schema, SetAside
from eddi.table.streaming import ParquetStream
from eddi.table.text import format_names
from eddi.table.variable import Kind, Level, Variable

MIN_BATTERY = 3  # columns with the same whole numbers that are taken as items of one questionnaire


def infer(
    table: pa.Table,
    *,
    targets: tuple[str, ...] = (),
    missing: tuple[Level, ...] = (),
    declined: tuple[Level, ...] = (),
) -> Schema:
    """Infer the schema of a table: a kind for every column, or the reason to set it aside.

    Raises:
        TableError: there is nothing to model, or a column holds an infinite value.
        TargetError: a target is not in the table, or cannot be modelled.
    """
    return infer_stream(
        table.schema, [table], targets=targets, missing=missing, declined=declined, max_values=None
    )


def infer_stream(
    columns: pa.Schema,
    batches: Iterable[pa.Table],
    *,
    targets: tuple[str, ...] = (),
    missing: tuple[Level, ...] = (),
    declined: tuple[Level, ...] = (),
    max_values: int | None = MAX_DISTINCT_VALUES,
) -> Schema:
    """Infer the schema of a table that comes in batches, in one pass.

    The result is the same as for the whole table, with one exception. In a column with more than
    ``max_values`` distinct values, only the first of them decide whether the values are unique, whether
    they are distributed like counts, and how numbers are written.
    """
    _check_targets_exist(targets, columns.names)
    unsupported = {field.name: _explain_unsupported(field.type) for field in columns}
    codes = (*missing, *declined)
    stats = {n: ColumnStats(max_values, codes) for n, reason in unsupported.items() if not reason}
    n_rows = 0
    for batch in batches:
        n_rows += batch.num_rows
        for name, column_stats in stats.items():
            column_stats.update(batch.column(name))
    _check_not_empty(len(columns), n_rows)
    batteries = Counter(_scale_values(column_stats) for column_stats in stats.values())
    guesses = [
        _guess_column(
            Column(
                name, stats[name], name in targets, batteries[_scale_values(stats[name])] >= MIN_BATTERY
            )
        )
        if name in stats
        else Guess((), SetAside(name, unsupported[name]))
        for name in columns.names
    ]
    set_aside = tuple(guess.set_aside for guess in guesses if guess.set_aside is not None)
    variables = tuple(variable for guess in guesses for variable in guess.variables)
    _check_targets_modelled(targets, set_aside)
    _check_some_modelled(n_rows, variables, set_aside)
    return Schema(
        variables,
        tuple(guess.question for guess in guesses if guess.question is not None),
        targets=targets,
        set_aside=set_aside,
        missing=missing,
        declined=declined,
        notes=tuple(note for guess in guesses for note in guess.notes),
    )


def add_codebook(
    schema: Schema, rows: pa.Table | ParquetStream, codebook: str | PathLike[str]
) -> Schema:
    """Return an inferred schema with what a codebook says about the columns of the table.

    Raises:
        CodebookError: the codebook cannot be read.
    """
    is_stream = isinstance(rows, ParquetStream)
    names = rows.columns.names if is_stream else rows.column_names
    batches = rows.iter_batches() if is_stream else [rows]
    codes = (*schema.missing, *schema.declined)
    columns = TableColumns.collect(names, batches, codes)
    return apply_codebook(schema, read_codebook(codebook), columns)


def _scale_values(stats: ColumnStats) -> tuple[object, ...]:
    """Return the values of a column with few whole numbers, which items of one questionnaire share."""
    is_scale = 2 < len(stats.counts) <= MAX_STEPS and pa.types.is_integer(stats.values.type)
    return tuple(sorted(stats.values.to_pylist())) if is_scale else (id(stats),)


def _explain_unsupported(data_type: pa.DataType) -> str:
    """Return why columns of an Arrow type cannot be modelled, or '' if they can."""
    types = pa.types
    value_type = data_type.value_type if types.is_dictionary(data_type) else data_type
    if types.is_temporal(value_type):
        return "dates and times are not modelled"
    checks = (types.is_null, types.is_boolean, types.is_integer, types.is_floating, types.is_decimal)
    if is_text(value_type) or any(check(value_type) for check in checks):
        return ""
    return f"values of type {value_type} are not modelled"


def _guess_column(column: Column) -> Guess:
    stats = column.stats
    if stats.n_observed == 0:
        return column.set_aside("every value is missing")
    value_type = stats.values.type
    if stats.ordered_levels is not None and len(stats.ordered_levels) <= MAX_FREQUENT_LEVELS:
        return _guess_ordered_categorical(column, stats.ordered_levels)
    if pa.types.is_boolean(value_type):
        return _guess_booleans(column)
    guess = guess_text(column) if is_text(value_type) else guess_numbers(column)
    return _check_none(column, propose_codes(column, guess))


def _guess_ordered_categorical(column: Column, ordered_levels: tuple[object, ...]) -> Guess:
    """Keep the levels of an ordered categorical and their order, even of unused levels."""
    values = column.stats.values
    if len(values) == 1:
        return column.set_aside_constant(values[0].as_py())
    levels = [level for level in ordered_levels if level not in MISSING_MARKERS]
    return column.as_levels(Kind.BINARY if len(levels) == 2 else Kind.ORDINAL, levels)  # type: ignore[arg-type]


def _guess_booleans(column: Column) -> Guess:
    values = column.stats.values
    if len(values) == 1:
        return column.set_aside_constant(values[0].as_py())
    return column.as_levels(Kind.BINARY, (False, True))


def _check_none(column: Column, guess: Guess) -> Guess:
    """Note that the word "None" was read as missing, where it may be a level."""
    stats, variable = column.stats, guess.variable
    if not stats.n_none or (variable is not None and not variable.kind.has_levels):
        return guess
    cells = f"{NONE_MARKER!r} ({stats.n_none} cells)"
    message = f"{cells} is read as missing, as in pandas. If it is a level, use:"
    if variable is not None:
        kind = variable.kind if variable.kind is not Kind.BINARY else Kind.CATEGORY
        return guess.check(message, replace(variable, kind=kind, levels=(NONE_MARKER, *variable.levels)))
    if len(stats.values) == 1:
        levels = (NONE_MARKER, stats.values[0].as_py())
        return guess.check(message, Variable(column.name, Kind.BINARY, levels))
    return guess


def _check_not_empty(n_columns: int, n_rows: int) -> None:
    if n_columns == 0:
        raise TableError("the table has no columns. Pass a table with at least one column.")
    if n_rows == 0:
        raise TableError("the table has no rows. A schema is inferred from values: add some rows.")


def _check_targets_exist(targets: tuple[str, ...], names: list[str]) -> None:
    for target in targets:
        if target not in names:
            raise TargetError(
                f"the target {target!r} is not a column of the table. Columns are: "
                f"{format_names(names)}."
            )


def _check_targets_modelled(targets: tuple[str, ...], set_aside: tuple[SetAside, ...]) -> None:
    for column in set_aside:
        if column.name in targets:
            raise TargetError(
                f"the target {column.name!r} cannot be modelled: {column.reason}. "
                "Correct the column, or choose another target."
            )


def _check_some_modelled(
    n_rows: int, variables: tuple[Variable, ...], set_aside: tuple[SetAside, ...]
) -> None:
    if variables:
        return
    if n_rows == 1:
        raise TableError(
            "the table has one row, so every column is constant and nothing can be learned. "
            "Give it more rows."
        )
    reasons = "; ".join(f"{column.name!r}: {column.reason}" for column in set_aside[:6])
    raise TableError(f"nothing is left to model. Every column was set aside: {reasons}.")
