"""The columns and bins of a survival variable."""

import pytest

from eddi import Survival
from eddi.errors import SchemaError


def test_bins_are_described_in_words():
    survival = Survival("days", "died", edges=[30, 60.5])
    assert survival.bin_labels("days") == ("up to 30 days", "30 to 60.5 days", "after 60.5 days")


def test_close_edges_have_different_labels():
    survival = Survival("days", "died", edges=[1000.0001, 1000.0002])
    assert len(set(survival.bin_labels())) == 3


def test_without_edges_there_are_no_bins():
    assert Survival("days", "died").bin_labels() == ()


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
