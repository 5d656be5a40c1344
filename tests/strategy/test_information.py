"""EDDI: score questions by their expected information about the target."""

import pytest
import torch

from eddi.errors import StrategyError
from eddi.strategy import Information
from eddi.table.evidence import Evidence

TARGET = ("stage",)


def test_scores_are_reproducible_and_depend_on_the_seed(fitted, no_answers):
    first = Information("latent").score(fitted, no_answers(), TARGET)
    assert torch.equal(Information("latent").score(fitted, no_answers(), TARGET), first)
    assert not torch.equal(Information("latent", seed=1).score(fitted, no_answers(), TARGET), first)


def test_the_reward_in_target_space_does_not_depend_on_the_seed(fitted, no_answers):
    first, second = (
        Information("target", seed=seed).score(fitted, no_answers(), TARGET) for seed in (0, 1)
    )
    assert torch.equal(first, second)


def test_a_variable_that_depends_on_the_target_scores_higher_than_one_that_hardly_does(
    fitted, no_answers
):
    scores = Information(n_draws=200).score(fitted, no_answers(1), TARGET)[0]
    names = [question.name for question in fitted.schema.questions]
    by_name = dict(zip(names, scores.tolist(), strict=True))
    assert by_name["pain"] > by_name["colour"]
    assert by_name["stage"] == 0


@pytest.mark.parametrize("reward", ["latent", "target"])
def test_a_row_has_the_same_scores_alone_and_in_a_batch(fitted, people, reward):
    evidence = fitted.evidence(people(12, seed=5, missing=0.5))
    strategy = Information(reward)
    in_batch = strategy.score(fitted, evidence, TARGET)
    for row in range(len(evidence)):
        alone = strategy.score(fitted, evidence[[row]], TARGET)[0]
        torch.testing.assert_close(in_batch[row], alone, atol=1e-4, rtol=1e-3)


def test_an_empty_batch_has_no_scores(fitted, no_answers):
    assert Information().score(fitted, no_answers(0), TARGET).shape == (0, 8)


def test_by_default_it_uses_the_best_reward_that_the_model_supports(fitted, people_model, people):
    rows = fitted.evidence(people(12, seed=3, missing=0.6)).hide(fitted.schema.positions(TARGET))
    best, target, latent = (
        Information(reward).score(fitted, rows, TARGET) for reward in (None, "target", "latent")
    )
    assert torch.equal(best, target)
    assert not torch.allclose(best, latent)
    paper = people_model(recipe="paper").fitted()
    best, latent = (Information(reward).score(paper, rows, TARGET) for reward in (None, "latent"))
    assert torch.equal(best, latent)


def test_the_reward_in_target_space_needs_marginal_predictions(people_model, no_answers):
    paper = people_model(recipe="paper").fitted()
    with pytest.raises(StrategyError, match='marginal predictions: fit one with recipe="default"'):
        Information(reward="target").score(paper, no_answers(), TARGET)


def test_an_unknown_reward_is_refused():
    with pytest.raises(StrategyError, match="reward must be 'latent' or 'target', got 'magic'"):
        Information(reward="magic")


def test_it_needs_at_least_one_draw():
    with pytest.raises(StrategyError, match="n_draws must be at least 1, got 0"):
        Information(n_draws=0)


def test_only_the_default_reward_looks_ahead(fitted, people_model, no_answers, monkeypatch):
    for module in ("strategy.information", "reward.lookahead"):
        monkeypatch.setattr(f"eddi.{module}.first_question_gain", lambda *_: torch.arange(8.0))
    assert Information().looks_ahead(fitted, TARGET)
    assert torch.equal(Information().lookahead_gain(fitted, no_answers(), TARGET)[0], torch.arange(8.0))
    paper = people_model(recipe="paper").fitted()
    for model, strategy in ((fitted, Information("target")), (paper, Information())):
        assert not strategy.looks_ahead(model, TARGET)
    monkeypatch.setattr("eddi.strategy.information.first_question_gain", lambda *_: torch.zeros(8))
    for overlooks in (True, False):
        monkeypatch.setattr("eddi.strategy.information.overlooks_question", lambda *_, o=overlooks: o)
        assert Information().looks_ahead(fitted, TARGET) == overlooks
    monkeypatch.setattr("eddi.strategy.information.MAX_LOOKAHEAD_QUESTIONS", 7)
    assert not Information().looks_ahead(fitted, TARGET)


def test_the_paper_reward_is_not_for_survival_targets(survival_model):
    model = survival_model.fitted()
    nothing = Evidence.empty(1, len(model.schema.variables))
    with pytest.raises(StrategyError, match="'death' is a survival variable"):
        Information("latent").score(model, nothing, ("death",))
