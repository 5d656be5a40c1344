"""The paper's information reward."""

import numpy as np
import pytest
import torch

from eddi import PartialVAE, Schema, Variable
from eddi.errors import SchemaError
from eddi.reward.paper import latent_information
from eddi.reward.paper.latent_information import information
from eddi.reward.paper.options import Draws
from eddi.table.evidence import Evidence


@pytest.fixture
def rows(model, people):
    hidden = np.random.default_rng(1).random((12, 8)) < 0.6
    return model.evidence(people(12, 3)).hide(hidden)


def names(model):
    return [question.name for question in model.schema_.questions]


def test_closed_questions_and_the_target_itself_are_worth_nothing(model, rows):
    found = information(model, rows, ["weight"], n_draws=20, seed=0)
    assert found.shape == (12, 8)
    closed = rows.observed | rows.observed[:, [5]]
    closed[:, 5] = True
    assert ((found == 0).numpy() == closed).all()


def test_a_row_that_shows_everything_has_nothing_to_gain(model, people):
    everything = model.evidence(people(2, 1, holes=0))
    assert (information(model, everything, ["age"], n_draws=5, seed=0) == 0).all()


def test_no_rows_have_no_rewards(model):
    assert information(model, Evidence.empty(0, 8), ["age"], n_draws=5, seed=0).shape == (0, 8)


def test_naming_a_target_twice_changes_nothing(model, rows):
    once = information(model, rows, ["weight", "age"], n_draws=10, seed=0)
    assert torch.equal(once, information(model, rows, ["weight", "age", "weight"], n_draws=10, seed=0))


def test_an_unknown_target_is_refused_by_name(model, rows):
    with pytest.raises(SchemaError, match="'height'"):
        information(model, rows, ["height"], n_draws=10, seed=0)


@pytest.mark.parametrize("limit", ["PASSES", "MAX_DRAWN"])
@pytest.mark.parametrize("target", [["weight"], ["smoker"], ["age", "stage"]])
def test_cutting_the_work_into_chunks_changes_nothing(model, rows, target, limit, monkeypatch):
    whole = information(model, rows, target, n_draws=20, seed=0)
    monkeypatch.setattr(latent_information, limit, 1)
    torch.testing.assert_close(
        information(model, rows, target, n_draws=20, seed=0), whole, rtol=1e-5, atol=1e-5
    )


def test_the_answer_may_be_written_into(model, rows):
    found = information(model, rows, ["weight"], n_draws=5, seed=0)
    found[:, 0] = -torch.inf
    assert not found.requires_grad


def test_the_divergence_is_the_true_one(model, rows):
    """The first term, taken alone by a target that is told nothing, is the mean of `Posterior.kl`."""
    code = model.code(rows)
    draws = Draws.of(model, code, 7, seed=0)
    asked = draws.values[..., :1]  # age
    after = model.posterior(code + model.term(asked, [0])[..., 0, :])
    first = after.kl(model.posterior(code)).mean(0)
    told = code + model.term(draws.values[..., 5:6], [5])[..., 0, :]
    second = model.posterior(told + model.term(asked, [0])[..., 0, :]).kl(model.posterior(told)).mean(0)
    found = information(model, rows, ["weight"], n_draws=7, seed=0)[:, 0]
    is_open = torch.from_numpy(~rows.observed[:, 0] & ~rows.observed[:, 5])
    assert is_open.any()
    torch.testing.assert_close(found[is_open], (first - second)[is_open], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("target", ["weight", "smoker"])
def test_summing_over_levels_is_the_mean_of_many_draws(model, target, monkeypatch):
    nothing = Evidence.empty(1, 8)
    summed = information(model, nothing, [target], n_draws=4_096, seed=0)
    monkeypatch.setattr("eddi.reward.paper.options.MAX_LEVELS", 0)
    drawn = information(model, nothing, [target], n_draws=4_096, seed=0)
    assert not torch.equal(summed, drawn)
    torch.testing.assert_close(summed, drawn, rtol=0, atol=0.02)


def test_summing_over_levels_leaves_less_to_chance(model, monkeypatch):
    def error():
        nothing = Evidence.empty(1, 8)
        seeds = [information(model, nothing, ["weight"], n_draws=32, seed=s)[0] for s in range(24)]
        levelled = [names(model).index(name) for name in ("smoker", "pain", "town", "colour", "stage")]
        return torch.stack(seeds).std(0)[levelled].mean()

    summed = error()
    monkeypatch.setattr("eddi.reward.paper.options.MAX_LEVELS", 0)
    assert summed < 0.6 * error()


@pytest.fixture(scope="module")
def panel():
    """Twenty numbers that lean on one hidden number; a question shows three of them."""
    random = np.random.default_rng(0)
    table = random.normal(size=(200, 1)) + 0.5 * random.normal(size=(200, 20))
    schema = Schema(tuple(Variable(f"x{place}", "real") for place in range(20)))
    schema = schema.with_question("panel", reveals=["x0", "x1", "x2"])
    return PartialVAE(schema, recipe="paper", max_steps=300, random_state=0).fit(table)


def test_a_question_that_shows_several_variables_is_heard_jointly(panel):
    nothing = Evidence.empty(1, 20)
    found = information(panel, nothing, ["x19"], n_draws=64, seed=0)[0]
    code = panel.code(nothing)
    draws = Draws.of(panel, code, 64, seed=0)
    answer = panel.term(draws.values[..., :3], [0, 1, 2]).sum(-2)
    told = code + panel.term(draws.values[..., 19:], [19])[..., 0, :]
    first = panel.posterior(code + answer).kl(panel.posterior(code))
    second = panel.posterior(told + answer).kl(panel.posterior(told))
    assert float(found[0]) == pytest.approx(float((first - second).mean()), abs=1e-5)


def test_a_target_of_many_variables_is_told_as_one(panel):
    target = [f"x{place}" for place in range(4, 20)]
    nothing = Evidence.empty(2, 20)
    found = information(panel, nothing, target, n_draws=32, seed=0)
    assert (found[:, 2:] == 0).all()  # panel and x3 are all that is left to ask
    assert (found[:, :2] != 0).all()
    assert torch.allclose(found[0], found[1], atol=1e-5)
