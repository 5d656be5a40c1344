"""Recipes by name."""

from dataclasses import replace

import pytest

from eddi.errors import SchemaError
from eddi.model.recipe import (
    DEFAULT,
    LONGEST,
    PAPER,
    ROWS_A_KNOT,
    SHORTEST,
    check_set_encoder,
    for_rows,
    resolve,
)


def test_recipes_are_found_by_name():
    assert resolve("paper") is PAPER
    assert resolve("default") is DEFAULT


def test_a_recipe_of_ones_own_is_taken_as_it_is():
    mine = replace(DEFAULT, latent=3)
    assert resolve(mine) is mine


def test_an_unknown_recipe_is_refused_with_the_known_ones():
    with pytest.raises(SchemaError, match=r"one of 'default', 'paper' or an eddi Recipe, got 'soup'"):
        resolve("soup")


def test_an_unknown_set_encoder_is_refused_with_the_known_ones():
    with pytest.raises(SchemaError, match=r"one of 'zi', 'zi-m', 'pn', 'pnp', got 'rnn'"):
        check_set_encoder("rnn")


def test_the_papers_recipe_is_the_papers():
    facts = (PAPER.latent, PAPER.identity, PAPER.term, PAPER.hidden, PAPER.batch_size, PAPER.max_steps)
    assert facts == (10, 10, 20, (100, 50), 100, 3000)
    assert (PAPER.scaling, PAPER.objective, PAPER.rate_per) == ("unit", "observed", "batch")
    assert (PAPER.max_missing, PAPER.learning_rate, PAPER.schedule) == (0.7, 1e-3, "constant")


def test_no_draws_are_refused():
    with pytest.raises(SchemaError, match="draws must be at least 1, got 0"):
        replace(DEFAULT, draws=0)


def test_residual_blocks_of_different_widths_are_refused():
    with pytest.raises(SchemaError, match=r"equally wide, got \(64, 32\)"):
        replace(DEFAULT, hidden=(64, 32))


def test_large_tables_are_trained_longer_and_small_ones_shorter():
    steps = {n: for_rows(DEFAULT, n).max_steps for n in (5, 200, 1_000, 5_000, 20_000, 10**9)}
    assert steps[1_000] == steps[5_000] == DEFAULT.max_steps
    assert steps[200] == 1000 * 200 // DEFAULT.batch_size
    assert steps[20_000] == 50 * 20_000 // DEFAULT.batch_size
    assert steps[5] == DEFAULT.max_steps // SHORTEST
    assert steps[10**9] == DEFAULT.max_steps * LONGEST


def test_small_tables_have_stiffer_curves():
    assert for_rows(DEFAULT, 10_000).knots == DEFAULT.knots
    assert for_rows(DEFAULT, 10 * ROWS_A_KNOT).knots == 10


def test_the_papers_recipe_is_the_same_for_every_table():
    assert for_rows(PAPER, 20) == for_rows(PAPER, 10**6) == PAPER
