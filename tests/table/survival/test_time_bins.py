"""Times and events as numbers."""

import numpy as np
import pytest

from eddi.errors import TableError
from eddi.table.survival.time_bins import SurvivalTimes

NAN = np.nan


def times(values, events):
    """Times of rows, with events as 0 and 1."""
    return SurvivalTimes(np.array(values, float), np.array(events, float))


def check(values, events, entries=None):
    """Checked times of a table."""
    arrays = [None if part is None else np.array(part, float) for part in (values, events, entries)]
    return SurvivalTimes.check("death", *arrays)


def test_an_event_is_near_the_position_of_its_bin():
    numbers = times([5, 10, 10.5, 25], [1, 1, 1, 1]).to_numbers((10.0, 20.0))
    assert np.allclose(numbers, [0.1, 0.2, 1.01, 2])


def test_times_and_events_are_recovered_from_numbers():
    random = np.random.default_rng(0)
    original = times([0, 10, *random.uniform(0, 30, 40)], random.integers(0, 2, 42))
    edges = (10.0, 20.0, 30.0)
    numbers = original.to_numbers(edges).astype(np.float32).astype(float)
    recovered = SurvivalTimes.from_numbers(numbers, edges)
    assert np.allclose(recovered.times, original.times, atol=1e-4)
    assert recovered.events.tolist() == original.events.tolist()


def test_times_after_the_last_edge_become_that_edge():
    recovered = SurvivalTimes.from_numbers(np.array([2.0, 1.25, NAN]), (10.0, 20.0))
    assert recovered.times[:2].tolist() == [20, 20]
    assert recovered.events[:2].tolist() == [1, 0]
    assert not recovered.is_known[2]


def test_a_censored_time_lies_between_the_positions_of_bins():
    numbers = times([0, 5, 10, 15, 30], [0, 0, 0, 0, 0]).to_numbers((10.0, 20.0))
    assert numbers.tolist() == [-0.75, -0.5, 0.25, 0.5, 1.25]


def test_an_unknown_time_has_no_number():
    assert np.isnan(times([NAN], [NAN]).to_numbers((10.0,))).all()


def test_without_edges_no_row_has_a_number():
    assert np.isnan(times([3.0], [1]).to_numbers(())).all()


def test_bins_have_about_equally_many_events_and_end_with_the_last():
    values = np.arange(1.0, 61.0)
    edges = times(values, np.ones(60)).find_edges("death")
    counts = np.diff(np.searchsorted(values, (0, *edges), side="right"))
    assert len(edges) == 10
    assert counts.tolist() == [6] * 10
    assert edges[-1] == 60


def test_censored_times_do_not_move_the_bins():
    without = times([1, 2, 3, 4], [1, 1, 1, 1]).find_edges("death")
    with_censored = times([1, 2, 3, 4, 9, 9], [1, 1, 1, 1, 0, 0]).find_edges("death")
    assert with_censored == without


def test_all_censored_is_an_error():
    with pytest.raises(TableError, match="no events: all 2 rows with a time are censored"):
        times([1, 2], [0, 0]).find_edges("death")


def test_one_event_is_an_error():
    with pytest.raises(TableError, match="only one event among 2 rows"):
        times([1, 2], [1, 0]).find_edges("death")


def test_events_at_one_time_are_an_error():
    with pytest.raises(TableError, match="3 events, all at the same time"):
        times([2, 2, 2], [1, 1, 1]).find_edges("death")


def test_a_negative_time_is_an_error():
    with pytest.raises(TableError, match=r"'death': row 2 has the time -3\. Times are counted from 0"):
        check([1, -3], [1, 0])


def test_the_number_of_wrong_rows_is_given():
    with pytest.raises(TableError, match="There are 2 such rows"):
        check([-1, -3], [1, 0])


def test_a_time_without_an_event_is_an_error():
    with pytest.raises(TableError, match="row 1 has the time 4, but no value that says whether"):
        check([4], [NAN])


def test_an_event_without_a_time_is_an_error():
    with pytest.raises(TableError, match="row 1 has an event, but no time"):
        check([NAN], [1])


def test_an_end_before_the_entry_is_an_error():
    with pytest.raises(TableError, match="row 1 ends at 2000, before its entry at 2005"):
        check([2000], [1], [2005])


def test_a_time_without_an_entry_is_an_error():
    with pytest.raises(TableError, match="row 2 has a time, but no entry"):
        check([2010, 2012], [1, 0], [2005, NAN])


def test_messages_name_the_person_and_count_the_others():
    message = r"'death': person 'b' has the time -2\..* There are 2 such persons\."
    with pytest.raises(TableError, match=message):
        SurvivalTimes.check("death", np.array([1.0, -2, -3]), np.ones(3), persons=["a", "b", "c"])


def test_times_are_counted_from_the_entry():
    assert check([2010], [1], [2005]).times.tolist() == [5]


def test_rows_to_predict_may_have_times_that_are_not_valid():
    read = SurvivalTimes.read(np.array([-1.0, 2.0]), np.array([1.0, NAN]))
    assert not read.is_known.any()


def test_parts_are_joined_in_order():
    joined = SurvivalTimes.concatenate([times([1], [1]), times([2], [0])])
    assert joined.times.tolist() == [1, 2]
    assert joined.events.tolist() == [1, 0]
