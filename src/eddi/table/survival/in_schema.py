"""Survival variables in a schema: added, checked, and given bins."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from eddi.errors import SchemaError
from eddi.table.series.clock import is_same_unit
from eddi.table.series.time_section import TimeSection
from eddi.table.survival.survival import Survival
from eddi.table.survival.time_bins import SurvivalTimes
from eddi.table.variable import Kind, Variable

if TYPE_CHECKING:
    from eddi.table.schema import Schema
    from eddi.table.streaming import ParquetStream

SurvivalColumns = Survival | tuple[str, str]  # (time, event)


def add_survival(
    schema: "Schema", variables: Mapping[str, SurvivalColumns], *, are_targets: bool = True
) -> "Schema":
    """Return a schema with survival variables, whose columns are no longer variables of their own."""
    for name, columns in variables.items():
        survival = columns if isinstance(columns, Survival) else _parse_columns(name, columns)
        unit = schema[survival.time].unit if survival.time in schema.names else ""
        own = [column for column in survival.columns if column in schema.names]
        schema = schema.without(*own, reason=f"belongs to the survival variable {name!r}")
        variable = Variable(name, Kind.SURVIVAL, unit=unit, survival=survival)
        schema = schema.with_variable(variable)
        if are_targets and name not in schema.targets:
            schema = replace(schema, targets=(*schema.targets, name))
    return schema


def _parse_columns(name: str, columns: tuple[str, str]) -> Survival:
    if isinstance(columns, str) or len(columns) != 2:
        raise SchemaError(
            f"{name!r} needs two columns, a time and an event, got {columns!r}. "
            'Write for example ("days", "died").'
        )
    time, event = columns
    return Survival(time, event)


def check_survival(schema: "Schema") -> None:
    """Raise `SchemaError` if a survival variable is asked about, or shares a column with a variable."""
    variables = [variable for variable in schema.variables if variable.survival is not None]
    if schema.time is not None:
        for variable in variables:
            _check_time(variable, schema.time)
    others = {v.column: v.name for v in schema.variables if v.survival is None}
    for variable in variables:
        for column in variable.columns:
            if column in others:
                raise SchemaError(
                    f"{others[column]!r} is a variable and a column of the survival variable "
                    f"{variable.name!r}, so it would reveal the outcome. Set it aside."
                )
        for question in schema.explicit_questions:
            if variable.name in (*question.reveals, *question.requires):
                raise SchemaError(
                    f"question {question.name!r} uses {variable.name!r}, a survival variable. It can be a "
                    "target, but nobody can answer it. Remove it from the question."
                )
    names = {variable.name for variable in variables}
    stated = [b.variable for b in schema.beliefs] + [n for r in schema.relations for n in (r.of, r.to)]
    for name in stated:
        if name in names:
            raise SchemaError(f"{name!r} is a survival variable, about which beliefs are not possible.")


def _check_time(variable: Variable, time: TimeSection) -> None:
    """Raise `SchemaError` if a survival variable does not fit the section `[time]`."""
    if variable.name in time.repeats:
        raise SchemaError(
            f"variable {variable.name!r}: a survival variable cannot repeat. A person has one outcome, and "
            "its time counts from each decision. Remove repeats."
        )
    if time.column in variable.columns:
        raise SchemaError(
            f"{time.column!r} is the time of measurements and a column of the survival variable "
            f"{variable.name!r}. The outcome needs columns of its own: when a person was last seen, and "
            "whether the event had happened."
        )
    if variable.unit and time.unit and not is_same_unit(variable.unit, time.unit):
        raise SchemaError(
            f"{variable.name!r} has the unit {variable.unit!r}, and [time] has {time.unit!r}. Both count "
            "from the entry of a person, so they need the same unit: convert one of them."
        )


def learn_bins(schema: "Schema", table: "pa.Table | ParquetStream") -> "Schema":
    """Return the schema with bins for the survival variables that have none, from the times of a table.

    Raises:
        TableError: a column is absent, a row is not valid, or there are too few events.
    """
    for variable in schema.variables:
        if variable.survival is not None and not variable.survival.edges:
            edges = _read_times(variable, table).find_edges(variable.name)
            survival = replace(variable.survival, edges=edges)
            schema = schema.with_variable(replace(variable, survival=survival))
    return schema


def _read_times(variable: Variable, table: "pa.Table | ParquetStream") -> SurvivalTimes:
    from eddi.table.columns import read_survival

    if isinstance(table, pa.Table):
        return read_survival(table, variable)
    parts = [read_survival(batch, variable) for batch in table.iter_batches(names=variable.columns)]
    return SurvivalTimes.concatenate(parts)


def copy_bins(schema: "Schema", other: "Schema") -> "Schema":
    """Return the schema with the bins of another for survival variables that have none themselves."""
    for variable in schema.variables:
        known = other[variable.name].survival if variable.name in other.names else None
        if variable.survival is not None and not variable.survival.edges and known is not None:
            survival = replace(variable.survival, edges=known.edges)
            schema = schema.with_variable(replace(variable, survival=survival))
    return schema
