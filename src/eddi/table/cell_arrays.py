"""Python values as Arrow arrays."""

from typing import Any

import pyarrow as pa


def cells_to_array(cells: Any) -> pa.Array | pa.ChunkedArray:
    """Return the cells of one column. Cells of mixed types become text."""
    try:
        array = pa.array(cells, from_pandas=True)
        if not isinstance(array.type, pa.BaseExtensionType):
            return array
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        pass
    return pa.array([_cell_to_text(cell) for cell in cells], pa.string())


def _cell_to_text(cell: object) -> str | None:
    if cell is None:
        return None
    is_whole = isinstance(cell, float) and cell.is_integer()
    return str(int(cell)) if is_whole else str(cell)  # type: ignore[call-overload]
