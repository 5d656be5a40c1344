"""Exploration: random questions with known probabilities."""

from dataclasses import replace

import numpy as np
import pytest

from eddi import Interview, Stop
from eddi.errors import StrategyError
from eddi.interview.record import Record
from eddi.interview.risk_control import resolve_rules
from eddi.interview.simulated import SimulatedInterviews
from eddi.strategy import (
    Exploration,
    Explore,
    FixedOrder,
    Information,
    PerCost,
    Randomesque,
    default_strategy,
    make_strategy,
)
from eddi.strategy.exploration import draw_question, uniform_number
from eddi.strategy.names import name_strategy, reseed

TARGET = ("stage",)


def make_interview(model, key, *, strategy, stop=None):
    return Interview(model, "stage", strategy=strategy, stop=stop, record=Record(TARGET, (), key))


def test_every_candidate_has_a_positive_probability_and_they_add_up_to_one():
    candidates = np.array([[True, True, False, True]])
    probabilities = Explore(Information(), share=0.3).probabilities(np.array([1]), candidates)
    np.testing.assert_allclose(probabilities, [[0.1, 0.8, 0.0, 0.1]])


def test_an_interview_that_would_end_continues_with_a_random_question():
    candidates = np.array([[True, False, True], [False, False, False]])
    explore = Explore(Information(), share=0.9, continuation=0.5)
    probabilities = explore.probabilities(np.array([-1, -1]), candidates)
    np.testing.assert_allclose(probabilities, [[0.25, 0.0, 0.25], [0.0, 0.0, 0.0]])


def test_questions_are_drawn_with_their_probabilities():
    uniform = (np.arange(10_000) + 0.5) / 10_000
    probabilities = np.tile([0.2, 0.0, 0.5], (10_000, 1))
    drawn = draw_question(probabilities, uniform)
    shares = [(drawn == place).mean() for place in (0, 1, 2, -1)]
    np.testing.assert_allclose(shares, [0.2, 0.0, 0.5, 0.3], atol=1e-3)


def test_rounding_never_ends_an_interview():
    probabilities = np.full((1, 10), 0.1)
    assert draw_question(probabilities, np.array([np.nextafter(1.0, 0.0)]))[0] == 9


def test_random_numbers_of_interviews_are_uniform_and_reproducible():
    numbers = np.array([uniform_number(f"key {i}", 3) for i in range(2_000)])
    assert uniform_number("key 7", 3) == numbers[7] != uniform_number("key 7", 4)
    assert np.histogram(numbers, bins=4, range=(0, 1))[0] == pytest.approx([500] * 4, abs=80)


def test_a_replay_asks_the_same_question_with_the_same_probability(model):
    explore = Explore(Information(), share=0.8)
    first = make_interview(model, "a", strategy=explore)
    first.tell("age", 50)
    step = first.next_step()
    again = Interview(model, "stage", strategy=explore, record=first.record).next_step()
    assert (again.question, again.propensity) == (step.question, step.propensity)


def test_the_share_of_random_questions_is_the_given_one(model):
    explore = Explore(Information(), share=0.5)
    best = Interview(model, "stage").ask()
    asked = [make_interview(model, f"{i}", strategy=explore).ask() for i in range(300)]
    # Half of the questions are random, and a seventh of these is the best one.
    assert np.mean([question == best for question in asked]) == pytest.approx(0.5 + 0.5 / 7, abs=0.09)


def test_the_probability_of_the_question_is_known(model):
    explore = Explore(Information(), share=0.7)
    best = Interview(model, "stage").ask()
    for key in "abcdef":
        step = make_interview(model, key, strategy=explore).next_step()
        expected = 0.1 + 0.3 * (step.question == best)
        assert step.propensity == pytest.approx(expected)
        assert step.propensities[step.question.name] == step.propensity
        assert sum(step.propensities.values()) == pytest.approx(1)


def test_without_exploration_the_probability_is_one(model):
    step = Interview(model, "stage").next_step()
    assert step.propensity == 1
    assert step.propensities == {step.question.name: 1.0}


def test_the_probability_of_the_end_is_known(model):
    strategy = Explore(Information(), continuation=0.25)
    steps = [
        make_interview(model, key, strategy=strategy, stop=Stop(after=0)).next_step()
        for key in map(str, range(40))
    ]
    over = [step for step in steps if step.question is None]
    assert {step.propensity for step in over} == {0.75}
    others = [step.propensity for step in steps if step.question is not None]
    assert others == pytest.approx([0.25 / 7] * len(others))
    assert 0 < len(others) < 20


def test_pinned_questions_are_asked_before_an_exploring_interview_ends(with_schema, people_schema):
    pinned = with_schema(people_schema.with_question("town", always=True))
    strategy = Explore(Information(), share=1.0, continuation=0.5)
    for key in map(str, range(10)):
        interview = make_interview(pinned, key, strategy=strategy, stop=Stop(after=2))
        while (question := interview.ask()) is not None:
            interview.tell(question, None)
        assert "town" in interview.record.answered_questions()


