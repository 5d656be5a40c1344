"""Whatever a table comes in, in and out as one Arrow table."""

import re
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from scipy.sparse import issparse

from eddi.errors import EddiWarning, MissingExtraError, TableError
from eddi.table import delimited

READABLE = "CSV, TSV, Parquet or Excel (.csv, .tsv, .txt, .parquet, .xlsx, .xls; .gz too)"

INDEX_COLUMN = re.compile(r"__index_level_\d+__")
"""The index of a pandas frame, which is no column of the table."""

_COMPRESSED = (".gz", ".bz2", ".zst")
_TEXT = (".csv", ".tsv", ".txt")
_PARQUET = (".parquet", ".pq")
_EXCEL = (".xlsx", ".xls")


def read(source: Any) -> pa.Table:
    """Any table as an Arrow table whose column names are text and unique.

    Args:
        source: the path of a CSV, TSV, Parquet or Excel file; a pandas or polars frame; an Arrow
            table; a dict of columns; a 2-D array or a list of rows, whose columns become x0, x1 ...

    Raises:
        TableError: there is no table in ``source``.
    """
    if isinstance(source, str | PathLike):
        return _read_path(Path(source))
    if _is_a(source, "pandas", "DataFrame"):
        arrays = [_series(source.iloc[:, place]) for place in range(source.shape[1])]
        return _table(arrays, list(source.columns))
    if _is_a(source, "polars", "LazyFrame"):
        source = source.collect()
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if isinstance(source, pa.Table) or hasattr(source, "__arrow_c_stream__"):
        table = source if isinstance(source, pa.Table) else _read_stream(source)
        return _table(table.columns, table.column_names)
    return _read_python(source)


def write(table: pa.Table, path: str | PathLike[str]) -> None:
    """Write the table to ``path`` as its extension says: CSV, TSV or Parquet.

    Raises:
        TableError: the extension is another one, or the file cannot be written.
    """
    target = Path(path)
    extension = _extension(target)
    try:
        if extension in _PARQUET:
            pq.write_table(table, target)
        elif extension in _TEXT:
            delimited.write(table, target, "," if extension == ".csv" else "\t")
        else:
            raise TableError(
                f"cannot write {target.name!r}: tables are written as .csv, .tsv or .parquet. "
                "Choose one of these endings."
            )
    except (OSError, pa.ArrowException) as error:
        raise TableError(f"cannot write {str(target)!r}: {first_line(error)}") from None


def like(table: pa.Table, original: Any) -> Any:
    """The table in the container ``original`` was.

    pandas keeps its index, labels and, where they can hold the values, its dtypes; an array or a
    list of rows gives a float64 array; a path gives an Arrow table.
    """
    if _is_a(original, "pandas", "DataFrame"):
        return _like_pandas(table, original)
    if _is_a(original, "polars", "DataFrame"):
        return _like_polars(table, original)
    if _is_a(original, "polars", "LazyFrame"):
        return _like_polars(table, original.collect()).lazy()
    if isinstance(original, Mapping):
        return table.to_pydict()
    if isinstance(original, np.ndarray | Sequence) and not isinstance(original, str):
        return _as_array(table)
    return table


def is_array(source: Any) -> bool:
    """Whether ``source`` has columns but no names for them: an array, a sparse one, a list of rows."""
    if issparse(source):  # one kind of it is also a dict
        return True
    is_table = hasattr(source, "__dataframe__") or hasattr(source, "__arrow_c_stream__")
    named = isinstance(source, (str, PathLike, dict)) or hasattr(source, "column_names")
    return not (is_table or named)


def is_parquet(path: Path) -> bool:
    """Whether a file's name says that it is Parquet."""
    return path.suffix.lower() in _PARQUET


def _is_a(source: Any, library: str, kind: str) -> bool:
    """Whether ``source`` is a class of a library, without importing the library."""
    module = sys.modules.get(library)
    return module is not None and isinstance(source, getattr(module, kind))


def _table(arrays: Sequence[Any], labels: Iterable[object]) -> pa.Table:
    columns = [_without_views(array) for array in arrays]
    return pa.Table.from_arrays(columns, names=_names(labels, warn=True))


def _without_views(array: Any) -> Any:
    """Words as plain strings: Arrow itself can do little with the string views polars gives."""
    words = pa.large_string()
    if isinstance(array, pa.ChunkedArray) and "string_view" in str(array.type):
        chunks = [_without_views(chunk) for chunk in array.chunks]
        return pa.chunked_array(chunks) if chunks else pa.chunked_array([], words)
    if str(array.type) == "string_view":
        return array.cast(words)
    if pa.types.is_dictionary(array.type) and str(array.type.value_type) == "string_view":
        return pa.DictionaryArray.from_arrays(
            array.indices, array.dictionary.cast(words), ordered=array.type.ordered
        )
    return array


