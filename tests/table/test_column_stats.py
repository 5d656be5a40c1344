"""A column counted in parts is the column counted whole."""

import numpy as np
import pyarrow as pa
import pytest

from eddi.table import formats
from eddi.table.column_stats import Census
from eddi.table.infer import infer, infer_stream

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
        "words": RNG.choice(["Yes", "yes", "NO", "no", "?", ""], N_ROWS),
        "level": RNG.choice(["low", "medium", "high"], N_ROWS),
        "town": RNG.choice([f"town {n}" for n in range(20)], N_ROWS),
        "numeric words": RNG.integers(0, 500, N_ROWS).astype(str),
        "row": np.arange(1, N_ROWS + 1),
        "patient_id": RNG.permutation(N_ROWS) * 7,
        "name": [f"person {n}" for n in range(N_ROWS)],
        "prose": [f"this one said {n} and went away" for n in range(N_ROWS)],
        "late words": ["12"] * (N_ROWS - 1) + ["twelve"],
        "empty": pa.nulls(N_ROWS),
        "same": [3] * N_ROWS,
        "day": ["2024-01-02", "2023-05-06", "2020-01-01"] * (N_ROWS // 3),
    }
)


def in_parts(table, size):
    return (table.slice(start, size) for start in range(0, table.num_rows, size))


@pytest.mark.parametrize("size", [17, 250])
def test_a_table_in_parts_has_the_schema_of_the_whole(size):
    assert infer_stream(TABLE.schema, in_parts(TABLE, size)) == infer(TABLE)


def test_ordered_levels_are_those_of_all_parts_in_their_order():
    levels = pa.array(["low", "high"])
    parts = [
        pa.chunked_array([pa.DictionaryArray.from_arrays(pa.array(places), levels, ordered=True)])
        for places in ([0, 0], [1, None])
    ]
    census = Census()
    for part in parts:
        census.add(part)
    assert (census.ordered, census.n_rows, census.n_known) == (("low", "high"), 4, 3)
    assert dict(zip(census.values.to_pylist(), census.counts.tolist(), strict=True)) == {
        "low": 2,
        "high": 1,
    }


@pytest.mark.parametrize("name", ["age", "patient_id", "name", "prose", "row"])
def test_what_has_more_values_than_are_counted_is_judged_the_same_by_fewer(name):
    table = TABLE.select([name, "real"])
    few = infer_stream(table.schema, in_parts(table, 50), most=40)
    whole = infer(table)
    kinds = [[(v.name, v.kind, v.low, v.high) for v in schema.variables] for schema in (few, whole)]
    assert kinds[0] == kinds[1]
    assert [one.name for one in few.set_aside] == [one.name for one in whole.set_aside]


def test_the_bounds_are_those_of_all_rows_however_few_values_are_counted():
    table = formats.read({"age": [*range(100), 5_000]})
    (age,) = infer_stream(table.schema, in_parts(table, 10), most=20).variables
    assert age.high >= 5_000


def test_a_word_that_comes_late_makes_numeric_words_words():
    table = formats.read({"v": [*map(str, range(100)), "many"], "w": np.arange(101) + 0.5})
    numeric = infer_stream(table.slice(0, 100).schema, in_parts(table.slice(0, 100), 20), most=70)
    assert numeric.set_aside[0].reason == "numbers the rows from 0 to 99"
    schema = infer_stream(table.schema, in_parts(table, 20), most=70)
    assert schema.set_aside[0].reason == "every value is different"
