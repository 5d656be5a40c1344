"""Column profiles: summary statistics that let an analyst check a column without reading its rows."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from eddi.table.columns import clean, column_to_numbers
from eddi.table.schema import Schema
from eddi.table.schema_file import format_variable_line
from eddi.table.text import format_value

N_BARS = 12  # of the small histogram beside a column
N_EXAMPLES = 3
MAX_VALUE_CHARS = 40
HISTOGRAM_QUANTILES = (0.005, 0.995)  # a single outlier must not squeeze all other values into one bar

Profile = dict[str, Any]


def profile_column(column: pa.ChunkedArray) -> Profile:
    """Summary statistics of one column as plain JSON.

    ``missing`` is the number of missing cells, ``distinct`` the number of distinct values, ``examples``
    the most frequent values. ``bars`` are the heights (0 to 1) of a histogram, or of the most frequent
    values. ``low`` and ``high`` are the minimum and maximum of a quantity.
    """
    observed = _observed_values(column)
    profile: Profile = {
        "missing": len(column) - len(observed),
        "distinct": 0,
        "examples": [],
        "bars": [],
    }
    if not len(observed):
        return profile
    counts = observed.value_counts()
    order = pc.sort_indices(counts.field("counts"), sort_keys=[("", "descending")])
    most_frequent = counts.take(order[:N_BARS])
    profile["distinct"] = len(counts)
    examples = most_frequent.field("values").to_pylist()[:N_EXAMPLES]
    profile["examples"] = [_format_example(value) for value in examples]
    if _is_numeric(observed.type) and len(counts) > N_BARS:
        values = np.asarray(observed.to_numpy(), dtype=np.float64)
        finite = values[np.isfinite(values)]
        return profile | _histogram(finite) if len(finite) else profile
    profile["bars"] = _relative_heights(most_frequent.field("counts").to_numpy())
    return profile


def profile_table_column(table: pa.Table, name: str, schema: Schema) -> Profile:
    """Summary statistics of a column, and what to check about its inferred kind.

    Numbers with a number format, such as $1,200, are described as numbers. ``checks`` are messages, each
    with the line of the schema to use instead, and ``inferred`` is the line that they are about.
    """
    variable = next((v for v in schema.variables if v.column == name), None)
    column = table.column(name)
    if variable is not None and variable.format is not None:
        numbers = column_to_numbers(column, variable)
        column = pa.chunked_array([pa.array(numbers, from_pandas=True)])
    checks = [
        {
            "message": note.message,
            "line": "" if note.alternative is None else format_variable_line(note.alternative),
        }
        for note in schema.notes
        if note.column == name
    ]
    return profile_column(column) | {"checks": checks, "inferred": describe_column(name, schema)}


def describe_column(name: str, schema: Schema) -> str:
    """The line of a column in its schema, by which a check knows whether the column was changed since."""
    return format_variable_line(schema[name]) if name in schema.names else ""


def _observed_values(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The cells that have a value. Types that cannot be modelled, such as dates, become text."""
    is_unsupported = pa.types.is_nested(column.type) or pa.types.is_temporal(column.type)
    if is_unsupported or pa.types.is_binary(column.type):
        texts = [None if cell is None else str(cell) for cell in column.to_pylist()]
        return pa.chunked_array([pa.array(texts, pa.string())]).drop_null()
    return clean(column).drop_null()


def _histogram(values: NDArray[np.float64]) -> Profile:
    low, high = (float(quantile) for quantile in np.quantile(values, HISTOGRAM_QUANTILES))
    central = values[(values >= low) & (values <= high)]
    counts, _ = np.histogram(central if len(central) else values, N_BARS)
    return {
        "bars": _relative_heights(counts),
        "low": float(values.min()),
        "high": float(values.max()),
    }


def _relative_heights(counts: NDArray[Any]) -> list[float]:
    return [round(float(height), 3) for height in counts / max(float(counts.max()), 1.0)]


def _is_numeric(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _format_example(value: object) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else format_value(value)
    return text if len(text) <= MAX_VALUE_CHARS else text[: MAX_VALUE_CHARS - 1] + "…"
