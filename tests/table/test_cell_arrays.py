"""Columns of cells."""

from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from eddi.table.cell_arrays import cells_to_array

LOCAL, AWARE = datetime(2024, 1, 1), datetime(2024, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("make", [list, lambda cells: pd.Series(cells, dtype=object)])
def test_dates_of_which_some_have_a_time_zone_become_text(make):
    assert cells_to_array(make([LOCAL, None, AWARE])).to_pylist() == [
        "2024-01-01 00:00:00",
        None,
        "2024-01-01 00:00:00+00:00",
    ]


def test_dates_that_all_have_a_time_zone_or_none_stay_dates():
    for cells in ([LOCAL, None], [AWARE, AWARE], pd.Series([LOCAL, pd.NaT])):
        assert pa.types.is_timestamp(cells_to_array(cells).type)


def test_cells_of_mixed_types_become_text():
    assert cells_to_array([1.0, "a", None]).to_pylist() == ["1", "a", None]


def test_numbers_stay_numbers():
    assert cells_to_array(np.array([1.5, 2])).to_pylist() == [1.5, 2]
