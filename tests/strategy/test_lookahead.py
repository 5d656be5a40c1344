"""Looking one question ahead: it wins where greedy fails, and is greedy where greedy is right."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

import eddi
from eddi import PartialVAE, Schema, Variable
from eddi.errors import StrategyError
from eddi.model.recipe import DEFAULT
from eddi.strategy import Information, Lookahead, PerCost
from eddi.table.evidence import Evidence

RECIPE = dataclasses.replace(DEFAULT, hidden=(64, 64), term=32, identity=16, offset=16)


def context_rows(n_rows, seed):
    """Which of two bits is the class, the context says, told by two variables; a hint says a little."""
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
    model = PartialVAE(SCHEMA, "truth", recipe=RECIPE, max_steps=800, random_state=0)
    return model.fit(context_rows(3000, 0))


def test_two_questions_are_enough_where_one_says_which_the_other_is(context):
    rows = context_rows(200, 1)
    ahead = eddi.simulate(context, rows, strategy=Lookahead(), max_steps=2)
    greedy = eddi.simulate(context, rows, strategy=Information(reward="target"), max_steps=2)
    assert ahead.accuracy[2] > 0.97
    assert greedy.accuracy[2] < 0.9


def first_question(model, **rules):
    return eddi.Interview(model, "truth", **rules).ask().name


def test_the_first_question_of_all_is_asked_with_the_next_in_mind(context):
    """All share it, so that looking ahead costs nobody any time; from there on answers tell."""
    asked = eddi.simulate(context, context_rows(200, 1), max_steps=2)
    assert asked.accuracy[2] > 0.97
    assert first_question(context) == "context"
    assert first_question(context, strategy=Information(reward="target")) != "context"
    assert first_question(context, strategy=PerCost(Information())) != "context"


def test_what_is_opened_counts_only_while_all_may_be_asked(context):
    assert first_question(context, stop=eddi.Stop(after=1)) != "context"
    assert first_question(context, stop=eddi.Stop(after=1) | eddi.Stop(after=3)) != "context"
    assert first_question(context, stop=eddi.Stop(after=1) & eddi.Stop(after=3)) == "context"
    assert first_question(context, stop=eddi.Stop(budget=1)) != "context"  # of questions that cost 1
    assert first_question(context, stop=eddi.Stop(budget=2)) == "context"
    interview = eddi.Interview(context, "truth")
    interview.tell("first", eddi.DECLINED)
    assert interview.ask().name != "context"


def test_a_reward_is_what_is_told_and_an_explanation_names_what_is_opened(context):
    interview = eddi.Interview(context, "truth")
    assert interview.rewards()["context"] < 0.02
    why = interview.explain()
    assert why.nats < 0.02
    assert why.opens > 0.2
    assert "It also says what to ask after it" in str(why)
    interview.tell("context", 1, 0)
    assert interview.explain().opens == 0


def test_many_questions_are_not_looked_behind_unasked(context, monkeypatch):
    monkeypatch.setattr("eddi.strategy.information.MOST_AHEAD", 3)
    assert (Information().opening(context, ["truth"]) == 0).all()


def test_all_variables_may_be_wanted(context):
    names = list(context.schema_.names)
    assert Lookahead(n_candidates=2).score(context, Evidence.empty(1, 6), names).sum() == 0


def test_the_score_is_the_reward_where_nothing_is_opened(model, people):
    """Of people all traits lean on one number, so that no answer opens another."""
    seen = model.evidence(people(30, seed=5, holes=0.5)).hide(model.schema_.positions(["stage"]))
    ahead = Lookahead(n_draws=50).score(model, seen, ["stage"])
    assert (ahead.argmax(1) == Information().score(model, seen, ["stage"]).argmax(1)).all()


def test_rows_that_have_said_nothing_score_alike(context):
    scores = Lookahead().score(context, Evidence.empty(3, 6), ["truth"])
    assert (scores[0] == scores[2]).all()
    questions = [question.name for question in context.schema_.questions]
    assert questions[int(scores[0].argmax())] == "context"


def test_a_model_without_direct_beliefs_is_refused(people_schema, people):
    paper = PartialVAE(people_schema, recipe="paper", max_steps=1).fit(people(20, 0))
    with pytest.raises(StrategyError, match="direct beliefs"):
        Lookahead().score(paper, Evidence.empty(1, 8), ["stage"])


@pytest.mark.parametrize("wrong", [{"doubt": -1}, {"n_candidates": 0}, {"n_points": 0}])
def test_settings_that_mean_nothing_are_refused(wrong):
    (name,) = wrong
    with pytest.raises(StrategyError, match=f"{name} must be"):
        Lookahead(**wrong)
