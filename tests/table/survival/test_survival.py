"""The columns and bins of a survival variable."""

import pytest

from eddi import Survival
from eddi.errors import SchemaError


def test_there_is_an_open_bin_after_the_last_edge():
    assert Survival("days", "died", edges=[30, 60.5]).n_bins == 3
    assert Survival("days", "died").n_bins == 0


def test_a_time_and_an_event_are_different_columns():
    with pytest.raises(SchemaError, match="two different columns: a time and an event, got 'days'"):
        Survival("days", "days")


def test_edges_must_ascend():
    with pytest.raises(SchemaError, match="edges must be in ascending order"):
        Survival("days", "died", edges=[30, 20])


def test_horizons_must_be_above_zero():
    with pytest.raises(SchemaError, match=r"horizons must be times above 0, got \[0.0\]"):
        Survival("days", "died", horizons=[0])


def test_given_horizons_are_shown():
    assert Survival("days", "died", horizons=[365], edges=[10, 500]).shown_horizons == (365,)


def test_horizons_are_rounded_times_of_events_if_none_are_given():
    survival = Survival("days", "died", edges=[103, 212, 341, 467, 583, 702])
    assert survival.shown_horizons == (300, 500)


def test_the_horizon_of_very_few_bins_is_within_them():
    assert Survival("days", "died", edges=[0.97, 0.98]).shown_horizons == (0.98,)