def test_exploration_respects_budgets(with_schema, people_schema):
    expensive = with_schema(people_schema.with_question("town", cost=10))
    strategy = Explore(Information(), share=1.0, continuation=1.0)
    for key in map(str, range(20)):
        interview = make_interview(expensive, key, strategy=strategy, stop=Stop(budget=3))
        assert "town" not in interview.next_step().propensities


def test_a_simulation_explores_reproducibly(model, people):
    truth = model.evidence(people(20, seed=3))
    strategy = Explore(Information(), share=0.5)
    runs = [
        [step.chosen.tolist() for step in SimulatedInterviews(rules, truth).run(3)]
        for rules in (
            resolve_rules(model.fitted(), TARGET, strategy=each)
            for each in (strategy, strategy, reseed(strategy, 1), Information())
        )
    ]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]
    assert runs[0] != runs[3]


def test_scores_and_names_are_those_of_the_other_strategy(model):
    rules = resolve_rules(model.fitted(), TARGET, strategy=Explore(PerCost(Information())))
    assert isinstance(rules.base_strategy, Information)
    assert rules.is_per_cost
    assert name_strategy(Explore(PerCost(Information()))) == "per-cost"


def test_without_evidence_all_candidates_are_equally_likely():
    candidates = np.array([[True, True, False, True]])
    explore = Explore(Information(), share=0.0, sharpness=2.0)
    probabilities = explore.probabilities(np.array([1]), candidates, np.zeros((1, 4)))
    np.testing.assert_allclose(probabilities, [[1 / 3, 1 / 3, 0, 1 / 3]])


def test_evidence_against_a_question_makes_it_less_likely_but_never_impossible():
    candidates, evidence = np.ones((1, 3), dtype=bool), np.array([[0.0, np.log(2), np.inf]])
    explore = Explore(Information(), share=0.3, sharpness=1.0)
    probabilities = explore.probabilities(np.array([0]), candidates, evidence)
    np.testing.assert_allclose(probabilities, [[0.1 + 0.7 * 2 / 3, 0.1 + 0.7 / 3, 0.1]])


def test_an_interview_that_continues_draws_by_evidence_too():
    candidates, evidence = np.array([[True, True, False]]), np.array([[0.0, np.log(3), 0.0]])
    explore = Explore(Information(), share=0.0, continuation=0.5, sharpness=1.0)
    probabilities = explore.probabilities(np.array([-1]), candidates, evidence)
    np.testing.assert_allclose(probabilities, [[0.375, 0.125, 0.0]])


def test_an_interview_goes_on_with_the_questions_that_have_too_few_answers():
    candidates = np.array([[True, True, True], [True, False, False]])
    explore = Explore(Information(), share=1.0, min_answers=40)
    n_answers = np.array([100.0, 39.0, 0.0])
    probabilities = explore.probabilities(np.array([-1, -1]), candidates, None, n_answers)
    np.testing.assert_allclose(probabilities, [[0.0, 0.5, 0.5], [0.0, 0.0, 0.0]])


def test_questions_with_too_few_answers_wait_for_the_end_of_the_interview():
    explore = Explore(Information(), share=0.0, min_answers=40)
    candidates, n_answers = np.array([[True, True]]), np.array([100.0, 0.0])
    probabilities = explore.probabilities(np.array([0]), candidates, None, n_answers)
    np.testing.assert_allclose(probabilities, [[1.0, 0.0]])


@pytest.mark.parametrize("least", [0.0, 1e6])
def test_questions_with_too_few_answers_are_drawn_by_evidence_too(least):
    explore = Explore(Information(), share=0.0, sharpness=1.0, min_answers=40)
    candidates, n_answers = np.ones((1, 3), dtype=bool), np.array([100.0, 0.0, 0.0])
    evidence = np.array([[0.0, least, least + np.log(3)]])
    probabilities = explore.probabilities(np.array([-1]), candidates, evidence, n_answers)
    np.testing.assert_allclose(probabilities, [[0.0, 0.75, 0.25]], rtol=1e-6)


@pytest.mark.parametrize(
    "strategy", [Explore(Information(), min_answers=np.inf), Randomesque(Information())]
)
def test_a_deferred_question_is_asked_last(model, people, strategy):
    interview = make_interview(model, "a", strategy=strategy, stop=Stop(after=4))
    person, asked = people(1, seed=3, missing=0).iloc[0], []
    while (question := interview.next_step(deferred=["age"]).question) is not None:
        asked.append(question.name)
        interview.tell(question.name, person[question.name])
    assert len(asked) == (7 if isinstance(strategy, Explore) else 5)
    assert asked[-1] == "age"


@pytest.mark.parametrize("deferred", ["age", "colour"])
def test_instead_of_the_end_comes_a_deferred_question(model, deferred):
    strategy = Explore(Information(), continuation=0.25)
    for key in map(str, range(20)):
        interview = make_interview(model, key, strategy=strategy, stop=Stop(after=0))
        without, step = interview.next_step(), interview.next_step(deferred=[deferred])
        assert (step.question.name == deferred) == (without.question is None)
        assert step.propensity == step.propensities[step.question.name]
    propensities = dict(step.propensities)
    assert propensities.pop(deferred) == pytest.approx(0.75)
    assert list(propensities.values()) == pytest.approx([0.25 / 6] * 6)


