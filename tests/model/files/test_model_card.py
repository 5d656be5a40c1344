"""The model card, which people read before they use a model."""

import numpy as np
import pytest

from eddi import PartialVAE, Schema, Variable
from eddi.model.files.model_card import model_card


@pytest.fixture(scope="module")
def card(model):
    return model_card(model.fitted())


def test_the_card_describes_the_model_and_its_training(card, model):
    assert "- Target: none declared; any variable can be one" in card
    assert "- Variables: 8 (2 real, 2 ordinal, 2 category, 1 count, 1 binary)" in card
    assert "- Rows: 300" in card
    assert f"`{model.fingerprint_}`" in card
    assert "- Steps: 200 in" in card
    assert f"- Validation score: {model.history_[-1].best:.3f} per hidden entry" in card


def test_the_card_lists_every_variable_with_its_values(card):
    assert "| pain | ordinal | none, mild, strong, worst |" in card
    assert "| age | real | any |" in card


def test_the_card_lists_excluded_columns_with_the_reason(card):
    assert "- name: every value is different" in card


def test_the_card_names_a_declared_target_and_says_if_no_rows_were_held_out(people_model):
    card = model_card(people_model(recipe="paper", target="pain").fitted())
    assert "- Target: pain" in card
    assert "No rows were held out for validation" in card


def test_a_variable_name_cannot_break_the_table_of_the_card():
    schema = Schema((Variable("a|b\nc", "real", low=0.0, high=2.0, unit="kg"), Variable("d", "real")))
    numbers = np.random.default_rng(0).random((30, 2))
    table = {"a|b\nc": numbers[:, 0], "d": numbers[:, 1]}
    card = model_card(PartialVAE(schema, max_steps=1).fit(table).fitted())
    assert "| a\\|b c | real | 0 to 2 kg |" in card
