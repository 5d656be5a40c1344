"""Read tables of any format as Arrow tables, write them, and convert them back."""

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

from eddi.errors import EddiWarning, TableError
from eddi.table import delimited, spreadsheet

SUPPORTED_FORMATS = "CSV, TSV, Parquet or Excel (.csv, .tsv, .txt, .parquet, .xlsx, .xls; .gz too)"

INDEX_COLUMN = re.compile(r"__index_level_\d+__")
"""Matches the names under which pandas stores its index, which is not a column of the table."""

_COMPRESSED = (".gz", ".bz2", ".zst")
_TEXT = (".csv", ".tsv", ".txt")
_PARQUET = (".parquet", ".pq")
_EXCEL = (".xlsx", ".xls")


def read(source: Any) -> pa.Table:
    """Return any table as an Arrow table with unique column names.

    Args:
        source: the path of a CSV, TSV, Parquet or Excel file; a pandas or polars data frame; an Arrow
            table; a dict of columns; a 2-D array or a list of rows, whose columns are named x0, x1 ...

    Raises:
        TableError: ``source`` is not a table.
    """
    if isinstance(source, str | PathLike):
        return _read_path(Path(source))
    if _is_a(source, "pandas", "DataFrame"):
        arrays = [_series_to_array(source.iloc[:, index]) for index in range(source.shape[1])]
        return _make_table(arrays, list(source.columns))
    if _is_a(source, "polars", "LazyFrame"):
        source = source.collect()
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if isinstance(source, pa.Table) or hasattr(source, "__arrow_c_stream__"):
        table = source if isinstance(source, pa.Table) else _read_arrow_stream(source)
        return _make_table(table.columns, table.column_names)
    return _read_python(source)


def write(table: pa.Table, path: str | PathLike[str]) -> None:
    """Write the table as CSV, TSV or Parquet, depending on the extension of ``path``.

    Raises:
        TableError: the extension is not supported, or the file cannot be written.
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
                "Use one of these extensions."
            )
    except (OSError, pa.ArrowException) as error:
        raise TableError(f"cannot write {str(target)!r}: {summarize_error(error)}") from None


def convert_like(table: pa.Table, original: Any) -> Any:
    """Return the table in the same type of container as ``original``.

    A pandas data frame keeps its index, its labels and, if they can hold the values, its dtypes. An
    array or a list of rows becomes a float64 array. For a path, the result is an Arrow table.
    """
    if _is_a(original, "pandas", "DataFrame"):
        return _to_pandas(table, original)
    if _is_a(original, "polars", "DataFrame"):
        return _to_polars(table, original)
    if _is_a(original, "polars", "LazyFrame"):
        return _to_polars(table, original.collect()).lazy()
    if isinstance(original, Mapping):
        return table.to_pydict()
    if isinstance(original, np.ndarray | Sequence) and not isinstance(original, str):
        return _to_array(table)
    return table


def is_array(source: Any) -> bool:
    """Whether the columns of ``source`` have no names: a dense or sparse array, or a list of rows."""
    if issparse(source):  # checked first, because one sparse format is a dict
        return True
    is_data_frame = hasattr(source, "__dataframe__") or hasattr(source, "__arrow_c_stream__")
    has_names = isinstance(source, (str, PathLike, dict)) or hasattr(source, "column_names")
    return not (is_data_frame or has_names)


def is_parquet(path: Path) -> bool:
    """Whether the file name has a Parquet extension."""
    return path.suffix.lower() in _PARQUET


def _is_a(source: Any, library: str, class_name: str) -> bool:
    """Whether ``source`` is an instance of a library's class, without importing the library."""
    module = sys.modules.get(library)
    return module is not None and isinstance(source, getattr(module, class_name))


def _make_table(arrays: Sequence[Any], labels: Iterable[object]) -> pa.Table:
    columns = [_expand_string_views(array) for array in arrays]
    return pa.Table.from_arrays(columns, names=_make_unique_names(labels, warn=True))


def _expand_string_views(array: Any) -> Any:
    """Return polars' string views as plain strings, because few Arrow functions support views."""
    string = pa.large_string()
    if isinstance(array, pa.ChunkedArray) and "string_view" in str(array.type):
        chunks = [_expand_string_views(chunk) for chunk in array.chunks]
        return pa.chunked_array(chunks) if chunks else pa.chunked_array([], string)
    if str(array.type) == "string_view":
        return array.cast(string)
    if pa.types.is_dictionary(array.type) and str(array.type.value_type) == "string_view":
        return pa.DictionaryArray.from_arrays(
            array.indices, array.dictionary.cast(string), ordered=array.type.ordered
        )
    return array


