"""The fitted model: predictions, draws and log-likelihoods from evidence, and how long it lives."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest
import torch

import eddi
from eddi import Interview, PartialVAE
from eddi.errors import TableError
from eddi.model import fitted as fitted_module
from eddi.strategy import Information
from eddi.table.evidence import Evidence

AGE, VISITS, SMOKER, PAIN, TOWN = range(5)


@pytest.fixture(params=["default", "paper"])
def any_fitted(request, people_model):
    return people_model(recipe=request.param).fitted()


@pytest.fixture(scope="module")
def fitted(model):
    return model.fitted()


@pytest.fixture(scope="module")
def evidence(fitted, people):
    return fitted.evidence(people(40, 9, missing=0.4))


@pytest.fixture(scope="module")
def complete(fitted, people):
    return fitted.evidence(people(40, 9, missing=0.0))


def test_an_array_has_the_columns_of_the_training_table():
    numbers = np.random.default_rng(0).random((30, 3))
    fitted = PartialVAE(max_steps=1, random_state=0).fit(numbers).fitted()
    assert np.allclose(fitted.coding.decode(fitted.evidence(numbers).values), numbers)
    with pytest.raises(TableError, match="the array has 2 columns; the model was trained on 3 columns"):
        fitted.evidence(numbers[:, :2])


def test_a_90_percent_interval_contains_nine_in_ten_draws(any_fitted, evidence):
    drawn = any_fitted.draw_tables(evidence, 400, seed=1)[..., AGE]
    low, high = any_fitted.predict_evidence(evidence, ["age"])["age"].interval.T
    is_inside = ((drawn >= low) & (drawn <= high))[:, ~evidence.observed[:, AGE]]
    assert is_inside.mean() == pytest.approx(0.9, abs=0.05)  # intervals are calibrated, draws are not


@pytest.mark.parametrize(("place", "name"), [(VISITS, "visits"), (SMOKER, "smoker"), (PAIN, "pain")])
def test_the_interval_of_counts_and_levels_has_whole_ends(fitted, evidence, place, name):
    drawn = fitted.draw_tables(evidence, 400, seed=1)[..., place]
    ends = fitted.predict_evidence(evidence, [name])[name].interval
    assert np.array_equal(ends, np.rint(ends))
    is_inside = (drawn >= ends[:, 0]) & (drawn <= ends[:, 1])
    assert is_inside[:, ~evidence.observed[:, place]].mean() > 0.85


def test_evidence_makes_predictions_more_certain(fitted, complete):
    without = fitted.predict_evidence(Evidence.empty(40, 8), ["age"])["age"]
    with_evidence = fitted.predict_evidence(complete.hide([AGE]), ["age"])["age"]
    assert with_evidence.sd.mean() < 0.97 * without.sd.mean()


def test_rows_with_the_same_evidence_have_the_same_prediction(any_fitted):
    prediction = any_fitted.predict_evidence(Evidence.empty(40, 8), ["age"])["age"]
    assert np.ptp(prediction.mean) == 0
    assert np.ptp(prediction.sd) == 0


def test_the_size_of_chunks_does_not_change_predictions(any_fitted, complete, monkeypatch):
    visible = complete.hide([AGE, TOWN])
    expected = any_fitted.predict_evidence(visible, ["age", "town"])
    guesses = any_fitted.best_guesses(visible)
    monkeypatch.setattr(fitted_module, "CHUNK_CELLS", 1)  # one row per chunk
    assert len(list(any_fitted.predictive_distributions(visible))) == 40
    found = any_fitted.predict_evidence(visible, ["age", "town"])
    assert np.allclose(found["age"].mean, expected["age"].mean, atol=1e-4)
    assert np.allclose(found["town"].probabilities, expected["town"].probabilities, atol=1e-5)
    assert np.allclose(any_fitted.best_guesses(visible), guesses, atol=1e-3)


def test_the_log_probability_of_levels_is_that_of_their_predicted_probability(fitted, complete):
    visible = complete.hide([TOWN])
    truth = complete.values[:, TOWN].astype(int)
    probabilities = fitted.predict_evidence(visible, ["town"])["town"].probabilities
    expected = np.log(probabilities[np.arange(40), truth])
    assert np.allclose(fitted.log_prob(visible, complete)[:, TOWN], expected, atol=1e-4)


def test_the_best_guess_is_the_mean_or_the_most_likely_level(fitted, evidence):
    guesses = fitted.best_guesses(evidence)
    hidden = Evidence(evidence.values, np.zeros_like(evidence.observed))
    predictions = fitted.predict_evidence(hidden, ["age", "town"])
    unconditional = fitted.best_guesses(hidden)
    assert guesses.shape == (40, 8)
    assert np.allclose(unconditional[:, AGE], predictions["age"].mean)
    assert np.array_equal(unconditional[:, TOWN], predictions["town"].probabilities.argmax(1))


def test_level_probabilities_are_those_behind_the_draws(any_fitted, evidence):
    posterior = any_fitted.posterior(any_fitted.code(evidence))
    probabilities = any_fitted.level_probabilities(posterior, 512, seed=0)
    draws = any_fitted.draw(posterior, 512, seed=0)
    assert SMOKER in probabilities
    for variable, by_draw in probabilities.items():
        n_levels = any_fitted.schema.variables[variable].n_levels
        assert by_draw.shape == (512, 40, n_levels)
        shares = torch.stack(
            [(draws[..., variable] == level).float().mean(0) for level in range(n_levels)]
        )
        assert (shares.T - by_draw.mean(0)).abs().max() < 0.1


def test_joint_noise_is_cached_unless_it_is_large(fitted, monkeypatch):
    first = fitted.joint_noise(8, seed=5)
    assert fitted.joint_noise(8, seed=5) is first
    monkeypatch.setattr(fitted_module, "MAX_CACHED_NUMBERS", 1)
    again = fitted.joint_noise(8, seed=5)
    assert again is not first
    assert all(torch.equal(a, b) for a, b in zip(again, first, strict=True))


def test_a_pickled_model_leaves_its_caches_behind(fitted, evidence):
    fitted.predict_evidence(evidence, ["age"])
    again = pickle.loads(pickle.dumps(fitted))  # noqa: S301  # joblib does the same
    assert not {"frozen", "marginal_predictor", "cache"} & set(vars(again))
    expected = fitted.predict_evidence(evidence, ["age"])["age"].mean
    assert np.array_equal(again.predict_evidence(evidence, ["age"])["age"].mean, expected)


@pytest.mark.parametrize("recipe", ["default", "paper"])
def test_a_model_that_is_no_longer_used_is_freed(people_model, people, recipe):
    estimator = copy.deepcopy(people_model(recipe=recipe))
    reference = weakref.ref(estimator.fitted())
    table = people(6, 3, missing=0.0)
    rewards = (None, "latent") if recipe == "paper" else (None, "latent", "target")
    for reward in rewards:
        interview = Interview(estimator, "stage", strategy=Information(reward=reward, n_draws=4))
        interview.tell("age", 61)
        interview.tell(interview.ask(), eddi.UNKNOWN)
        assert interview.ask() is not None
        assert interview.rewards()
        assert interview.explain() is not None
        interview.predict()
    estimator.predict(table, "age")
    estimator.impute(table, n_draws=2)
    eddi.simulate(estimator, table, "stage", max_steps=2)
    del estimator, interview
    gc.collect()
    assert reference() is None


def test_predictions_and_rewards_of_the_same_evidence_share_its_encoding(any_fitted, complete):
    first, second = complete[:3], complete[:3]
    encoding = any_fitted.encode(first)
    assert any_fitted.encode(first) is encoding
    assert any_fitted.encode(second) is not encoding  # equal rows, but other evidence


def test_the_distributions_of_some_variables_equal_those_of_all(any_fitted, complete):
    evidence = complete[:5].hide([0, 3])
    (every,), (some,) = (
        any_fitted.predictive_distributions(evidence, variables=variables) for variables in (None, [3])
    )
    (place,) = some.places([3])
    for ours, theirs in zip(some.moments(), every.moments(), strict=True):
        assert torch.allclose(ours[:, place].double(), theirs[:, 3].double(), rtol=1e-5)
    assert torch.equal(some.tail_mass[:, place], every.tail_mass[:, 3])
