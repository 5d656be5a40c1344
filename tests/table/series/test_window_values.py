"""Values of the windows at decision times."""

import numpy as np

from eddi.table.series import window_values
from eddi.table.series.decision_rows import Series
from eddi.table.series.row_layout import RowLayout
from eddi.table.series.window_values import Decisions, fill_windows


def test_an_age_at_the_edge_of_a_window_belongs_to_it(long_table, long_schema):
    (measurements,) = Series(long_table.take([3])).iter_measurements(long_schema)
    row = fill_windows(RowLayout(long_schema), measurements, Decisions(np.array([0]), np.array([8.5])))
    assert row[0, long_schema.position("hr")] == 90
    later = Decisions(np.array([0]), np.array([8.6]))
    row = fill_windows(RowLayout(long_schema), measurements, later)
    assert row[0, long_schema.position("hr 1-4 h ago")] == 90


def test_rows_do_not_depend_on_how_many_are_filled_at_once(long_table, long_schema, monkeypatch):
    (measurements,) = Series(long_table).iter_measurements(long_schema)
    decisions = Decisions(np.array([0, 0, 1, 1]), np.array([4.0, 8.0, 4.0, 8.0]))
    together = fill_windows(RowLayout(long_schema), measurements, decisions)
    monkeypatch.setattr(window_values, "MAX_PAIRS", 3)
    np.testing.assert_array_equal(
        fill_windows(RowLayout(long_schema), measurements, decisions), together
    )
