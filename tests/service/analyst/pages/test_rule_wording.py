"""Stopping rules and strategies in words."""

import pytest

from eddi import Stop
from eddi.service.analyst.pages.rule_wording import describe_order, describe_stop
from eddi.service.web.languages.current import use_language
from eddi.service.web.languages.language import LANGUAGES
from eddi.strategy.names import DESCRIPTIONS


@pytest.mark.parametrize(
    "stop",
    [
        Stop(),
        Stop(after=1),
        Stop(after=5, probability_above=0.9),
        Stop(interval_below=2.5, sd_below=0.1),
        Stop(reward_below=0.1, budget=30),
        Stop(risk=0.05),
    ],
)
def test_english_words_are_those_of_the_library(stop):
    assert describe_stop(stop) == stop.summarize()


def test_rules_are_described_in_the_language():
    with use_language(LANGUAGES["de"]):
        text = describe_stop(Stop(after=2, sd_below=0.5))
        order = describe_order("random")
    assert text == "endet nach 2 Antworten oder wenn die Standardabweichung kleiner als 0,5 ist"
    assert order == "zufällige Reihenfolge"


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_every_strategy_is_described(name):
    assert describe_order(name).lower() == DESCRIPTIONS[name].lower()
