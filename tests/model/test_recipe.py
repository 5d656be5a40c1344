"""Recipes: names, limits, and the adaptation to the size of a table."""

from dataclasses import replace

import pytest

from eddi.errors import SchemaError
from eddi.model.recipe import (
    DEFAULT,
    MAX_STEPS_FACTOR,
    MIN_HOLD_OUT_ROWS,
    MIN_STEPS_DIVISOR,
    NO_TARGET_FACTOR,
    PAPER,
    ROWS_PER_KNOT,
    SMALL_PATIENCE,
    adapt_to_rows,
    check_set_encoder,
    resolve,
)


def test_training_without_a_declared_target_takes_more_steps_if_rows_are_held_out():
    longer = adapt_to_rows(DEFAULT, 1_000, has_target=False)
    assert longer.max_steps == NO_TARGET_FACTOR * adapt_to_rows(DEFAULT, 1_000).max_steps
    for recipe in (DEFAULT, replace(DEFAULT, folds=0)):
        assert adapt_to_rows(recipe, 100, has_target=False) == adapt_to_rows(recipe, 100)
    assert adapt_to_rows(PAPER, 1_000, has_target=False) == PAPER


def test_recipes_are_found_by_name():
    assert resolve("paper") is PAPER
    assert resolve("default") is DEFAULT


def test_a_recipe_object_is_used_as_it_is():
    custom = replace(DEFAULT, latent=3)
    assert resolve(custom) is custom


def test_an_unknown_recipe_is_refused_with_the_list_of_names():
    with pytest.raises(SchemaError, match=r"one of 'default', 'paper' or a Recipe, got 'soup'"):
        resolve("soup")


def test_an_unknown_set_encoder_is_refused_with_the_list_of_names():
    with pytest.raises(SchemaError, match=r"one of 'zi', 'zi-m', 'pn', 'pnp', 'precision', got 'rnn'"):
        check_set_encoder("rnn")


@pytest.mark.parametrize("name", ["zi", "zi-m", "pn", "pnp", "precision"])
def test_the_set_encoders_are_accepted(name):
    assert check_set_encoder(name) == name


def test_the_recipe_of_the_paper_has_the_settings_of_the_paper():
    sizes = (PAPER.latent, PAPER.identity, PAPER.term, PAPER.hidden, PAPER.batch_size, PAPER.max_steps)
    assert sizes == (10, 10, 20, (100, 50), 100, 3000)
    assert (PAPER.scaling, PAPER.objective, PAPER.rate_per) == ("unit", "observed", "batch")
    assert (PAPER.max_missing, PAPER.learning_rate, PAPER.schedule) == (0.7, 1e-3, "constant")


def test_fewer_than_one_draw_is_refused():
    with pytest.raises(SchemaError, match="draws must be at least 1, got 0"):
        replace(DEFAULT, draws=0)


def test_residual_blocks_of_different_widths_are_refused():
    with pytest.raises(SchemaError, match=r"must have the same width, got hidden=\(64, 32\)"):
        replace(DEFAULT, hidden=(64, 32))


def test_large_tables_are_trained_longer_and_small_ones_shorter():
    steps = {n: adapt_to_rows(DEFAULT, n).max_steps for n in (5, 200, 1_000, 5_000, 20_000, 10**9)}
    assert steps[1_000] == steps[5_000] == DEFAULT.max_steps
    assert steps[200] == 1000 * 200 // DEFAULT.batch_size
    assert steps[20_000] == 50 * 20_000 // DEFAULT.batch_size
    assert steps[5] == DEFAULT.max_steps // MIN_STEPS_DIVISOR
    assert steps[10**9] == DEFAULT.max_steps * MAX_STEPS_FACTOR


def test_small_tables_have_fewer_knots():
    assert adapt_to_rows(DEFAULT, 10_000).knots == DEFAULT.knots
    assert adapt_to_rows(DEFAULT, 10 * ROWS_PER_KNOT).knots == 10


def test_the_recipe_of_the_paper_is_the_same_for_every_table():
    assert adapt_to_rows(PAPER, 20) == adapt_to_rows(PAPER, 10**6) == PAPER


def test_cross_validation_of_a_small_table_stops_soon_after_the_best_round():
    assert adapt_to_rows(DEFAULT, 242).patience == SMALL_PATIENCE
    assert adapt_to_rows(DEFAULT, MIN_HOLD_OUT_ROWS).patience == DEFAULT.patience