def with_answers(model, n_answers):
    """The model as if so many answers to each question were known."""
    fitted = model.fitted()
    n_by_variable = tuple(n_answers for _ in fitted.schema.variables)
    training = replace(fitted.training, n_answers=n_by_variable, n_prior_rows=0)
    return replace(fitted, training=training)


def test_the_evidence_is_the_gap_of_rewards_times_the_number_of_answers(model):
    strategy = Explore(Information(reward="target"), share=0.0, sharpness=2.0)
    step = Interview(with_answers(model, 3), "stage", strategy=strategy).next_step()
    rewards, found = (
        np.array([values[name] for name in step.rewards]) for values in (step.rewards, step.propensities)
    )
    weights = np.exp(-2.0 * 3 * (rewards.max() - rewards))
    np.testing.assert_allclose(found, weights / weights.sum(), rtol=1e-5)


@pytest.mark.parametrize(("n_answers", "asks_everything"), [(39, True), (40, False)])
def test_first_respondents_are_asked_everything_until_there_are_enough_answers(
    model, people, n_answers, asks_everything
):
    fitted, strategy = with_answers(model, n_answers), Explore(Information(), min_answers=40)
    rules = resolve_rules(fitted, TARGET, strategy=strategy, stop=Stop(after=2))
    truth = fitted.evidence(people(5, seed=3)).hide(fitted.schema.positions(TARGET))
    steps = SimulatedInterviews(rules, truth).run(8)
    n_asked = np.sum([step.chosen >= 0 for step in steps], axis=0)
    np.testing.assert_array_equal(n_asked, truth.observed.sum(1) if asks_everything else 2)


def test_questions_with_too_few_answers_respect_budgets(with_schema, people_schema):
    expensive = with_schema(people_schema.with_question("town", cost=10))
    strategy = Explore(Information(), min_answers=np.inf)
    interview = make_interview(expensive, "a", strategy=strategy, stop=Stop(after=1, budget=3))
    while (question := interview.ask()) is not None:
        interview.tell(question, None)
    assert "town" not in interview.record.answered_questions()
    assert len(interview.record.answered_questions()) == 3


def test_a_question_that_was_rarely_asked_stays_likely(model):
    strategy = Explore(Information(), sharpness=8.0)
    propensities = [
        Interview(with_answers(model, n), "stage", strategy=strategy).next_step().propensities
        for n in (0, 5, 1_000)
    ]
    best = Interview(model, "stage").ask().name
    assert list(propensities[0].values()) == pytest.approx([1 / 7] * 7)
    assert 1 / 7 < propensities[1][best] < propensities[2][best]


def test_with_costs_a_question_is_compared_with_what_its_cost_buys(with_schema, people_schema):
    costly = with_answers(with_schema(people_schema.with_question("town", cost=10)), 3)
    strategy = Explore(PerCost(Information(reward="target")), share=0.0, sharpness=1.0)
    step = Interview(costly, "stage", strategy=strategy).next_step()
    rate = max(reward / costly.schema.question(name).cost for name, reward in step.rewards.items())
    gaps = {name: rate * costly.schema.question(name).cost - step.rewards[name] for name in step.rewards}
    ratio = step.propensities["town"] / max(step.propensities.values())
    assert ratio == pytest.approx(np.exp(-3 * (gaps["town"] - min(gaps.values()))), rel=1e-4)


def test_a_strategy_whose_scores_are_not_nats_asks_its_best_question(model):
    strategy = Explore(FixedOrder(("town", "age")), share=0.7, sharpness=1.0)
    step = Interview(with_answers(model, 0), "stage", strategy=strategy).next_step()
    assert step.propensities["town"] == pytest.approx(0.4)


def test_the_schema_makes_every_strategy_explore(model):
    schema = replace(model.schema_, exploration={"share": 0.5, "sharpness": 3.0})
    fitted = replace(model.fitted(), schema=schema)
    for strategy in (default_strategy(fitted, TARGET), make_strategy("random", fitted, TARGET)):
        assert isinstance(strategy, Explore)
        assert (strategy.share, strategy.sharpness) == (0.5, 3.0)


def test_the_settings_of_exploration_are_plain_numbers():
    settings = Exploration(share=0.1)
    assert Exploration.from_document(settings.to_document()) == settings


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"share": 2}, "exploration: share is a probability from 0 to 1, got 2"),
        ({"continuation": -1}, "exploration: continuation is a probability from 0 to 1, got -1"),
        ({"sharpness": 0}, "exploration: sharpness must be above 0, got 0"),
        ({"min_answers": -1}, "exploration: min_answers must be 0 or more answers, got -1"),
        ({"shares": 0.1}, "there is no setting of exploration 'shares'.*Did you mean 'share'"),
        ({"share": "half"}, "exploration: share must be a number, got 'half'"),
        ({"share": 1.0, "half_after": 20}, "no setting of exploration 'half_after' any more.*Remove it"),
    ],
)
def test_settings_that_are_not_valid_are_explained(document, message):
    with pytest.raises(StrategyError, match=message):
        Exploration.from_document(document)
