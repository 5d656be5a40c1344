"""Warnings about a table before a model is trained on it: target leaks, missing values, identifiers."""

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from eddi.service.analyst.data.column_profile import describe_column
from eddi.service.analyst.data.tables import UploadedTable
from eddi.service.web.languages.messages import translate_message
from eddi.table.checks.training_table import MAX_ROWS, DataWarning, find_training_warnings
from eddi.table.columns import table_to_numbers

MANY_MISSING = 0.5  # share of a column's cells


def find_warnings(table: UploadedTable, rows: pa.Table) -> list[DataWarning]:
    """All warnings about a table, serious ones first."""
    schema = table.schema
    numbers = table_to_numbers(rows.slice(0, MAX_ROWS), schema)
    warnings = [
        *_table_warnings(table),
        *find_training_warnings(schema, numbers, schema.targets, n_rows=table.n_rows),
        *_column_warnings(table),
    ]
    return sorted(warnings, key=lambda warning: not warning.is_serious)


def translate_warnings(warnings: Sequence[DataWarning]) -> list[DataWarning]:
    """The warnings in the language of the present request."""
    return [replace(warning, message=translate_message(warning.message)) for warning in warnings]


def group_by_column(warnings: Sequence[DataWarning]) -> dict[str, list[DataWarning]]:
    """The warnings about each column; those about the whole table are left out."""
    columns: dict[str, list[DataWarning]] = {}
    for warning in warnings:
        if warning.column is not None:
            columns.setdefault(warning.column, []).append(warning)
    return columns


def _table_warnings(table: UploadedTable) -> list[DataWarning]:
    if table.schema.targets:
        return []
    return [DataWarning(None, "target", "No column is marked as the target of interviews.")]


def _column_warnings(table: UploadedTable) -> list[DataWarning]:
    set_aside = {column.name: column for column in table.schema.set_aside}
    warnings = []
    for name, profile in zip(table.columns, table.profiles, strict=True):
        missing = profile["missing"] / max(table.n_rows, 1)
        if name in set_aside:
            kind = "identifier" if set_aside[name].role == "identifier" else "left out"
            warnings.append(DataWarning(name, kind, f"Left out: {set_aside[name].reason}."))
        elif missing >= MANY_MISSING:
            warnings.append(DataWarning(name, "missing", f"{missing:.0%} of the cells are missing."))
        if profile.get("checks") and profile["inferred"] == describe_column(name, table.schema):
            for check in profile["checks"]:
                message = f"Check: {check['message']} {check['line']}".strip()
                warnings.append(DataWarning(name, "check", message))
    return warnings
