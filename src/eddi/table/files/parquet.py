"""Parquet files: read whole, with a limit on the size of the decoded values.

A file can store a long text once and refer to it from every row. Text is therefore read in
dictionary form, and decoded once its size is known.
"""

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from eddi.table.files.limits import ReadLimits, make_expansion_error

ROWS_PER_BATCH = 16_384

INDEX_COLUMN = re.compile(r"__index_level_\d+__")
"""Matches the names under which pandas stores its index, which is not a column of the table."""


def read(path: Path, limits: ReadLimits) -> pa.Table:
    """Read a Parquet file.

    Raises:
        TableError: the table is larger than the limits.
    """
    # One thread: Arrow's thread pool can abort a short process that exits while the pool stops.
    with pq.ParquetFile(path) as plain:
        metadata, types = plain.metadata, plain.schema_arrow
        limits.check_size(metadata.num_rows, len(types))
        max_bytes = limits.find_max_bytes(path)
        if _sum_uncompressed(metadata) > max_bytes:
            raise make_expansion_error(path, max_bytes)
        texts = _find_texts(plain.schema)
    batches, n_bytes, n_rows = [], 0, 0
    with pq.ParquetFile(path, read_dictionary=texts, pre_buffer=False) as file:
        for batch in file.iter_batches(ROWS_PER_BATCH, use_threads=False):
            n_bytes += sum(map(count_decoded_bytes, batch.columns))
            n_rows += batch.num_rows
            if n_bytes > max_bytes:
                raise make_expansion_error(path, max_bytes)
            limits.check_size(n_rows, len(types))
            batches.append(batch)
    table = pa.Table.from_batches([decode_batch(batch, types) for batch in batches], schema=types)
    table.validate(full=True)  # text must be UTF-8
    names = table.column_names
    return table.select([n for n, name in enumerate(names) if not INDEX_COLUMN.fullmatch(name)])


def _sum_uncompressed(metadata: Any) -> int:
    groups = range(metadata.num_row_groups)
    return sum(max(0, metadata.row_group(group).total_byte_size) for group in groups)


def _find_texts(schema: Any) -> list[str]:
    """Return the paths of the columns with texts, which may be shared by many rows."""
    columns = (schema.column(index) for index in range(len(schema)))
    return [column.path for column in columns if column.physical_type == "BYTE_ARRAY"]


def count_decoded_bytes(array: Any) -> int:
    """Return the size of an array after its dictionaries are decoded."""
    if pa.types.is_dictionary(array.type):
        lengths = pc.fill_null(pc.binary_length(array.dictionary), 0)
        used = array.indices.drop_null()
        n_bytes = pc.sum(lengths.take(used).cast(pa.int64())).as_py() or 0
        return int(n_bytes) + int(array.indices.nbytes)
    if pa.types.is_struct(array.type):
        return sum(map(count_decoded_bytes, array.flatten()))
    if pa.types.is_nested(array.type) and hasattr(array, "values"):
        return count_decoded_bytes(array.values) + int(array.nbytes)
    return int(array.nbytes)


def decode_batch(batch: pa.RecordBatch, types: pa.Schema) -> pa.RecordBatch:
    """Return a batch with the types that the file declares, instead of dictionaries."""
    pairs = zip(batch.columns, types, strict=True)
    columns = [array if array.type == field.type else array.cast(field.type) for array, field in pairs]
    return pa.RecordBatch.from_arrays(columns, schema=types)
