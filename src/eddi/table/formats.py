"""Read tables of any format as Arrow tables, write them, and convert them back."""

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

from eddi.errors import EddiWarning, TableError
from eddi.table.cell_arrays import cells_to_array
from eddi.table.files import delimited
from eddi.table.files.limits import DEFAULT_LIMITS, ReadLimits
from eddi.table.files.read_file import (
    PARQUET,
    SUPPORTED_FORMATS,
    TEXT,
    find_extension,
    read_file,
    summarize_error,
)

MAX_RENAME_WARNINGS = 5  # of repeated column names


def read(source: Any, *, limits: ReadLimits = DEFAULT_LIMITS) -> pa.Table:
    """Return any table as an Arrow table with unique column names.

    Args:
        source: the path of a CSV, TSV, Parquet or Excel file; a pandas or polars data frame; an Arrow
            table; a dict of columns; a 2-D array or a list of rows, whose columns are named x0, x1 ...
        limits: the largest table that is read from a file.

    Raises:
        TableError: ``source`` is not a table.
    """
    if isinstance(source, str | PathLike):
        arrays, labels = read_file(Path(source), limits)
        return _make_table(arrays, labels)
    if _is_a(source, "pandas", "DataFrame"):
        arrays = [_series_to_array(column) for _, column in source.items()]
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
    extension = find_extension(target)
    try:
        if extension in PARQUET:
            pq.write_table(table, target)
        elif extension in TEXT:
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
    if _is_sparse(source):  # checked first, because one sparse format is a dict
        return True
    is_data_frame = hasattr(source, "__dataframe__") or hasattr(source, "__arrow_c_stream__")
    has_names = isinstance(source, (str, PathLike, dict)) or hasattr(source, "column_names")
    return not (is_data_frame or has_names)


def is_parquet(path: Path) -> bool:
    """Whether the file name has a Parquet extension."""
    return path.suffix.lower() in PARQUET


def _is_a(source: Any, library: str, class_name: str) -> bool:
    """Whether ``source`` is an instance of a library's class, without importing the library."""
    module = sys.modules.get(library)
    return module is not None and isinstance(source, getattr(module, class_name))


def _is_sparse(source: Any) -> bool:
    module = sys.modules.get("scipy.sparse")
    return module is not None and bool(module.issparse(source))


def _make_table(arrays: Sequence[Any], labels: Iterable[object]) -> pa.Table:
    columns = [_expand_string_views(array) for array in arrays]
    texts = _label_columns(labels)
    names = _make_unique_names(texts)
    renamed = [pair for pair in zip(texts, names, strict=True) if pair[0] != pair[1]]
    for text, name in renamed[:MAX_RENAME_WARNINGS]:
        message = f"the table has two columns {text!r}; the later one is now {name!r}."
        warnings.warn(message, EddiWarning, stacklevel=3)
    if (n_more := len(renamed) - MAX_RENAME_WARNINGS) > 0:
        message = f"{n_more:,} more columns with repeated names were renamed, too."
        warnings.warn(message, EddiWarning, stacklevel=3)
    return pa.Table.from_arrays(columns, names=names)


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


def _label_columns(labels: Iterable[object]) -> list[str]:
    """Return column labels as texts. A column without a name gets the one that pandas would give it."""
    return [_label_to_text(label) or f"Unnamed: {n}" for n, label in enumerate(labels)]


def _make_unique_names(texts: Sequence[str]) -> list[str]:
    """Return unique names in linear time: a second 'age' becomes 'age (2)'."""
    reserved = set(texts)
    suffixes: dict[str, int] = {}  # the next one to try
    names: dict[str, None] = {}  # an ordered set
    for text in texts:
        name, suffix = text, suffixes.get(text, 2)
        while name in names or (name != text and name in reserved):
            name, suffix = f"{text} ({suffix})", suffix + 1
        suffixes[text] = suffix
        names[name] = None
    return list(names)


def _label_to_text(label: object) -> str:
    if isinstance(label, tuple):  # a pandas MultiIndex
        return " ".join(filter(None, map(_label_to_text, label)))
    is_missing = not isinstance(label, str) and str(label) in ("None", "nan", "<NA>", "NaT")
    return "" if is_missing else str(label)


def _series_to_array(series: Any) -> pa.Array | pa.ChunkedArray:
    """Return a pandas column. Categories that Arrow does not support, such as intervals, become text."""
    if isinstance(series.dtype, np.dtype) and series.dtype.kind in "iuf":
        return cells_to_array(series.to_numpy())  # faster than the Series
    if hasattr(series, "cat") and series.cat.categories.dtype.kind == "O":
        series = series.cat.rename_categories(str)
    return cells_to_array(series)


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
    return _make_table([cells_to_array(cells) for cells in columns.values()], columns)


def _read_rows(rows: Sequence[Any]) -> pa.Table:
    if not all(hasattr(row, "__len__") and not isinstance(row, str) for row in rows):
        raise TableError("a table needs rows and columns: pass a list of rows, each a list.")
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        raise TableError(
            f"the rows have different lengths: {sorted(widths)}. Use None for missing values."
        )
    cells = list(zip(*rows, strict=True))
    return _make_table([cells_to_array(list(column)) for column in cells], _default_names(len(cells)))


def _read_array(array: NDArray[Any]) -> pa.Table:
    if array.ndim != 2:
        raise TableError(
            f"a table has 2 dimensions, rows and columns; this array has {array.ndim}. "
            "Reshape it: array.reshape(-1, 1) makes one column."
        )
    return _make_table([cells_to_array(column) for column in array.T], _default_names(array.shape[1]))


def _default_names(n_columns: int) -> list[str]:
    return [f"x{index}" for index in range(n_columns)]


def _to_pandas(table: pa.Table, original: Any) -> Any:
    import pandas as pd

    indices = {
        name: index for index, name in enumerate(_make_unique_names(_label_columns(original.columns)))
    }
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
