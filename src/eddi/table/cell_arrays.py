"""Arrow types of cells, and Python values as Arrow arrays."""

from datetime import datetime
from typing import Any

import pyarrow as pa


def cells_to_array(cells: Any) -> pa.Array | pa.ChunkedArray:
    """Return the cells of one column. Cells of mixed types become text.

    So do dates of which only some have a time zone: Arrow would read the others as UTC.
    """
    try:
        array = pa.array(cells, from_pandas=True)
        if not isinstance(array.type, pa.BaseExtensionType) and not _mixes_zones(cells, array.type):
            return array
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        pass
    return pa.array([_cell_to_text(cell) for cell in cells], pa.string())


def _mixes_zones(cells: Any, data_type: pa.DataType) -> bool:
    """Whether some dates have a time zone and others have none; only objects can be mixed."""
    if not pa.types.is_timestamp(data_type) or (hasattr(cells, "dtype") and cells.dtype != object):
        return False
    dates = (cell for cell in cells if isinstance(cell, datetime) and cell == cell)  # NaT is not itself
    return len({date.tzinfo is None for date in dates}) > 1


def _cell_to_text(cell: object) -> str | None:
    if cell is None:
        return None
    is_whole = isinstance(cell, float) and cell.is_integer()
    return str(int(cell)) if is_whole else str(cell)  # type: ignore[call-overload]


def is_text(data_type: pa.DataType) -> bool:
    """Whether an Arrow type is one of the string types."""
    is_view = hasattr(pa.types, "is_string_view") and pa.types.is_string_view(data_type)
    return bool(pa.types.is_string(data_type) or pa.types.is_large_string(data_type) or is_view)


def is_numeric(data_type: pa.DataType) -> bool:
    """Whether an Arrow type holds numbers; booleans are not numbers."""
    checks = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    return any(check(data_type) for check in checks)


def value_type(data_type: pa.DataType) -> pa.DataType:
    """Return the type of the values of a dictionary, or the type itself."""
    return data_type.value_type if pa.types.is_dictionary(data_type) else data_type
