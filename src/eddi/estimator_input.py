"""What scikit-learn passes to an estimator: a table ``X`` and perhaps a target ``y``."""

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.validation import validate_data

from eddi.errors import TableError, TrainingError
from eddi.table import formats
from eddi.table.columns import table_to_numbers
from eddi.table.missingness.indicators import add_indicators, find_incomplete
from eddi.table.schema import Schema
from eddi.table.series.decision_rows import Series, decision_rows, has_decision_rows
from eddi.table.streaming import open_table

Missingness = Literal["ignore", "model"]

DEFAULT_PRIOR_ROWS = 20  # a few rows: beliefs should matter only until there are data


def read_table(estimator: Any, X: Any, *, reset: bool, columns: Sequence[str] = ()) -> Any:
    """The table given to a scikit-learn estimator.

    Args:
        estimator: the estimator. With ``reset``, it gets the number and the names of the columns.
        X: the table. An array has no column names.
        reset: whether the table is the one to fit.
        columns: the names of an array's columns, unless ``reset``.
    """
    if formats.is_array(X):
        # scikit-learn's own checks, so that arrays fail with the messages its users know.
        array = validate_data(
            estimator,
            X,
            reset=reset,
            ensure_all_finite="allow-nan",
            ensure_min_samples=2 if reset else 1,
        )
        table = formats.read(array)
        return table if reset else table.rename_columns(list(columns)[: len(table.column_names)])
    schema = estimator.schema if reset else estimator.fitted().schema
    X = to_decision_rows(X, schema, is_training=reset)
    table = open_table(X) if reset else formats.read(X)
    if reset:
        estimator.n_features_in_ = len(table.column_names)
        estimator.feature_names_in_ = np.array(table.column_names, dtype=object)
    return table


def to_decision_rows(X: Any, schema: Schema | None, *, is_training: bool) -> Any:
    """The decision rows of a `Series`, or of a table of repeated measurements; another table as it is.

    Only training sees what was measured after a decision.
    """
    if schema is None or schema.time is None:
        if isinstance(X, Series):
            raise TableError("a Series needs a schema with a section [time]. Use Schema.with_time.")
        return X
    if not isinstance(X, Series) and has_decision_rows(open_table(X).column_names, schema.time):
        return X
    return decision_rows(X, schema, later=is_training)


def empty_table(schema: Schema | None) -> pa.Table:
    """A table without rows, for a model of the beliefs of a schema alone."""
    if schema is None:
        raise TableError(
            "there is neither a table nor a schema. Give fit a table, or PartialVAE a schema whose beliefs "
            "describe the variables."
        )
    names = dict.fromkeys(variable.column for variable in schema.variables)
    return pa.table({name: pa.array([], pa.string()) for name in names})


def count_prior_rows(prior_rows: int | None, schema: Schema, *, has_table: bool) -> int:
    """The number of rows that the beliefs of a schema count as; at least 1 without a table.

    Raises:
        TrainingError: the number is negative.
    """
    if prior_rows is None:
        prior_rows = DEFAULT_PRIOR_ROWS if schema.beliefs or schema.relations else 0
    if prior_rows < 0:
        raise TrainingError(f"prior_rows must be 0 or more rows, got {prior_rows}.")
    return int(prior_rows) if has_table else max(1, int(prior_rows))


def have_same_values(first: Schema, second: Schema) -> bool:
    """Whether variables have the same names, kinds, levels and time bins; ranges may differ."""
    described = [
        [(v.name, v.kind, v.levels, v.survival) for v in schema.variables] for schema in (first, second)
    ]
    return described[0] == described[1]


def model_missingness(
    schema: Schema, table: Any, missingness: Missingness, *, targets: Sequence[str]
) -> Schema:
    """The schema, with indicators of incomplete variables if missing values are modelled.

    Raises:
        TrainingError: the option is unknown, or the table is on disk.
    """
    if missingness not in get_args(Missingness):
        names = ", ".join(map(repr, get_args(Missingness)))
        raise TrainingError(f"missingness must be one of {names}, got {missingness!r}.")
    if missingness == "ignore":
        return schema
    if not isinstance(table, pa.Table):
        raise TrainingError(
            'missingness="model" needs a table in memory. For a table on disk, add indicators to the schema.'
        )
    numbers = table_to_numbers(table, schema)
    return add_indicators(schema, find_incomplete(schema, numbers, targets=targets or schema.targets))


def join_target(table: Any, y: Any, target: str | Sequence[str] | None) -> Any:
    """The table with ``y`` as the column of its target; None if it already has that column.

    Args:
        table: as `read_table` returns it.
        y: the target of each row.
        target: the declared target of the estimator.
    """
    is_joined = isinstance(target, str) and target not in table.column_names
    if not is_joined or not isinstance(table, pa.Table):
        return None
    values = column_or_1d(y, warn=True)
    check_consistent_length(table, values)
    return table.append_column(target, pa.array(values.tolist(), from_pandas=True))
