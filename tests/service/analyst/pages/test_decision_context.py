"""One step of an interview as texts and charts."""

import math

import pytest

from eddi.service.analyst.models.decision_path import DecisionPath
from eddi.service.analyst.pages import decision_context as view
from eddi.service.analyst.pages.decision_context import TargetPrediction
from eddi.table import formats


@pytest.fixture(scope="module")
def row(people):
    return formats.read(people(5, seed=9, missing=0.0)).slice(2, 1)


@pytest.fixture(scope="module")
def path(model, row):
    return DecisionPath.from_row(model.fitted(), row, "age")


@pytest.fixture(scope="module")
def level_path(model, row):
    return DecisionPath.from_row(model.fitted(), row, "stage")


def predictions_at(path, *steps):
    return [
        TargetPrediction(style, style, path.evidence[[step]], path.predictions[step])
        for style, step in zip(("before", "after"), steps, strict=True)
    ]


def test_reward_bars_are_sorted_and_begin_at_zero(path):
    items = view.list_rewards(path, 1)
    assert [item.is_chosen for item in items] == [True] + [False] * (len(items) - 1)
    zeros = [item.start + item.length if item.is_negative else item.start for item in items]
    assert max(zeros) - min(zeros) <= 0.1
    ends = [item.start + item.length for item in items if not item.is_negative]
    assert ends == sorted(ends, reverse=True)
    assert all(0 <= item.start <= item.start + item.length <= 100.01 for item in items)


def test_each_question_shows_the_predicted_and_the_actual_answer(path):
    by_name = {item.name: item.expected[0] for item in view.list_rewards(path, 0)}
    assert by_name["weight"].outline
    assert by_name["weight"].columns == ()
    assert "The answer was" in by_name["weight"].description
    town = by_name["town"]
    assert town.outline == ""
    assert sum(height for _, _, height in town.columns) == pytest.approx(view.SMALL_HEIGHT, abs=0.1)
    for expected in by_name.values():
        assert 0 <= expected.truth <= view.SMALL_WIDTH


def test_negative_estimates_are_marked():
    texts = {"a": "A?", "b": "B?"}
    items = view.list_what_if_rewards({"a": 0.2, "b": -0.05}, texts, {"a": 0.1}, chosen="b")
    assert [item.is_negative for item in items] == [False, True]
    assert [item.is_chosen for item in items] == [False, True]
    assert [item.note for item in items] == ["was 0.144", "could not be asked"]
    assert (items[0].start, items[0].length) == (20.0, 80.0)
    assert (items[1].start, items[1].length) == (0.0, 20.0)


def test_predictions_of_a_quantity_are_compared_as_densities(path):
    comparison = view.compare_predictions(path, predictions_at(path, 0, 2))
    assert [outline.style for outline in comparison.chart.outlines] == ["before", "after"]
    assert comparison.chart.truth is not None
    assert "The truth:" in comparison.chart.description


def test_predictions_of_levels_are_compared_as_bars(level_path):
    comparison = view.compare_predictions(level_path, predictions_at(level_path, 0, 2))
    assert comparison.chart is None
    assert sum(level.is_true for level in comparison.levels) == 1
    for n in (0, 1):
        assert sum(level.bars[n][1] for level in comparison.levels) == pytest.approx(100, abs=0.1)


def test_the_history_marks_the_present_step(path, level_path):
    quantity = view.history_chart(path, 2)
    assert [line.style for line in quantity.lines] == ["truth", "eddi"]
    assert quantity.lines[1].band
    assert quantity.marker == quantity.lines[1].dots[2].x
    level = view.history_chart(level_path, 0)
    assert level.y_title.startswith("probability of ")
    assert [tick.label for tick in level.y_ticks][::5] == ["0", "1"]


def test_the_effect_of_an_answer_is_described(path):
    change, information = view.describe_effect(path, 0)
    assert change.startswith("The answer ")
    assert information.startswith("The expected information was ")


def test_the_truth_is_formatted(path, level_path, model, row):
    assert view.format_truth(path).endswith(" years")
    assert view.format_truth(level_path) in ("Early", "Late", "Last")
    hidden = {name: row[name].to_pylist() for name in row.column_names} | {"age": [None]}
    assert (
        view.format_truth(DecisionPath.from_row(model.fitted(), formats.read(hidden), "age"))
        == "not known"
    )


def test_rewards_are_formatted_with_a_true_minus_sign():
    assert view.format_information(-0.0003) == "0.000"
    assert view.format_information(-0.25) == "\u22120.361"
    assert view.format_information(math.log(2)) == "1.000"
