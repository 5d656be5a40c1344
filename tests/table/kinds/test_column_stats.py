"""Statistics collected in batches equal those of the whole column."""

import numpy as np
import pyarrow as pa
import pytest

from eddi.table import formats
from eddi.table.infer import infer, infer_stream
from eddi.table.kinds.column_stats import ColumnStats

RNG = np.random.default_rng(0)
N_ROWS = 600
TABLE = formats.read(
    {
        "real": RNG.normal(50, 10, N_ROWS).round(2),
        "sparse": np.where(RNG.random(N_ROWS) < 0.7, np.nan, RNG.normal(size=N_ROWS)),
        "count": RNG.poisson(RNG.gamma(1.0, 2.0, N_ROWS)),
        "age": RNG.integers(18, 90, N_ROWS),
        "flag": RNG.random(N_ROWS) < 0.5,
        "pair": RNG.choice([1.5, 2.5], N_ROWS),
        "scale": RNG.integers(1, 6, N_ROWS),
        "yes or no": RNG.choice(["Yes", "yes", "NO", "no", "?", ""], N_ROWS),
        "level": RNG.choice(["low", "medium", "high"], N_ROWS),
        "town": RNG.choice([f"town {n}" for n in range(20)], N_ROWS),
        "numeric text": RNG.integers(0, 500, N_ROWS).astype(str),
        "row": np.arange(1, N_ROWS + 1),
        "patient_id": RNG.permutation(N_ROWS) * 7,
        "name": [f"person {n}" for n in range(N_ROWS)],
        "prose": [f"this patient said {n} and left" for n in range(N_ROWS)],
        "late text": ["12"] * (N_ROWS - 1) + ["twelve"],
        "empty": pa.nulls(N_ROWS),
        "constant": [3] * N_ROWS,
        "day": ["2024-01-02", "2023-05-06", "2020-01-01"] * (N_ROWS // 3),
    }
)


def iter_batches(table, size):
    return (table.slice(start, size) for start in range(0, table.num_rows, size))


@pytest.mark.parametrize("size", [17, 250])
def test_a_table_in_batches_has_the_schema_of_the_whole_table(size):
    assert infer_stream(TABLE.schema, iter_batches(TABLE, size)) == infer(TABLE)


def test_ordered_levels_are_collected_from_all_batches_in_order():
    levels = pa.array(["low", "high"])
    stats = ColumnStats()
    for codes in ([0, 0], [1, None]):
        batch = pa.DictionaryArray.from_arrays(pa.array(codes), levels, ordered=True)
        stats.update(pa.chunked_array([batch]))
    assert (stats.ordered_levels, stats.n_rows, stats.n_observed) == (("low", "high"), 4, 3)
    counts = dict(zip(stats.values.to_pylist(), stats.counts.tolist(), strict=True))
    assert counts == {"low": 2, "high": 1}


@pytest.mark.parametrize("name", ["age", "patient_id", "name", "prose", "row"])
def test_the_first_values_suffice_to_infer_a_column_with_too_many_to_count(name):
    table = TABLE.select([name, "real"])
    partial = infer_stream(table.schema, iter_batches(table, 50), max_values=40)
    whole = infer(table)
    kinds = [[(v.name, v.kind, v.low, v.high) for v in schema.variables] for schema in (partial, whole)]
    assert kinds[0] == kinds[1]
    names = [[column.name for column in schema.set_aside] for schema in (partial, whole)]
    assert names[0] == names[1]


def test_the_range_covers_all_rows_even_if_only_a_few_values_are_counted():
    table = formats.read({"age": [*range(100), 5_000]})
    (age,) = infer_stream(table.schema, iter_batches(table, 10), max_values=20).variables
    assert age.high >= 5_000


def test_a_single_word_in_a_late_batch_makes_numeric_text_a_text_column():
    table = formats.read({"v": [*map(str, range(100)), "many"], "w": np.arange(101) + 0.5})
    numeric = infer_stream(
        table.slice(0, 100).schema, iter_batches(table.slice(0, 100), 20), max_values=70
    )
    assert numeric.set_aside[0].reason == "numbers the rows from 0 to 99"
    schema = infer_stream(table.schema, iter_batches(table, 20), max_values=70)
    assert schema.set_aside[0].reason == "every value is different"
