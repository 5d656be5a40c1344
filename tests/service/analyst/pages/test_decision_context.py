"""One step of an interview in words and pictures."""

import numpy as np
import pytest

from eddi.service.analyst.decision import Trail
from eddi.service.analyst.pages import decision_context as showing
from eddi.table import formats


@pytest.fixture(scope="module")
def row(people):
    return formats.read(people(5, seed=9, holes=0.0)).slice(2, 1)


@pytest.fixture(scope="module")
def trail(model, row):
    return Trail.of(model, row, "age")


@pytest.fixture(scope="module")
def of_levels(model, row):
    return Trail.of(model, row, "stage")


def beliefs(trail, *steps):
    styles = ("before", "after")
    return [
        (style, style, trail.seen[[step]], trail.beliefs[step])
        for style, step in zip(styles, steps, strict=True)
    ]


def test_bars_are_sorted_and_begin_at_nothing(trail):
    found = showing.worths(trail, 1)
    assert [one.chosen for one in found] == [True] + [False] * (len(found) - 1)
    zeros = {round(one.start if not one.less else one.start + one.share, 1) for one in found}
    assert max(zeros) - min(zeros) <= 0.1
    ends = [one.start + one.share for one in found if not one.less]
    assert ends == sorted(ends, reverse=True)
    assert all(0 <= one.start <= one.start + one.share <= 100.01 for one in found)


def test_each_question_shows_the_answer_expected_and_given(trail):
    by_name = {one.name: one.expected[0] for one in showing.worths(trail, 0)}
    assert by_name["weight"].outline
    assert by_name["weight"].columns == ()
    assert "It was" in by_name["weight"].words
    town = by_name["town"]
    assert town.outline == ""
    assert sum(height for _, _, height in town.columns) == pytest.approx(showing.SMALL_HEIGHT, abs=0.1)
    for one in by_name.values():
        assert 0 <= one.truth <= showing.SMALL_WIDTH


def test_estimates_below_nothing_are_told_apart():
    worth = showing.rivals({"a": 0.2, "b": -0.05}, {"a": "A?", "b": "B?"}, {"a": 0.1})
    assert [one.less for one in worth] == [False, True]
    assert [one.name for one in worth] == ["was 0.100", "could not be asked"]
    assert (worth[0].start, worth[0].share) == (20.0, 80.0)
    assert (worth[1].start, worth[1].share) == (0.0, 20.0)


def test_a_quantity_is_drawn_and_levels_are_counted(trail, of_levels):
    drawn = showing.moved(trail, beliefs(trail, 0, 2))
    assert [one.style for one in drawn.picture.outlines] == ["before", "after"]
    assert drawn.picture.truth is not None
    assert "The truth:" in drawn.picture.words
    counted = showing.moved(of_levels, beliefs(of_levels, 0, 2))
    assert counted.picture is None
    assert sum(one.true for one in counted.bars) == 1
    for place in (0, 1):
        assert sum(one.shares[place][1] for one in counted.bars) == pytest.approx(100, abs=0.1)


def test_the_course_marks_where_we_are(trail, of_levels):
    quantity = showing.course(trail, 2)
    assert [one.style for one in quantity.series] == ["truth", "eddi"]
    assert quantity.series[1].band
    xs = [dot.x for dot in quantity.series[1].dots]
    assert quantity.mark == xs[2]
    level = showing.course(of_levels, 0)
    assert level.y_title.startswith("probability of ")
    assert [tick.words for tick in level.up][::5] == ["0", "1"]


def test_what_an_answer_did_is_said(trail):
    change, told = showing.verdict(trail, 0)
    assert change.startswith("The answer ")
    assert "nats, and moved the belief by" in told


def test_what_is_true_is_said(trail, of_levels, model, row):
    assert showing.truth_words(trail).endswith(" years")
    assert showing.truth_words(of_levels) in ("Early", "Late", "Last")
    hidden = {name: row[name].to_pylist() for name in row.column_names} | {"age": [None]}
    assert showing.truth_words(Trail.of(model, formats.read(hidden), "age")) == "not known"


def test_worths_are_written_with_a_true_minus():
    assert showing.nats_words(-0.0004) == "0.000"
    assert showing.nats_words(-0.25) == "\u22120.250"
    assert not np.isnan(float(showing.nats_words(1.5)))
