"""Imputation of irregular series on a grid of times, with intervals."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from eddi.errors import TableError
from eddi.model.base import Model, ModelSource
from eddi.model.prediction import Prediction
from eddi.table.series.decision_rows import Series
from eddi.table.series.measurements import Measurements
from eddi.table.series.row_layout import RowLayout
from eddi.table.series.window_values import Decisions, fill_windows


def impute_series(model: ModelSource, source: Any, times: Sequence[float]) -> pa.Table:
    """Estimate all repeated variables of each person at the given times.

    What was measured before each time is used, and what was measured after it if the schema has windows
    ``later``. A value that was measured at that time is returned as it is.

    Args:
        model: a fitted model whose schema has a section `[time]`.
        source: a `Series`, or its measurements.
        times: since the entry of each person, in ascending order.

    Returns:
        One row per person, time and variable: the value, the 90% interval of a quantity, and whether
        it was measured.
    """
    fitted = model.fitted()
    layout = RowLayout(fitted.schema)
    grid = np.asarray(times, dtype=np.float64)
    is_rising = grid.ndim == 1 and len(grid) > 0 and bool((np.diff(grid) > 0).all())
    if not is_rising or not np.isfinite(grid).all() or grid[0] < 0:
        raise TableError(
            f"times must be finite numbers from 0 up in ascending order, got {list(times)}."
        )
    series = source if isinstance(source, Series) else Series(source)
    parts = [
        table
        for measurements in series.iter_measurements(fitted.schema)
        for table in _impute(fitted, layout, measurements, grid)
    ]
    return pa.concat_tables(parts)


def _impute(
    model: Model,
    layout: RowLayout,
    measurements: Measurements,
    grid: np.ndarray[Any, np.dtype[np.float64]],
) -> Iterator[pa.Table]:
    """One table per variable."""
    n_persons = len(measurements.persons)
    decisions = Decisions(np.repeat(np.arange(n_persons), len(grid)), np.tile(grid, n_persons))
    evidence = model.coding.encode(fill_windows(layout, measurements, decisions, later=True))
    names = [variable.name for variable in layout.repeated]
    predictions = model.predict_evidence(evidence, names)
    is_text = any(variable.kind.has_levels for variable in layout.repeated)
    persons = [measurements.persons[place] for place in decisions.person]
    for name in names:
        observed = evidence.observed[:, model.schema.position(name)]
        yield pa.table(
            {
                layout.time.person: pa.array(persons),
                layout.time.column: decisions.time,
                "variable": pa.array([name] * len(persons)),
                **_estimates(predictions[name], as_text=is_text),
                "measured": pa.array(observed),
            }
        )


def _estimates(prediction: Prediction, *, as_text: bool) -> dict[str, pa.Array]:
    has_levels = prediction.variable.kind.has_levels
    values = np.asarray(prediction.value).tolist()
    interval = np.full((len(values), 2), np.nan) if has_levels else prediction.interval
    low, high = (pa.array(column, pa.float64(), from_pandas=True) for column in interval.T)
    texts = [str(value) if has_levels else f"{value:.6g}" for value in values] if as_text else values
    return {"value": pa.array(texts), "low": low, "high": high}
