"""Cross-validated training: folds decide when to stop and how wide predictions are."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from eddi import PartialVAE
from eddi.errors import TrainingError
from eddi.model.recipe import DEFAULT, MIN_HOLD_OUT_ROWS, adapt_to_rows, is_cross_validated
from eddi.model.training.folds.cross_validation import split_folds

SMALL = replace(DEFAULT, latent=4, identity=4, term=16, hidden=(16, 16), batch_size=16, folds=2)

pytestmark = pytest.mark.usefixtures("short_rounds")


def draw_table(n_rows=40, seed=0):
    random = np.random.default_rng(seed)
    z = random.normal(size=(n_rows, 1))
    return z + 0.5 * random.normal(size=(n_rows, 4))


def draw_curved_table(n_rows=40):
    """A table in which the linear prediction, with which training starts, is not the best."""
    table = draw_table(n_rows)
    table[:, 0] = table[:, 1] ** 2 + 0.1 * table[:, 2]
    return table


def fit(table, **settings):
    settings = {"recipe": SMALL, "target": "x0", "max_steps": 100, "random_state": 0, **settings}
    return PartialVAE(**settings).fit(table)


def have_equal_weights(first, second):
    ours, theirs = first.network_.state_dict(), second.network_.state_dict()
    return all(torch.equal(ours[key], theirs[key]) for key in ours)


def test_only_tables_too_small_to_hold_rows_out_are_cross_validated():
    assert is_cross_validated(DEFAULT, MIN_HOLD_OUT_ROWS - 1)
    assert not is_cross_validated(DEFAULT, MIN_HOLD_OUT_ROWS)
    assert not is_cross_validated(replace(DEFAULT, folds=0), 10)
    assert adapt_to_rows(DEFAULT, 50).hidden < DEFAULT.hidden == adapt_to_rows(DEFAULT, 1_000).hidden
    assert adapt_to_rows(DEFAULT, 400, n_complete=200).hidden == adapt_to_rows(DEFAULT, 50).hidden


@pytest.mark.parametrize(("n_rows", "n_folds"), [(50, 5), (7, 5), (3, 5)])
def test_each_row_is_in_one_fold(n_rows, n_folds):
    folds = split_folds(n_rows, n_folds, seed=0)
    assert sorted(np.concatenate(folds)) == list(range(n_rows))
    sizes = [len(fold) for fold in folds]
    assert max(sizes) - min(sizes) <= 1
    assert len(folds) == min(n_rows, n_folds)


def test_the_same_seed_gives_identical_weights_and_another_seed_does_not():
    settings = {"max_steps": 20}
    first, again, other = (fit(draw_table(), random_state=seed, **settings) for seed in (0, 0, 1))
    assert have_equal_weights(first, again)
    assert not have_equal_weights(first, other)


def test_all_rows_are_trained_on_and_none_is_held_out():
    model = fit(draw_table(), max_steps=20)
    assert model.model_.validation_rows is None
    assert model.n_rows_ == 40
    assert all(progress.validation is not None for progress in model.history_)


def test_training_stops_when_the_folds_no_longer_improve():
    recipe = replace(SMALL, learning_rate=0.0, weight_decay=0.0, patience=2)
    history = fit(draw_table(), recipe=recipe, max_steps=5000).history_
    assert history[-1].step == 30


def test_the_weights_are_those_of_the_step_with_the_best_score():
    recipe = replace(SMALL, schedule="constant", learning_rate=0.02, average=0, patience=100)
    model = fit(draw_curved_table(60), recipe=recipe, max_steps=100)
    best = next(p for p in model.history_ if p.validation == model.history_[-1].best)
    assert best.step < 100
    until_best = fit(draw_curved_table(60), recipe=recipe, max_steps=best.step)
    assert have_equal_weights(model, until_best)


def test_an_interrupted_run_resumes_with_the_same_result(tmp_path):
    def interrupt(progress):
        if progress.step == 10:
            raise KeyboardInterrupt

    settings = {"checkpoint": tmp_path / "run.partial", "max_steps": 20}
    expected = fit(draw_table(), max_steps=20)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("eddi.model.training.loop.SECONDS_BETWEEN_SAVES", 0.0)
        with pytest.raises(KeyboardInterrupt):
            fit(draw_table(), on_progress=interrupt, **settings)
    resumed = fit(draw_table(), **settings)
    assert have_equal_weights(resumed, expected)
    assert [p.step for p in resumed.history_] == [10, 20]


@pytest.mark.slow
def test_intervals_of_new_rows_contain_about_nine_in_ten_values():
    inside = []
    test = draw_table(400, seed=9)
    for seed in range(3):
        prediction = fit(draw_table(50, seed), random_state=seed).predict(test)
        low, high = np.asarray(prediction.interval).reshape(len(test), -1).T[:2]
        inside.append(np.mean((low <= test[:, 0]) & (test[:, 0] <= high)))
    assert 0.83 < np.mean(inside) < 0.96


def test_a_loss_that_is_not_finite_is_an_error():
    recipe = replace(SMALL, learning_rate=1e12, clip=float("inf"))
    with pytest.raises(TrainingError, match="the loss became"):
        fit(draw_table(), recipe=recipe, max_steps=300)


@pytest.mark.parametrize("n_rows", [4, 6])
def test_a_few_rows_can_be_fitted(n_rows):
    table = draw_table(n_rows)
    prediction = fit(table, max_steps=100).predict(table)
    assert np.isfinite(prediction.mean).all()
