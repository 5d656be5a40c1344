"""The data of a model card."""

from dataclasses import replace

import pytest

from eddi.service.analyst.models.model_viewer import ModelViewer
from eddi.service.analyst.pages import model_card
from eddi.table.variable import Variable


@pytest.fixture(scope="module")
def card(gallery):
    viewer = ModelViewer(gallery)
    loaded = viewer.load(gallery.digests["stage"])
    return model_card.build_context(loaded, viewer.evaluation(loaded.origin))


def test_every_variable_is_listed_with_its_question_and_cost(card):
    items = {item.name: item for item in card["variables"]}
    assert items["weight"].question == "What do you weigh?"
    assert (items["weight"].cost, items["age"].cost) == ("4", "1")
    assert items["stage"].is_target
    assert (items["stage"].question, items["stage"].cost) == ("", "")
    assert items["pain"].values == "none, mild, strong, worst"
    assert card["costs_differ"]


def test_the_card_has_properties_training_and_evaluation(card):
    facts = dict(card["facts"])
    assert facts["Target"] == "stage"
    assert (facts["Held-out rows"], facts["Questions"], facts["Variables"]) == ("20", "7", "8")
    assert facts["Training rows"] == "300"
    assert card["is_evaluated"]
    assert "of predictions are correct" in card["summary"][0]
    assert card["training"].lines
    assert card["set_aside"][0].name == "name"


def test_the_quality_and_the_warnings_are_those_of_the_fit_report(gallery):
    model = ModelViewer(gallery).load(gallery.digests["stage"])
    training = replace(model.model.training, warnings=("There are few rows.",))
    card = model_card.build_context(replace(model, model=replace(model.model, training=training)), None)
    assert card["qualities"] == [("stage", model.model.quality["stage"].describe())]
    assert card["qualities"][0][1][0].endswith("that the model was not trained on (test rows).")
    assert card["warnings"] == ("There are few rows.",)


def test_a_model_that_was_not_evaluated_has_no_curve(gallery):
    card = model_card.build_context(ModelViewer(gallery).load(gallery.digests["new"]), None)
    assert (card["is_evaluated"], card["curve"], card["summary"]) == (False, None, [])
    assert "(with others)" in {item.name: item.question for item in card["variables"]}["weight"]


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        (Variable("x", "real"), "any"),
        (Variable("x", "real", low=1, high=2.5, unit="kg"), "1 to 2.5 kg"),
        (Variable("x", "count", high=3), "0 to 3"),
        (Variable("x", "category", levels=tuple("abcdefgh")), "a, b, c, d, e, f and 2 more"),
    ],
)
def test_values_are_described(variable, text):
    assert model_card.describe_values(variable) == text


def test_the_rules_of_a_question_are_described(model):
    schema = model.schema_.with_question("pain", requires={"smoker": "yes"}, always=True)
    assert model_card.describe_rules(schema.question("pain")) == "always asked; only if smoker = yes"
