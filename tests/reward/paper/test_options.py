"""Possible values of an answer or of the target: draws, or every level with its probability."""

import pytest
import torch

from eddi.reward.candidates import CandidatePairs
from eddi.reward.paper.options import MAX_LEVELS, JointDraws
from eddi.table.evidence import Evidence

N_DRAWS = 16


def draw_without_answers(model, n_rows=1, n_draws=4, seed=0):
    return JointDraws.from_code(model, model.code(Evidence.empty(n_rows, 8)), n_draws, seed=seed)


@pytest.fixture
def draws(fitted):
    return draw_without_answers(fitted, n_rows=2, n_draws=N_DRAWS, seed=1)


def test_variables_with_few_levels_are_enumerated(fitted, draws):
    by_name = {fitted.schema.names[place]: n for place, n in draws.n_levels.items()}
    assert by_name == {"smoker": 2, "pain": 4, "town": 3, "colour": 5, "stage": 3}
    assert max(by_name.values()) <= MAX_LEVELS


def test_the_papers_recipe_draws_every_variable_that_is_not_binary(people_model):
    model = people_model(recipe="paper").fitted()
    draws = draw_without_answers(model)
    assert [model.schema.names[place] for place in draws.n_levels] == ["smoker"]


def test_variables_with_many_levels_are_drawn(fitted, monkeypatch):
    monkeypatch.setattr("eddi.reward.paper.options.MAX_LEVELS", 3)
    assert set(draw_without_answers(fitted).n_levels.values()) == {2, 3}


def test_the_probabilities_of_the_levels_sum_to_one_for_each_draw(fitted, draws):
    nothing_observed = Evidence.empty(2, 8).observed
    target = fitted.schema.positions(["weight"])
    groups = CandidatePairs.by_n_levels(fitted, nothing_observed, target, draws.n_levels)
    assert set(groups) == {0, 2, 3, 4, 5}
    for n_levels, pairs in groups.items():
        options = draws.answers(pairs, n_levels)
        if n_levels:
            assert options.terms.shape[:2] == (n_levels, len(pairs))
            assert options.probabilities.shape == (n_levels, N_DRAWS, len(pairs))
            assert torch.allclose(options.probabilities.sum(0), torch.ones(N_DRAWS, len(pairs)))


def test_the_frequencies_of_drawn_levels_equal_their_probabilities(fitted):
    draws = draw_without_answers(fitted, n_draws=4_096)
    for variable, probabilities in draws.probabilities.items():
        levels = draws.values[:, 0, variable].long()
        drawn = torch.nn.functional.one_hot(levels, probabilities.shape[-1])
        assert torch.allclose(drawn.float().mean(0), probabilities[:, 0].mean(0), atol=0.01)


def test_each_pair_has_the_probabilities_of_its_own_variable_and_row(fitted, people):
    code = fitted.code(fitted.evidence(people(3, 1)))
    draws = JointDraws.from_code(fitted, code, N_DRAWS, seed=1)
    nothing_observed = Evidence.empty(3, 8).observed
    pairs = CandidatePairs.by_n_levels(fitted, nothing_observed, [0], draws.n_levels)[3]
    options = draws.answers(pairs, 3)
    cells = zip(pairs.rows.tolist(), pairs.variables.tolist(), strict=True)
    for place, (row, variable) in enumerate(cells):
        expected = draws.probabilities[variable][:, row].T
        assert torch.equal(options.probabilities[:, :, place], expected)


def test_a_single_target_with_levels_is_enumerated(fitted, draws):
    unobserved = ~Evidence.empty(2, 8).observed
    smoker, weight = fitted.schema.positions(["smoker", "weight"])
    assert draws.target([smoker], unobserved[:, [smoker]]).terms.shape[:2] == (2, 2)
    assert draws.target([weight], unobserved[:, [weight]]).probabilities is None
    both = draws.target([smoker, weight], unobserved[:, [smoker, weight]])
    assert both.probabilities is None
    assert both.terms.shape[:2] == (N_DRAWS, 2)


def test_an_observed_part_of_the_target_adds_nothing(draws):
    unobserved = ~Evidence.empty(2, 8).observed[:, :2]
    unobserved[1, 0] = False
    both = draws.target([0, 1], unobserved).terms
    second_only = draws.target([1], unobserved[:, 1:]).terms
    assert torch.allclose(both[:, 1], second_only[:, 1])
    assert not torch.allclose(both[:, 0], second_only[:, 0])