def _make_unique_names(labels: Iterable[object], *, warn: bool = False) -> list[str]:
    """Return column labels as unique texts: a second 'age' becomes 'age (2)'."""
    # A column without a name gets the one that pandas would give it.
    texts = [_label_to_text(label) or f"Unnamed: {n}" for n, label in enumerate(labels)]
    reserved = set(texts)
    names: dict[str, None] = {}  # an ordered set
    for text in texts:
        name, suffix = text, 2
        while name in names or (name != text and name in reserved):
            name, suffix = f"{text} ({suffix})", suffix + 1
        if warn and name != text:
            message = f"the table has two columns {text!r}; the later one is now {name!r}."
            warnings.warn(message, EddiWarning, stacklevel=4)
        names[name] = None
    return list(names)


def _label_to_text(label: object) -> str:
    if isinstance(label, tuple):  # a pandas MultiIndex
        return " ".join(filter(None, map(_label_to_text, label)))
    is_missing = not isinstance(label, str) and str(label) in ("None", "nan", "<NA>", "NaT")
    return "" if is_missing else str(label)


def _series_to_array(series: Any) -> pa.Array | pa.ChunkedArray:
    """Return a pandas column. Categories that Arrow does not support, such as intervals, become text."""
    if hasattr(series, "cat") and series.cat.categories.dtype.kind == "O":
        series = series.cat.rename_categories(str)
    return _cells_to_array(series)


def _cells_to_array(cells: Any) -> pa.Array | pa.ChunkedArray:
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


def _read_arrow_stream(source: Any) -> pa.Table:
    try:
        return pa.table(source)
    except pa.ArrowInvalid:  # a stream of a single column, such as a pandas Series
        raise _not_a_table(source) from None


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
    raise _not_a_table(source)


def _not_a_table(source: Any) -> TableError:
    return TableError(
        f"a {type(source).__name__} is not a table. Pass a pandas or polars DataFrame, an Arrow "
        f"table, a dict of columns, a 2-D array, or the path of a file: {SUPPORTED_FORMATS}."
    )


def _read_mapping(columns: Mapping[Any, Any]) -> pa.Table:
    for name, cells in columns.items():
        if isinstance(cells, str) or not hasattr(cells, "__len__"):
            raise TableError(f"the column {name!r} must be a list or array, got {cells!r}.")
    lengths = {len(cells) for cells in columns.values()}
    if len(lengths) > 1:
        raise TableError(
            f"the columns have different lengths: {sorted(lengths)}. Every column needs one cell per "
            "row; use None for a missing value."
        )
    return _make_table([_cells_to_array(cells) for cells in columns.values()], columns)


def _read_rows(rows: Sequence[Any]) -> pa.Table:
    if not all(hasattr(row, "__len__") and not isinstance(row, str) for row in rows):
        raise TableError("a table needs rows and columns: pass a list of rows, each a list.")
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        raise TableError(
            f"the rows have different lengths: {sorted(widths)}. Use None for missing values."
        )
    cells = list(zip(*rows, strict=True))
    return _make_table([_cells_to_array(list(column)) for column in cells], _default_names(len(cells)))


def _read_array(array: NDArray[Any]) -> pa.Table:
    if array.ndim != 2:
        raise TableError(
            f"a table has 2 dimensions, rows and columns; this array has {array.ndim}. "
            "Reshape it: array.reshape(-1, 1) makes one column."
        )
    return _make_table([_cells_to_array(column) for column in array.T], _default_names(array.shape[1]))


def _default_names(n_columns: int) -> list[str]:
    return [f"x{index}" for index in range(n_columns)]


def _extension(path: Path) -> str:
    stem = path.with_suffix("") if path.suffix.lower() in _COMPRESSED else path
    return stem.suffix.lower()


def _read_path(path: Path) -> pa.Table:
    extension = _extension(path)
    try:
        if path.is_dir():
            raise TableError(
                f"{str(path)!r} is a folder, not a table. Name a file: {SUPPORTED_FORMATS}."
            )
        if not path.exists():
            raise TableError(f"there is no file {str(path)!r}. Check the name and the folder.")
        if extension in _TEXT:
            return _read_text(path, "\t" if extension == ".tsv" else None)
        if extension in _PARQUET:
            return _read_parquet(path)
        if extension in _EXCEL:
            return _read_excel(path)
    except OSError as error:
        raise TableError(f"cannot read {str(path)!r}: {summarize_error(error)}") from None
    except pa.ArrowException as error:
        raise TableError(
            f"{path.name!r} is damaged or not a {extension} file: {summarize_error(error)}"
        ) from None
    raise TableError(f"{path.name!r} is not in a supported format. Expected {SUPPORTED_FORMATS}.")


