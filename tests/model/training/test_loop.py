"""The training loop: repeatable, resumable, and honest about when to stop."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from eddi import PartialVAE
from eddi.errors import TrainingError
from eddi.model.recipe import DEFAULT, PAPER
from eddi.model.training.loop import (
    CALIBRATION_ROWS,
    MAX_VALIDATION_ROWS,
    _Examination,
    draw_kept,
    learning_rate,
)
from eddi.table.evidence import Evidence

SMALL = replace(DEFAULT, latent=4, identity=4, term=16, hidden=(16, 16), batch_size=32)


def numbers(n_rows=80, seed=0):
    random = np.random.default_rng(seed)
    z = random.normal(size=(n_rows, 1))
    return z + 0.5 * random.normal(size=(n_rows, 4))


def fit(table, **settings):
    settings = {"recipe": SMALL, "max_steps": 150, "random_state": 0, **settings}
    return PartialVAE(**settings).fit(table)


def same_weights(one, two):
    ours, theirs = one.network_.state_dict(), two.network_.state_dict()
    return all(torch.equal(ours[key], theirs[key]) for key in ours)


def test_the_same_seed_gives_the_same_weights_bit_for_bit():
    assert same_weights(fit(numbers()), fit(numbers()))


def test_another_seed_gives_other_weights():
    assert not same_weights(fit(numbers()), fit(numbers(), random_state=1))


def test_training_leaves_the_global_random_numbers_alone():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    fit(numbers(), max_steps=5)
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize("recipe", [SMALL, replace(PAPER, learning_rate=1e-2)])
def test_training_lowers_the_loss(recipe):
    history = fit(numbers(), recipe=recipe, max_steps=400).history_
    assert history[-1].loss < history[0].loss - 0.1


def test_progress_is_told_after_every_round_and_remembered():
    told = []
    model = fit(numbers(), max_steps=250, on_progress=told.append)
    assert [progress.step for progress in told] == [100, 200, 250]
    assert model.history_ == told
    assert all(progress.max_steps == 250 for progress in told)


def test_training_stops_when_held_out_rows_no_longer_improve():
    recipe = replace(SMALL, learning_rate=0.0, weight_decay=0.0, patience=2)
    history = fit(numbers(), recipe=recipe, max_steps=5000).history_
    assert [progress.step for progress in history] == [100, 200, 300, 400]


def test_the_weights_kept_are_the_best_on_held_out_rows():
    history = fit(numbers(), max_steps=300).history_
    assert history[-1].best == max(progress.validation for progress in history)


def test_too_few_rows_to_hold_any_out_train_to_the_end():
    history = fit(numbers(20), max_steps=300).history_
    assert history[-1].step == 300
    assert history[-1].validation is None


def test_held_out_rows_that_hide_nothing_do_not_stop_training():
    history = fit(numbers(), recipe=replace(SMALL, max_missing=0.0), max_steps=1200).history_
    assert history[-1].step == 1200
    assert history[-1].validation is None
    assert history[-1].loss < history[0].loss


def test_the_paper_trains_for_exactly_its_steps():
    history = fit(numbers(), recipe="paper", max_steps=250).history_
    assert history[-1].step == 250
    assert history[-1].validation is None


def test_a_loss_that_is_no_number_is_refused_in_words():
    with pytest.raises(TrainingError, match=r"the loss became (nan|inf).*lower the learning rate"):
        fit(numbers(), recipe=replace(SMALL, learning_rate=1e12, clip=math.inf), max_steps=300)


def test_a_declared_target_changes_training_where_hidden_entries_are_scored():
    assert not same_weights(fit(numbers()), fit(numbers(), target="x0"))


def test_a_declared_target_does_not_change_the_papers_training():
    plain, aimed = (fit(numbers(), recipe="paper", target=target) for target in (None, "x0"))
    assert same_weights(plain, aimed)


@pytest.mark.parametrize(("recipe", "asked"), [(SMALL, [3]), (PAPER, [0, 1, 2, 3])])
def test_the_examination_asks_of_the_declared_target_where_hidden_entries_are_scored(recipe, asked):
    rows = Evidence.of(numbers(20))
    batch = _Examination(rows, recipe, 0, torch.device("cpu"), [3]).batch
    assert (batch.worth > 0).nonzero()[:, 0].tolist() == asked
    assert bool(batch.observed[:, 3].any()) == (recipe is PAPER)  # hidden wherever it is asked for
    without = _Examination(rows, recipe, 0, torch.device("cpu"), []).batch
    assert (without.worth > 0).all()


@pytest.mark.parametrize(
    ("n_variables", "at_least"), [(4, CALIBRATION_ROWS), (5_000, MAX_VALIDATION_ROWS)]
)
def test_calibration_sees_rows_in_more_ways_where_the_table_is_narrow(n_variables, at_least):
    rows = Evidence.of(np.zeros((20, n_variables)))
    batch = _Examination(rows, SMALL, 0, torch.device("cpu"), [3]).for_calibration()
    assert len(batch.values) == at_least


def test_the_cycle_warms_up_and_falls_to_nothing():
    rates = [learning_rate(replace(DEFAULT, max_steps=1000), step) for step in range(1000)]
    top = int(np.argmax(rates))
    assert 0 < rates[0] < 0.1 * DEFAULT.learning_rate
    assert max(rates) == pytest.approx(DEFAULT.learning_rate, rel=0.01)
    assert (np.diff(rates[:top]) > 0).all()
    assert (np.diff(rates[top:]) < 0).all()
    assert rates[-1] < 0.001 * DEFAULT.learning_rate


def test_the_papers_learning_rate_never_changes():
    assert {learning_rate(PAPER, step) for step in (0, 1500, 2999)} == {1e-3}


def test_the_hidden_share_is_uniform_up_to_its_limit():
    kept = draw_kept((200, 50, 40), PAPER, torch.Generator().manual_seed(0))
    hidden = 1 - kept.mean((1, 2))
    assert hidden.mean().item() == pytest.approx(0.35, abs=0.04)
    assert 0.6 < hidden.max().item() < 0.75


def test_rows_with_nothing_observed_occur_in_training():
    kept = draw_kept((20, 128, 10), DEFAULT, torch.Generator().manual_seed(0))
    seen = kept.sum(-1).flatten()
    assert (seen == 0).float().mean() > 0.03
    assert (seen == 10).float().mean() > 0.03


def test_the_papers_rate_is_one_for_each_batch_and_the_defaults_one_for_each_row():
    random = torch.Generator().manual_seed(0)
    by_batch, by_row = (draw_kept((1, 500, 400), recipe, random)[0] for recipe in (PAPER, DEFAULT))
    assert by_batch.mean(-1).std() < 0.05
    assert by_row.mean(-1).std() > 0.2
