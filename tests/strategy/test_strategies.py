"""Who chooses: the information of an answer, a fixed order, chance, or value for money."""

import copy

import numpy as np
import pytest
import torch

from eddi.errors import SchemaError, StrategyError, TargetError
from eddi.strategy import FixedOrder, Information, PerCost, Random
from eddi.table.evidence import Evidence

TARGET = ("stage",)


def nothing(model, n_rows=3):
    return Evidence.empty(n_rows, len(model.schema_.variables))


def names(model, order):
    return [model.schema_.questions[place].name for place in order]


def test_information_repeats_itself_and_a_seed_changes_its_draws(model):
    seen = nothing(model)
    first = Information("latent").score(model, seen, TARGET)
    assert torch.equal(Information("latent").score(model, seen, TARGET), first)
    assert not torch.equal(Information("latent", seed=1).score(model, seen, TARGET), first)


def test_information_about_the_target_is_free_of_chance(model):
    first, other = (Information("target", seed=s).score(model, nothing(model), TARGET) for s in (0, 1))
    assert torch.equal(first, other)


def test_information_finds_what_leans_most_on_the_target(model):
    scores = Information(n_draws=200).score(model, nothing(model, 1), TARGET)[0]
    worth = dict(zip(names(model, range(len(scores))), scores.tolist(), strict=True))
    assert worth["pain"] > worth["colour"]
    assert worth["stage"] == 0


def test_information_scores_a_row_the_same_in_any_company(model, people):
    truth = model.evidence(people(12, seed=5, holes=0.5))
    together = Information().score(model, truth, TARGET)
    for row in range(len(truth)):
        alone = Information().score(model, truth[[row]], TARGET)[0]
        torch.testing.assert_close(together[row], alone, atol=1e-4, rtol=1e-3)


def test_information_about_no_rows_is_no_rows(model):
    assert Information().score(model, nothing(model, 0), TARGET).shape == (0, 8)


def test_a_fixed_order_is_the_same_for_every_row(model):
    scores = FixedOrder(("town", "age")).score(model, nothing(model), TARGET)
    assert torch.equal(scores[0], scores[2])
    assert names(model, scores[0].argsort(descending=True)[:2].tolist()) == ["town", "age"]


def test_questions_a_fixed_order_leaves_out_come_last(model):
    scores = FixedOrder(("town",)).score(model, nothing(model, 1), TARGET)[0]
    assert (scores > 0).sum() == 1


def test_an_order_may_be_given_as_a_list():
    assert FixedOrder(["a", "b"]) == FixedOrder(("a", "b"))


def test_an_order_of_unknown_questions_is_refused(model):
    with pytest.raises(SchemaError, match=r"'mood', which is not a question. Questions are: 'age'"):
        FixedOrder(("age", "mood")).score(model, nothing(model), TARGET)


def test_an_order_that_names_a_question_twice_is_refused():
    with pytest.raises(SchemaError, match="the fixed order names a question twice: age, town, age"):
        FixedOrder(("age", "town", "age"))


def test_a_learned_order_holds_every_question_but_the_target(model, people):
    order = FixedOrder.learn(model, people(30, seed=3), "stage").order
    assert sorted(order) == sorted(set(model.schema_.names) - {"stage"})
    first = Information().score(model, nothing(model, 1), TARGET)[0].argmax()
    assert order[0] == names(model, [first])[0]


def test_a_learned_order_follows_the_strategy_it_is_given(model, people):
    wanted = FixedOrder(("town", "colour", "age", "pain", "visits", "weight", "smoker"))
    learned = FixedOrder.learn(model, people(5, seed=3), "stage", strategy=wanted)
    assert learned == wanted


def test_an_order_is_learned_for_the_models_own_target(people_model, people):
    own = people_model(target="stage")
    assert "stage" not in FixedOrder.learn(own, people(5, seed=3), strategy=Random()).order


def test_an_order_for_a_target_the_model_lacks_is_refused(model, people):
    with pytest.raises(TargetError, match="the target 'mood' is not a variable"):
        FixedOrder.learn(model, people(5, seed=3), "mood")


def test_chance_gives_each_row_an_order_of_its_own_that_it_keeps(model):
    first = Random().score(model, nothing(model), TARGET)
    assert torch.equal(Random().score(model, nothing(model), TARGET), first)
    assert not torch.equal(first[0], first[1])
    assert not torch.equal(Random(seed=1).score(model, nothing(model), TARGET), first)


def test_per_cost_divides_what_a_question_is_worth_by_its_price(model):
    dear = copy.copy(model)
    best = Information().score(model, nothing(model, 1), TARGET)[0].argmax()
    dear.schema_ = model.schema_.with_question(model.schema_.questions[best].name, cost=100)
    plain = Information().score(dear, nothing(model), TARGET)
    scores = PerCost(Information()).score(dear, nothing(model), TARGET)
    np.testing.assert_allclose(scores, plain / torch.tensor([100.0, *[1.0] * 7]), rtol=1e-6)
    assert scores[0].argmax() != plain[0].argmax()


def test_information_names_the_rewards_it_has():
    with pytest.raises(StrategyError, match="reward must be 'latent' or 'target', got 'magic'"):
        Information(reward="magic")


def test_information_needs_a_draw():
    with pytest.raises(StrategyError, match="at least 1, got 0"):
        Information(n_draws=0)
