"""What may be heard: drawn values, or every level with its chance."""

import pytest
import torch

from eddi.reward.candidates import Pairs
from eddi.reward.paper.options import MAX_LEVELS, Draws
from eddi.table.evidence import Evidence

N_DRAWS = 16


@pytest.fixture
def draws(model):
    return Draws.of(model, model.code(Evidence.empty(2, 8)), N_DRAWS, seed=1)


def opened(model, draws, target):
    nothing = Evidence.empty(2, 8).observed
    return Pairs.open(model.schema_, nothing, model.schema_.positions(target), draws.n_levels)


def test_variables_of_few_levels_are_summed_over(model, draws):
    names = {model.schema_.names[place]: n for place, n in draws.n_levels.items()}
    assert names == {"smoker": 2, "pain": 4, "town": 3, "colour": 5, "stage": 3}
    assert max(names.values()) <= MAX_LEVELS


def test_the_papers_recipe_draws_all_but_what_is_binary(people_model):
    model = people_model(recipe="paper")
    draws = Draws.of(model, model.code(Evidence.empty(1, 8)), 4, seed=0)
    assert [model.schema_.names[place] for place in draws.n_levels] == ["smoker"]


def test_variables_of_many_levels_are_drawn(model, monkeypatch):
    monkeypatch.setattr("eddi.reward.paper.options.MAX_LEVELS", 3)
    draws = Draws.of(model, model.code(Evidence.empty(1, 8)), 4, seed=0)
    assert set(draws.n_levels.values()) == {2, 3}


def test_the_chances_of_levels_sum_to_one_behind_each_draw(model, draws):
    for n_levels, pairs in opened(model, draws, ["weight"]).items():
        heard = draws.answers(pairs, n_levels)
        if n_levels:
            assert heard.terms.shape[:2] == (n_levels, len(pairs))
            assert heard.chances.shape == (n_levels, N_DRAWS, len(pairs))
            assert torch.allclose(heard.chances.sum(0), torch.ones(N_DRAWS, len(pairs)))


def test_draws_fall_on_levels_as_often_as_their_chances_say(model):
    now = model.code(Evidence.empty(1, 8))
    draws = Draws.of(model, now, 4_096, seed=0)
    for variable, chances in draws.chances.items():
        drawn = torch.nn.functional.one_hot(draws.values[:, 0, variable].long(), chances.shape[-1])
        assert torch.allclose(drawn.float().mean(0), chances[:, 0].mean(0), atol=0.01)


def test_each_pair_hears_the_chances_of_its_own_variable_and_row(model, people):
    code = model.code(model.evidence(people(3, 1)))
    draws = Draws.of(model, code, N_DRAWS, seed=1)
    pairs = Pairs.open(model.schema_, Evidence.empty(3, 8).observed, [0], draws.n_levels)[3]
    heard = draws.answers(pairs, 3)
    for place, (row, variable) in enumerate(
        zip(pairs.rows.tolist(), pairs.variables.tolist(), strict=True)
    ):
        assert torch.equal(heard.chances[:, :, place], draws.chances[variable][:, row].T)


def test_a_target_of_one_variable_of_levels_is_summed_over(model, draws):
    unseen = ~Evidence.empty(2, 8).observed
    smoker, weight = model.schema_.positions(["smoker", "weight"])
    assert draws.target([smoker], unseen[:, [smoker]]).terms.shape[:2] == (2, 2)
    assert draws.target([weight], unseen[:, [weight]]).chances is None
    both = draws.target([smoker, weight], unseen[:, [smoker, weight]])
    assert both.chances is None
    assert both.terms.shape[:2] == (N_DRAWS, 2)


def test_what_is_seen_of_the_target_adds_nothing(draws):
    unseen = ~Evidence.empty(2, 8).observed[:, :2]
    unseen[1, 0] = False
    terms = draws.target([0, 1], unseen).terms
    alone = draws.target([1], unseen[:, 1:]).terms
    assert torch.allclose(terms[:, 1], alone[:, 1])
    assert not torch.allclose(terms[:, 0], alone[:, 0])
