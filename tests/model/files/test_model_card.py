"""The model card: what people read before they trust a model."""

import numpy as np

from eddi import PartialVAE, Schema, Variable
from eddi.model.files.model_card import card


def test_the_card_tells_what_the_model_is_and_was_trained_on(model):
    text = card(model)
    assert "- Target: none declared; any variable can be one" in text
    assert "- Variables: 8 (2 real, 2 ordinal, 2 category, 1 count, 1 binary)" in text
    assert "- Rows: 300" in text
    assert f"`{model.fingerprint_}`" in text
    assert "- Steps: 200 in" in text
    assert "How well hidden entries of validation rows are foretold" in text


def test_the_card_lists_every_variable_with_its_values(model):
    text = card(model)
    assert "| pain | ordinal | none, mild, strong, worst |" in text
    assert "| age | real | any |" in text


def test_the_card_says_what_was_set_aside_and_why(model):
    assert "- name: every value is different" in card(model)


def test_the_card_names_a_declared_target_and_says_when_nothing_was_held_out(people_model):
    text = card(people_model(recipe="paper", target="pain"))
    assert "- Target: pain" in text
    assert "No rows were held out for validation" in text


def test_a_name_cannot_break_the_cards_table():
    schema = Schema((Variable("a|b\nc", "real", low=0.0, high=2.0, unit="kg"), Variable("d", "real")))
    numbers = np.random.default_rng(0).random((30, 2))
    table = {"a|b\nc": numbers[:, 0], "d": numbers[:, 1]}
    text = card(PartialVAE(schema, max_steps=1).fit(table))
    assert "| a\\|b c | real | 0 to 2 kg |" in text
