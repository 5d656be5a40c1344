"""Predictions drawn with characters."""

import io

import pytest
from rich.console import Console

from eddi import Interview, Variable
from eddi.cli.prediction_bars import PredictionBars


def draw(prediction):
    out = io.StringIO()
    PredictionBars.from_prior(prediction).print(Console(file=out, width=100), prediction, with_name=True)
    return out.getvalue()


def test_the_scale_contains_the_interval_of_the_prior(model):
    prior = Interview(model, "weight").predict()
    bars = PredictionBars.from_prior(prior)
    assert bars.low < prior.interval[0] < prior.interval[1] < bars.high
    assert "kg (90%: " in bars.summarize(prior)


def test_a_numeric_prediction_is_drawn_as_an_interval(model):
    text = draw(Interview(model, "weight").predict())
    assert "weight" in text
    assert "●" in text


def test_a_prediction_of_levels_has_a_bar_for_each_level(model):
    prediction = Interview(model, "smoker").predict()
    text = draw(prediction)
    assert "with probability" in text
    for probability in prediction.probabilities:
        assert f"{probability:.0%}" in text


@pytest.mark.parametrize(
    ("bars", "effect", "text"),
    [
        (PredictionBars(Variable("x", "binary", ("no", "yes"))), 0.25, "+25 points"),
        (PredictionBars(Variable("x", "binary", ("no", "yes"))), -0.001, "+0 points"),
        (PredictionBars(Variable("x", "real"), 0, 1), -0.25, "-0.25"),
        (PredictionBars(Variable("x", "real"), 0, 100), -0.2, "+0"),
    ],
)
def test_an_effect_is_formatted_with_its_sign(bars, effect, text):
    assert bars.format_effect(effect) == text


def test_a_survival_prediction_is_drawn_as_a_curve(survival_model):
    prediction = Interview(survival_model, "death").predict()
    text = draw(prediction)
    assert f"risk {prediction.risk(50):.0%} up to 50" in text
    assert text.count("no event up to") == 5
