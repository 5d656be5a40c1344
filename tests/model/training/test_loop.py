"""The training loop: reproducible, with early stopping and progress reports."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from eddi import PartialVAE
from eddi.errors import TrainingError
from eddi.model.recipe import DEFAULT, PAPER
from eddi.model.training.loop import learning_rate

SMALL = replace(DEFAULT, latent=4, identity=4, term=16, hidden=(16, 16), batch_size=32, folds=0)

pytestmark = pytest.mark.usefixtures("short_rounds")


def draw_table(n_rows=80, seed=0):
    random = np.random.default_rng(seed)
    z = random.normal(size=(n_rows, 1))
    return z + 0.5 * random.normal(size=(n_rows, 4))


def draw_curved_table(n_rows=80):
    """A table in which the linear prediction, with which training starts, is not the best."""
    table = draw_table(n_rows)
    table[:, 0] = table[:, 1] ** 2 + 0.1 * table[:, 2]
    return table


def fit(table, **settings):
    settings = {"recipe": SMALL, "max_steps": 15, "random_state": 0, **settings}
    return PartialVAE(**settings).fit(table)


def have_equal_weights(first, second):
    ours, theirs = first.network_.state_dict(), second.network_.state_dict()
    return all(torch.equal(ours[key], theirs[key]) for key in ours)


def test_the_same_seed_gives_identical_weights():
    assert have_equal_weights(fit(draw_table()), fit(draw_table()))


def test_another_seed_gives_other_weights():
    assert not have_equal_weights(fit(draw_table()), fit(draw_table(), random_state=1))


def test_training_does_not_use_the_global_random_generator():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    fit(draw_table(), max_steps=5)
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize("recipe", [SMALL, replace(PAPER, learning_rate=1e-2)])
def test_training_lowers_the_loss(recipe):
    history = fit(draw_table(), recipe=recipe, max_steps=400).history_
    assert history[-1].loss < history[0].loss - 0.1


def test_progress_is_reported_after_every_round_and_kept():
    reported = []
    model = fit(draw_table(), max_steps=25, on_progress=reported.append)
    assert [progress.step for progress in reported] == [10, 20, 25]
    assert model.history_ == reported
    assert all(progress.max_steps == 25 for progress in reported)


def test_training_stops_when_the_validation_score_no_longer_improves():
    recipe = replace(SMALL, learning_rate=0.0, weight_decay=0.0, patience=2)
    history = fit(draw_table(), recipe=recipe, max_steps=5000).history_
    assert [progress.step for progress in history] == [10, 20, 30]  # none is better than the start


def test_the_best_validation_score_is_reported():
    history = fit(draw_table(), max_steps=30).history_
    assert history[-1].best == max(progress.validation for progress in history)


def test_the_best_weights_on_validation_rows_are_used():
    # A learning rate that soon overfits: the last weights are worse than earlier ones.
    recipe = replace(SMALL, schedule="constant", learning_rate=0.05, average=0, patience=100)
    model = fit(draw_curved_table(), recipe=recipe, max_steps=100, target="x0")
    best = next(p for p in model.history_ if p.validation == model.history_[-1].best)
    assert best.step < 100
    until_best = fit(draw_curved_table(), recipe=recipe, max_steps=best.step, target="x0")
    assert have_equal_weights(model, until_best)


def test_small_tables_without_validation_rows_train_to_the_end():
    history = fit(draw_table(20), max_steps=30).history_
    assert history[-1].step == 30
    assert history[-1].validation is None


def test_validation_rows_without_hidden_entries_do_not_stop_training():
    recipe = replace(SMALL, max_missing=0.0, patience=1)
    history = fit(draw_table(), recipe=recipe, max_steps=300).history_
    assert history[-1].step == 300
    assert history[-1].validation is None
    assert history[-1].loss < history[0].loss


def test_the_recipe_of_the_paper_trains_for_exactly_the_given_steps():
    history = fit(draw_table(), recipe="paper", max_steps=25).history_
    assert history[-1].step == 25
    assert history[-1].validation is None


def test_a_loss_that_is_not_finite_is_an_error():
    with pytest.raises(TrainingError, match=r"the loss became (nan|inf).*lower the learning rate"):
        fit(draw_table(), recipe=replace(SMALL, learning_rate=1e12, clip=math.inf), max_steps=300)


def test_a_declared_target_changes_training_if_hidden_entries_are_scored():
    assert not have_equal_weights(fit(draw_table()), fit(draw_table(), target="x0"))


def test_a_declared_target_does_not_change_training_with_the_recipe_of_the_paper():
    models = (fit(draw_table(), recipe="paper", target=target) for target in (None, "x0"))
    assert have_equal_weights(*models)


def test_a_cycle_warms_up_and_falls_to_zero():
    rates = [learning_rate(replace(DEFAULT, max_steps=1000), step) for step in range(1000)]
    top = int(np.argmax(rates))
    assert 0 < rates[0] < 0.1 * DEFAULT.learning_rate
    assert max(rates) == pytest.approx(DEFAULT.learning_rate, rel=0.01)
    assert (np.diff(rates[:top]) > 0).all()
    assert (np.diff(rates[top:]) < 0).all()
    assert rates[-1] < 0.001 * DEFAULT.learning_rate


def test_the_learning_rate_of_the_paper_is_constant():
    assert {learning_rate(PAPER, step) for step in (0, 1500, 2999)} == {1e-3}
