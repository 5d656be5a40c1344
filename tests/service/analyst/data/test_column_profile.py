"""What a column holds, in a few facts."""

import datetime

import pyarrow as pa

from eddi.service.analyst.column_profile import N_BARS, profile


def of(values):
    return profile(pa.chunked_array([pa.array(values)]))


def test_quantities_have_ends_and_a_histogram():
    facts = of([None, *[float(n) + 0.5 for n in range(100)]])
    assert (facts["missing"], facts["distinct"]) == (1, 100)
    assert (facts["low"], facts["high"]) == (0.5, 99.5)
    assert len(facts["bars"]) == N_BARS
    assert max(facts["bars"]) == 1


def test_an_outlier_does_not_hide_the_rest():
    facts = of([float(n % 20) for n in range(1000)] + [1e9])
    assert facts["high"] == 1e9
    assert sum(bar > 0 for bar in facts["bars"]) > 6


def test_words_have_their_commonest_values_first():
    facts = of(["no", "yes", "no", None, "NA", "no"])
    assert facts == {"missing": 2, "distinct": 2, "examples": ["no", "yes"], "bars": [1.0, 0.333]}


def test_nothing_and_what_cannot_be_modelled_are_no_error():
    assert of([None, None]) == {"missing": 2, "distinct": 0, "examples": [], "bars": []}
    assert of([datetime.date(2020, 1, 2)])["examples"] == ["2020-01-02"]
    assert of([[1, 2], None])["examples"] == ["[1, 2]"]
    assert of(["x" * 100])["examples"] == ["x" * 39 + "…"]
