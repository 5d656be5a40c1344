"""What a column holds, in a few facts: enough to judge it by without its rows."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from eddi.table.columns import clean
from eddi.table.text import format_value

N_BARS = 12  # of the small histogram beside a column
N_EXAMPLES = 3
MAX_SHOWN = 40  # characters of a value

Profile = dict[str, Any]


def profile(column: pa.ChunkedArray) -> Profile:
    """The facts of one column as plain JSON.

    ``missing`` and ``distinct`` count cells, ``examples`` are its commonest values, ``bars`` the heights
    (0 to 1) of a histogram or of the commonest values, ``low`` and ``high`` its ends where it has any.
    """
    known = _known(column)
    facts: Profile = {"missing": len(column) - len(known), "distinct": 0, "examples": [], "bars": []}
    if not len(known):
        return facts
    counts = known.value_counts()
    order = pc.sort_indices(counts.field("counts"), sort_keys=[("", "descending")])
    commonest = counts.take(order[:N_BARS])
    facts["distinct"] = len(counts)
    facts["examples"] = [_shown(one) for one in commonest.field("values").to_pylist()[:N_EXAMPLES]]
    if _is_quantity(known.type) and len(counts) > N_BARS:
        values = np.asarray(known.to_numpy(), dtype=np.float64)
        finite = values[np.isfinite(values)]
        return facts | _ends(finite) if len(finite) else facts
    facts["bars"] = _heights(commonest.field("counts").to_numpy())
    return facts


def _known(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The cells that hold something; what cannot be a value of the model, such as a date, as text."""
    plain = pa.types.is_nested(column.type) or pa.types.is_temporal(column.type)
    if plain or pa.types.is_binary(column.type):
        words = [None if cell is None else str(cell) for cell in column.to_pylist()]
        return pa.chunked_array([pa.array(words, pa.string())]).drop_null()
    return clean(column).drop_null()


def _ends(values: NDArray[np.float64]) -> Profile:
    low, high = (float(end) for end in np.quantile(values, [0.005, 0.995]))  # an outlier hides the rest
    inside = values[(values >= low) & (values <= high)]
    bars, _ = np.histogram(inside if len(inside) else values, N_BARS)
    return {"bars": _heights(bars), "low": float(values.min()), "high": float(values.max())}


def _heights(counts: NDArray[Any]) -> list[float]:
    return [round(float(one), 3) for one in counts / max(float(counts.max()), 1.0)]


def _is_quantity(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _shown(value: object) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else format_value(value)
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"
