"""Lookahead is better where a greedy choice fails, and greedy where that is right."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

import eddi
from eddi import PartialVAE, Schema, Variable
from eddi.errors import StrategyError
from eddi.model.recipe import DEFAULT
from eddi.reward.units import format_bits
from eddi.strategy import Information, Lookahead, PerCost, Priced
from eddi.table.evidence import Evidence

RECIPE = dataclasses.replace(DEFAULT, hidden=(64, 64), term=32, identity=16, offset=16, folds=0)


def make_context_rows(n_rows, seed):
    """The context says which of two bits is the class; two variables encode it. A hint is weak."""
    random = np.random.default_rng(seed)
    which, first, second = random.integers(2, size=(3, n_rows))
    truth = np.where(which == 1, second, first)
    hint = np.where(random.random(n_rows) < 0.7, truth, 1 - truth)
    columns = {"which": which, "not_which": 1 - which, "first": first, "second": second, "hint": hint}
    return pd.DataFrame({**columns, "truth": truth})


SCHEMA = Schema(
    tuple(
        Variable(name, "binary", levels=(0, 1))
        for name in ("which", "not_which", "first", "second", "hint", "truth")
    )
).with_question("context", reveals=["which", "not_which"])


@pytest.fixture(scope="module")
def context():
    # With this seed, the gain of the context exceeds the best reward twice, so rounding does not matter.
    model = PartialVAE(SCHEMA, "truth", recipe=RECIPE, max_steps=1_000, random_state=4)
    return model.fit(make_context_rows(3000, 0))


def ask_first(model, **options):
    """The name of the first question."""
    return eddi.Interview(model, "truth", **options).ask().name


def test_two_questions_suffice_if_the_first_determines_the_second(context):
    rows = make_context_rows(200, 1)
    lookahead = eddi.simulate(context, rows, strategy=Lookahead(), max_steps=2)
    greedy = eddi.simulate(context, rows, strategy=Information(reward="target"), max_steps=2)
    assert lookahead.accuracy[2] > 0.97
    assert greedy.accuracy[2] < 0.9


def test_the_default_strategy_chooses_the_first_question_with_lookahead(context):
    """Everybody has the same first question, so its lookahead is computed once per model."""
    curves = eddi.simulate(context, make_context_rows(200, 1), max_steps=2)
    assert curves.accuracy[2] > 0.97
    assert ask_first(context) == "context"
    assert ask_first(context, strategy=Information(reward="target")) != "context"


@pytest.mark.parametrize("strategy", [PerCost(Information()), Priced(Information(), price=0.01)])
def test_costs_keep_the_lookahead_of_the_first_question(context, strategy):
    assert ask_first(context, strategy=strategy) == "context"


def test_the_lookahead_of_the_first_question_is_worth_no_more_than_its_price(context):
    assert ask_first(context, strategy=Priced(PerCost(Information()), price=0.01)) == "context"
    assert eddi.Interview(context, "truth", strategy=Priced(Information(), price=9)).ask() is None


def test_the_lookahead_bonus_counts_only_if_any_two_questions_may_be_asked(context):
    assert ask_first(context, stop=eddi.Stop(after=1)) != "context"
    assert ask_first(context, stop=eddi.Stop(after=1) | eddi.Stop(after=3)) != "context"
    assert ask_first(context, stop=eddi.Stop(after=1) & eddi.Stop(after=3)) == "context"
    assert ask_first(context, stop=eddi.Stop(budget=1)) != "context"  # every question costs 1
    assert ask_first(context, stop=eddi.Stop(budget=2)) == "context"
    interview = eddi.Interview(context, "truth")
    interview.tell("first", eddi.DECLINED)
    assert interview.ask().name != "context"


def test_rewards_exclude_the_lookahead_gain_and_the_explanation_states_it(context):
    interview = eddi.Interview(context, "truth")
    assert interview.rewards()["context"] < 0.02
    explanation = interview.explain()
    assert explanation.nats < 0.02
    assert explanation.lookahead_gain > 0.2
    assert (
        "Its answer also determines what to ask next, which is worth at least "
        f"{format_bits(explanation.lookahead_gain)} more."
    ) in str(explanation)
    interview.tell("context", 1, 0)
    assert interview.explain().lookahead_gain == 0


def test_every_variable_may_be_a_target(context):
    names = list(context.schema_.names)
    scores = Lookahead(n_candidates=2).score(context.fitted(), Evidence.empty(1, 6), names)
    assert scores.sum() == 0


def test_it_chooses_like_information_if_no_question_has_a_gain(fitted, people):
    """All variables of people depend on one factor, so no answer makes another more informative."""
    evidence = fitted.evidence(people(30, seed=5, missing=0.5)).hide(fitted.schema.positions(["stage"]))
    lookahead = Lookahead(n_draws=50).score(fitted, evidence, ["stage"])
    greedy = Information().score(fitted, evidence, ["stage"])
    assert (lookahead.argmax(1) == greedy.argmax(1)).all()


def test_rows_without_answers_have_the_same_scores(context):
    scores = Lookahead().score(context.fitted(), Evidence.empty(3, 6), ["truth"])
    assert (scores[0] == scores[2]).all()
    names = [question.name for question in context.schema_.questions]
    assert names[int(scores[0].argmax())] == "context"


def test_a_model_without_marginal_predictions_is_refused(people_model):
    paper = people_model(recipe="paper").fitted()
    with pytest.raises(StrategyError, match='marginal predictions: fit one with recipe="default"'):
        Lookahead().score(paper, Evidence.empty(1, 8), ["stage"])


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"min_gain": -1}, "min_gain must be 0 or more, got -1"),
        ({"min_gain": float("nan")}, "min_gain must be 0 or more, got nan"),
        ({"n_candidates": 0}, "n_candidates must be at least 1, got 0"),
        ({"n_points": 0}, "n_points must be at least 1, got 0"),
        ({"n_draws": 0}, "n_draws must be at least 1, got 0"),
    ],
)
def test_invalid_settings_are_refused(setting, message):
    with pytest.raises(StrategyError, match=message):
        Lookahead(**setting)
