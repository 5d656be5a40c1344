"""The card of a model, as the page shows it."""

import pytest

from eddi.service.analyst.model_viewer import Exhibits
from eddi.service.analyst.pages import model_card
from eddi.table.variable import Variable


@pytest.fixture(scope="module")
def shown(gallery):
    exhibits = Exhibits(gallery)
    exhibit = exhibits.get(gallery.seals["stage"])
    return model_card.facts(exhibit, exhibits.evaluation(exhibit.made))


def test_every_variable_is_listed_with_its_question_and_cost(shown):
    lines = {line.name: line for line in shown["variables"]}
    assert lines["weight"].question == "What do you weigh?"
    assert (lines["weight"].cost, lines["age"].cost) == ("4", "1")
    assert lines["stage"].is_target
    assert (lines["stage"].question, lines["stage"].cost) == ("", "")
    assert lines["pain"].values == "none, mild, strong, worst"
    assert shown["costs_differ"]


def test_facts_and_evaluation_are_there(shown):
    figures = dict(shown["figures"])
    assert figures["Target"] == "stage"
    assert (figures["Rows held out"], figures["Questions"], figures["Variables"]) == ("20", "7", "8")
    assert figures["Rows learned from"] == "300"
    assert shown["evaluated"]
    assert "guessed rightly" in shown["headline"][0]
    assert shown["training"].series
    assert shown["set_aside"][0].name == "name"


def test_a_model_that_was_not_judged_says_so(gallery):
    shown = model_card.facts(Exhibits(gallery).get(gallery.seals["new"]), None)
    assert (shown["evaluated"], shown["curve"], shown["headline"]) == (False, None, [])
    assert "(with others)" in {line.name: line.question for line in shown["variables"]}["weight"]


@pytest.mark.parametrize(
    ("variable", "words"),
    [
        (Variable("x", "real"), "any"),
        (Variable("x", "real", low=1, high=2.5, unit="kg"), "between 1 and 2.5, in kg"),
        (Variable("x", "count", high=3), "between 0 and 3"),
        (Variable("x", "category", levels=tuple("abcdefgh")), "a, b, c, d, e, f and 2 more"),
    ],
)
def test_values_are_said_in_words(variable, words):
    assert model_card.values(variable) == words


def test_rules_of_a_question_are_said(model):
    schema = model.schema_.with_question("pain", requires={"smoker": "yes"}, always=True)
    assert model_card._rules(schema.question("pain")) == "always asked; only if smoker is yes"