def _names(labels: Iterable[object], *, warn: bool = False) -> list[str]:
    """Column labels as text, each different: a second 'age' becomes 'age (2)'."""
    texts = [_name(label) or f"column {place}" for place, label in enumerate(labels, start=1)]
    taken, names = set(texts), list[str]()
    seen: set[str] = set()
    for text in texts:
        name, count = text, 2
        while name in seen or (name != text and name in taken):
            name, count = f"{text} ({count})", count + 1
        if warn and name != text:
            message = f"the table has two columns {text!r}; the later one is now {name!r}."
            warnings.warn(message, EddiWarning, stacklevel=4)
        seen.add(name)
        names.append(name)
    return names


def _name(label: object) -> str:
    if isinstance(label, tuple):  # a pandas MultiIndex
        return " ".join(filter(None, map(_name, label)))
    nameless = not isinstance(label, str) and str(label) in ("None", "nan", "<NA>", "NaT")
    return "" if nameless else str(label)


def _series(series: Any) -> pa.Array | pa.ChunkedArray:
    """A pandas column; categories that Arrow cannot hold, such as intervals, become words."""
    if hasattr(series, "cat") and series.cat.categories.dtype.kind == "O":
        series = series.cat.rename_categories(str)
    return _array(series)


def _array(cells: Any) -> pa.Array | pa.ChunkedArray:
    """One column of anything; where the cells are of mixed types, as text."""
    try:
        array = pa.array(cells, from_pandas=True)
        if not isinstance(array.type, pa.BaseExtensionType):
            return array
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        pass
    return pa.array([_text(cell) for cell in cells], pa.string())


def _text(cell: object) -> str | None:
    if cell is None:
        return None
    whole = isinstance(cell, float) and cell.is_integer()
    return str(int(cell)) if whole else str(cell)  # type: ignore[call-overload]


def _read_stream(source: Any) -> pa.Table:
    try:
        return pa.table(source)
    except pa.ArrowInvalid:  # a stream of one column, such as a pandas Series
        raise _no_table(source) from None


def _read_python(source: Any) -> pa.Table:
    if isinstance(source, Mapping):
        return _read_mapping(source)
    if isinstance(source, np.ndarray) and source.dtype.names:
        return _read_mapping({name: source[name] for name in source.dtype.names})
    if isinstance(source, list | tuple) and source and isinstance(source[0], Mapping):
        labels = dict.fromkeys(label for row in source for label in row)
        return _read_mapping({label: [row.get(label) for row in source] for label in labels})
    if isinstance(source, list | tuple):
        return _read_rows(source)
    if isinstance(source, np.ndarray):
        return _read_array(source)
    raise _no_table(source)


def _no_table(source: Any) -> TableError:
    return TableError(
        f"a {type(source).__name__} is not a table. Pass a pandas or polars DataFrame, an Arrow "
        f"table, a dict of columns, a 2-D array, or the path of a file: {READABLE}."
    )


def _read_mapping(columns: Mapping[Any, Any]) -> pa.Table:
    for name, cells in columns.items():
        if isinstance(cells, str) or not hasattr(cells, "__len__"):
            raise TableError(f"the column {name!r} must be a list or array, got {cells!r}.")
    lengths = {len(cells) for cells in columns.values()}
    if len(lengths) > 1:
        raise TableError(
            f"the columns have different lengths: {sorted(lengths)}. Give every row a cell in "
            "every column; None is a hole."
        )
    return _table([_array(cells) for cells in columns.values()], columns)


def _read_rows(rows: Sequence[Any]) -> pa.Table:
    if not all(hasattr(row, "__len__") and not isinstance(row, str) for row in rows):
        raise TableError("a table needs rows and columns: pass a list of rows, each a list.")
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        raise TableError(f"the rows have different lengths: {sorted(widths)}. Use None for a hole.")
    cells = list(zip(*rows, strict=True))
    return _table([_array(list(column)) for column in cells], _numbered(len(cells)))


def _read_array(array: NDArray[Any]) -> pa.Table:
    if array.ndim != 2:
        raise TableError(
            f"a table has 2 dimensions, rows and columns; this array has {array.ndim}. "
            "Reshape it: array.reshape(-1, 1) makes one column."
        )
    return _table([_array(column) for column in array.T], _numbered(array.shape[1]))


def _numbered(n_columns: int) -> list[str]:
    return [f"x{place}" for place in range(n_columns)]


def _extension(path: Path) -> str:
    stem = path.with_suffix("") if path.suffix.lower() in _COMPRESSED else path
    return stem.suffix.lower()


def _read_path(path: Path) -> pa.Table:
    extension = _extension(path)
    try:
        if path.is_dir():
            raise TableError(f"{str(path)!r} is a folder, not a table. Name a file: {READABLE}.")
        if not path.exists():
            raise TableError(f"there is no file {str(path)!r}. Check the name and the folder.")
        if extension in _TEXT:
            return _read_text(path, "\t" if extension == ".tsv" else None)
        if extension in _PARQUET:
            return _read_parquet(path)
        if extension in _EXCEL:
            return _read_excel(path)
    except OSError as error:
        raise TableError(f"cannot read {str(path)!r}: {first_line(error)}") from None
    except pa.ArrowException as error:
        raise TableError(
            f"{path.name!r} is damaged or not a {extension} file: {first_line(error)}"
        ) from None
    raise TableError(f"{path.name!r} is of no known table format. Expected {READABLE}.")


