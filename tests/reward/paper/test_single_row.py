"""The reward of one row by the short way: the same as by the long one."""

import numpy as np
import pytest
import torch

from eddi import PartialVAE, Schema, Variable
from eddi.reward.paper.latent_information import information

ENCODERS = ("zi", "zi-m", "pn", "pnp")


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    return random.normal(size=(200, 2)) @ random.normal(size=(2, 7)) + random.normal(size=(200, 7))


@pytest.fixture(scope="module", params=ENCODERS)
def model(request, table):
    schema = Schema(tuple(Variable(f"x{place}", "real") for place in range(7)))
    schema = schema.with_question("panel", reveals=["x1", "x3", "x4"])
    return PartialVAE(
        schema, recipe="paper", set_encoder=request.param, max_steps=100, random_state=0, device="cpu"
    ).fit(table)


def both_ways(model, row, target, monkeypatch):
    short = information(model, row, target, n_draws=30, seed=5)
    with monkeypatch.context() as patch:
        patch.setattr(model, "alone_", None)
        return short, information(model, row, target, n_draws=30, seed=5)


@pytest.mark.parametrize("target", [["x6"], ["x5", "x6"], ["x0", "x3"]])
@pytest.mark.parametrize("seen", [[], [2], [1, 2], [0, 5], [0, 1, 2, 3, 4]])
def test_the_short_way_gives_the_rewards_of_the_long_one(model, table, target, seen, monkeypatch):
    hidden = [place for place in range(7) if place not in seen]
    row = model.evidence(table[:1]).hide(hidden)
    short, long = both_ways(model, row, target, monkeypatch)
    assert short.shape == (1, len(model.schema_.questions))
    torch.testing.assert_close(short, long, rtol=1e-4, atol=1e-5)


def test_a_row_that_shows_the_target_has_nothing_to_gain(model, table):
    row = model.evidence(table[:1]).hide([0, 1])
    assert (information(model, row, ["x6"], n_draws=30, seed=0) == 0).all()


def test_a_row_with_nothing_left_to_ask_has_nothing_to_gain(model, table):
    row = model.evidence(table[:1]).hide([6])
    assert (information(model, row, ["x6"], n_draws=30, seed=0) == 0).all()


def test_a_model_of_levels_has_no_short_way(people_model):
    assert people_model(set_encoder="pnp").alone_ is None


def test_the_short_way_draws_what_the_model_draws(model, table):
    row = model.evidence(table[:1]).hide([3, 6])
    code = model.alone_.code(row)
    torch.testing.assert_close(torch.from_numpy(code), model.code(row)[0], rtol=1e-4, atol=1e-5)
    drawn = model.alone_.draw(code, 16, seed=3)
    long = model.draw(model.posterior(model.code(row)), 16, seed=3)[:, 0]
    torch.testing.assert_close(torch.from_numpy(drawn), long, rtol=1e-4, atol=1e-4)