def summarize_error(error: Exception) -> str:
    """Return the first line of an error message from Arrow or the operating system."""
    text = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return f"{text.strip().splitlines()[0].rstrip('.')}."


def _read_parquet(path: Path) -> pa.Table:
    # Not read_table, which turns parent folders with names such as year=2020 into columns.
    table = pq.ParquetFile(path).read()
    table = table.drop_columns([name for name in table.column_names if INDEX_COLUMN.fullmatch(name)])
    return _make_table(table.columns, table.column_names)


def _read_excel(path: Path) -> pa.Table:
    header, body = spreadsheet.read(path)
    _check_not_empty(path, header, body)
    return _make_table([_cells_to_array(list(column)) for column in zip(*body, strict=True)], header)


def _read_text(path: Path, delimiter: str | None) -> pa.Table:
    table = delimited.read(path, delimiter)
    _check_not_empty(path, table.column_names, range(table.num_rows))
    return _make_table(table.columns, [name.strip() for name in table.column_names])


def _check_not_empty(path: Path, header: Sequence[object], body: Sequence[object]) -> None:
    if not header:
        raise TableError(f"{path.name!r} is empty. Expected a line of column names, then rows.")
    if not body:
        raise TableError(f"{path.name!r} has column names and no rows. Add at least one row.")


def _to_pandas(table: pa.Table, original: Any) -> Any:
    import pandas as pd

    indices = {name: index for index, name in enumerate(_make_unique_names(original.columns))}
    row_labels = original.index if len(original) == table.num_rows else None
    columns, labels = [], []
    for name, column in zip(table.column_names, table.columns, strict=True):
        series = column.to_pandas()
        if name in indices and row_labels is not None:
            series = _restore_pandas_dtype(series, column, original.iloc[:, indices[name]])
        columns.append(series.set_axis(row_labels) if row_labels is not None else series)
        labels.append(original.columns[indices[name]] if name in indices else name)
    frame = pd.concat(columns, axis=1) if columns else pd.DataFrame(index=row_labels)
    frame.columns = original.columns if len(labels) == len(indices) else pd.Index(labels)
    return frame


def _restore_pandas_dtype(series: Any, column: pa.ChunkedArray, original: Any) -> Any:
    """Return ``series`` in the dtype of ``original`` if that is lossless.

    Unchanged cells of an object column remain the same objects.
    """
    before = _series_to_array(original)
    if column.type == before.type and column.equals(pa.chunked_array([before])):
        return original.reset_index(drop=True)
    if original.dtype == object:
        pairs = zip(column.to_pylist(), before.to_pylist(), strict=True)
        is_unchanged = np.array([new == old for new, old in pairs])
        return series.astype(object).mask(is_unchanged, original.reset_index(drop=True))
    if hasattr(original, "cat") and not series.dropna().isin(original.cat.categories).all():
        return series
    try:
        cast = series.astype(original.dtype)
    except (TypeError, ValueError):
        return series
    is_lossless = original.dtype.kind not in "iub" or bool((cast == series).all())
    return cast if is_lossless else series


def _to_polars(table: pa.Table, original: Any) -> Any:
    import polars as pl

    frame = pl.DataFrame(pl.from_arrow(table))
    dtypes = original.schema
    return pl.DataFrame([_restore_polars_dtype(series, dtypes.get(series.name)) for series in frame])


def _restore_polars_dtype(series: Any, dtype: Any) -> Any:
    """Return ``series`` in a dtype if that is lossless."""
    if dtype is None or series.dtype == dtype:
        return series
    try:
        cast = series.cast(dtype)
    except sys.modules["polars"].exceptions.PolarsError:
        return series
    is_rounded = dtype.is_integer() and not (cast.cast(series.dtype) == series).all()
    return series if is_rounded or cast.null_count() > series.null_count() else cast


def _to_array(table: pa.Table) -> NDArray[Any]:
    try:
        columns = [_column_to_floats(column) for column in table.columns]
    except pa.ArrowInvalid:  # some columns are text, so the array holds Python objects
        columns = [np.array(column.to_pylist(), dtype=object) for column in table.columns]
    return np.stack(columns, axis=1) if columns else np.zeros((table.num_rows, 0))


def _column_to_floats(column: pa.ChunkedArray) -> NDArray[np.float64]:
    numbers = column.cast(pa.int8()) if pa.types.is_boolean(column.type) else column
    return np.asarray(numbers.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)