def first_line(error: Exception) -> str:
    """What an error of Arrow or the system says, in a line."""
    text = getattr(error, "strerror", None) or str(error)
    return f"{text.strip().splitlines()[0].rstrip('.')}."


def _read_parquet(path: Path) -> pa.Table:
    # ParquetFile, unlike read_table, never reads columns into the names of the folders above.
    table = pq.ParquetFile(path).read()
    index = [name for name in table.column_names if INDEX_COLUMN.fullmatch(name)]
    table = table.drop_columns(index)
    return _table(table.columns, table.column_names)


def _read_excel(path: Path) -> pa.Table:
    try:
        import python_calamine
    except ImportError:
        raise MissingExtraError(
            f"reading {path.name!r} needs python-calamine. `pip install eddi-ml[excel]`, "
            "or save the sheet as CSV."
        ) from None
    try:
        sheet = python_calamine.CalamineWorkbook.from_path(path).get_sheet_by_index(0)
        rows = [[None if cell == "" else cell for cell in row] for row in sheet.to_python()]
    except python_calamine.CalamineError as error:
        raise TableError(f"{path.name!r} cannot be read as Excel: {first_line(error)}") from None
    header, *body = rows or [[]]
    body = [row for row in body if any(cell is not None for cell in row)]
    _refuse_empty(path, header, body)
    return _table([_array(list(column)) for column in zip(*body, strict=True)], header)


def _read_text(path: Path, delimiter: str | None) -> pa.Table:
    table = delimited.read(path, delimiter)
    _refuse_empty(path, table.column_names, range(table.num_rows))
    return _table(table.columns, [name.strip() for name in table.column_names])


def _refuse_empty(path: Path, header: Sequence[object], body: Sequence[object]) -> None:
    if not header:
        raise TableError(f"{path.name!r} is empty. Expected a line of column names, then rows.")
    if not body:
        raise TableError(f"{path.name!r} has column names and no rows. Nothing can be learnt.")


def _like_pandas(table: pa.Table, original: Any) -> Any:
    import pandas as pd

    places = {name: place for place, name in enumerate(_names(original.columns))}
    index = original.index if len(original) == table.num_rows else None
    columns, labels = [], []
    for name, column in zip(table.column_names, table.columns, strict=True):
        series = column.to_pandas()
        if name in places and index is not None:
            series = _like_series(series, column, original.iloc[:, places[name]])
        columns.append(series.set_axis(index) if index is not None else series)
        labels.append(original.columns[places[name]] if name in places else name)
    frame = pd.concat(columns, axis=1) if columns else pd.DataFrame(index=index)
    frame.columns = original.columns if len(labels) == len(places) else pd.Index(labels)
    return frame


def _like_series(series: Any, column: pa.ChunkedArray, original: Any) -> Any:
    """``series`` in the dtype of ``original`` if nothing is lost, with the very same old cells."""
    before = _series(original)
    if column.type == before.type and column.equals(pa.chunked_array([before])):
        return original.reset_index(drop=True)
    if original.dtype == object:
        kept = [new == old for new, old in zip(column.to_pylist(), before.to_pylist(), strict=True)]
        return series.astype(object).mask(np.array(kept), original.reset_index(drop=True))
    if hasattr(original, "cat") and not series.dropna().isin(original.cat.categories).all():
        return series
    try:
        cast = series.astype(original.dtype)
    except (TypeError, ValueError):
        return series
    exact = original.dtype.kind not in "iub" or bool((cast == series).all())
    return cast if exact else series


def _like_polars(table: pa.Table, original: Any) -> Any:
    import polars as pl

    frame = pl.DataFrame(pl.from_arrow(table))
    dtypes = original.schema
    return pl.DataFrame([_like_polars_series(one, dtypes.get(one.name)) for one in frame])


def _like_polars_series(series: Any, dtype: Any) -> Any:
    """``series`` in a dtype if nothing is lost by it."""
    if dtype is None or series.dtype == dtype:
        return series
    try:
        cast = series.cast(dtype)
    except sys.modules["polars"].exceptions.PolarsError:
        return series
    rounded = dtype.is_integer() and not (cast.cast(series.dtype) == series).all()
    return series if rounded or cast.null_count() > series.null_count() else cast


def _as_array(table: pa.Table) -> NDArray[Any]:
    try:
        columns = [_floats(column) for column in table.columns]
    except pa.ArrowInvalid:  # there is text in it: an array of Python's own values
        columns = [np.array(column.to_pylist(), dtype=object) for column in table.columns]
    return np.stack(columns, axis=1) if columns else np.zeros((table.num_rows, 0))


def _floats(column: pa.ChunkedArray) -> NDArray[np.float64]:
    whole = column.cast(pa.int8()) if pa.types.is_boolean(column.type) else column
    return np.asarray(whole.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)
