"""Explanations of questions, in words and numbers."""

import numpy as np
import pytest

from eddi import Interview
from eddi.interview.explanation import explain
from eddi.interview.record import Record
from eddi.reward.units import format_bits
from eddi.strategy import Explore, FixedOrder, Information

ANSWERS = {
    "age": 61.5,
    "visits": 3,
    "smoker": "yes",
    "pain": "mild",
    "town": "Bala",
    "weight": 80.0,
    "colour": "red",
}


def test_an_explanation_states_the_information_the_expected_change_and_the_runner_up(interview):
    explanation, rewards = interview.explain(), interview.rewards()
    second = list(rewards)[1]
    assert explanation.question == interview.ask()
    assert explanation.runner_up == (second, rewards[second])
    assert explanation.after < explanation.now
    assert str(explanation) == (
        f"{explanation.question.text!r} is expected to give {format_bits(explanation.nats)} of information "
        "about stage, and to change the probability that the best guess of stage is wrong from "
        f"{explanation.now:.0%} to {explanation.after:.0%}. "
        f"Next best: {second!r} ({format_bits(rewards[second])})."
    )


def test_the_uncertainty_of_a_quantity_is_the_width_of_its_interval(model):
    interview = Interview(model, "weight")
    explanation = interview.explain()
    low, high = interview.predict().interval
    assert explanation.now == high - low
    assert explanation.after < explanation.now
    assert (
        f"the width of the 90% interval of weight from {explanation.now:.4g} to {explanation.after:.4g}"
    ) in str(explanation)


def test_the_last_question_has_no_runner_up(interview):
    for name in list(ANSWERS)[:-1]:
        interview.tell(name, ANSWERS[name])
    explanation = interview.explain()
    assert explanation.runner_up is None
    assert str(explanation).endswith("No other question is left.")


def test_a_completed_interview_has_no_explanation(interview):
    for name, value in ANSWERS.items():
        interview.tell(name, value)
    assert interview.explain() is None


def test_the_choice_of_another_strategy_is_explained_in_nats_with_its_own_runner_up(model):
    interview = Interview(model, "stage", strategy=FixedOrder(("colour", "town")))
    explanation = interview.explain()
    assert (explanation.question.name, explanation.runner_up[0]) == ("colour", "town")
    assert explanation.nats == interview.rewards()["colour"]


def test_any_open_question_can_be_explained(interview):
    step = interview.next_step()
    last = step.ranking[-1]
    question = next(q for q in interview.model.schema.questions if q.name == last)
    explanation = explain(
        interview.model, interview.evidence(), interview.target, step, question=question
    )
    assert explanation.question == question
    assert explanation.nats == step.rewards[last]
    assert explanation.runner_up == (step.question.name, step.rewards[step.question.name])


def test_an_explanation_mentions_costs_if_they_decide(body_model):
    interview = Interview(body_model, "stage")
    explanation = interview.explain()
    cost = explanation.question.cost
    assert explanation.per_cost
    assert f"It costs {cost:g}: {format_bits(explanation.nats / cost)} per unit of cost." in str(
        explanation
    )


def test_a_question_that_is_chosen_for_its_low_cost_is_not_called_the_most_informative(
    with_schema, people_schema, interview
):
    best = interview.ask().name
    model = with_schema(people_schema.with_question(best, cost=1000))
    explanation = Interview(model, "stage").explain()
    assert explanation.question.name != best
    assert not explanation.is_most_informative


def test_the_expected_change_agrees_with_the_predictions_that_follow(model, people):
    """The expected uncertainty is the mean uncertainty of people who answer, drawn from the model."""
    interview = Interview(model, "weight")
    explanation, fitted = interview.explain(), model.fitted()
    drawn = fitted.draw_tables(fitted.evidence(people(1, 0)).hide(range(8)), 400, seed=5)[:, 0]
    position = fitted.schema.position(explanation.question.reveals[0])
    hidden = np.arange(8) != position
    rows = fitted.coding.encode(np.where(hidden, np.nan, drawn))
    widths = np.diff(fitted.predict_evidence(rows, ("weight",))["weight"].interval, axis=-1)
    assert explanation.after == pytest.approx(widths.mean(), rel=0.03)


def test_the_information_is_about_all_targets(model):
    explanation = Interview(model, ["stage", "weight"]).explain()
    assert "bits of information about stage and weight, and to change" in str(explanation)
    assert "the best guess of stage is wrong" in str(explanation)


def test_a_random_question_is_explained_as_random(model):
    strategy = Explore(Information(), share=0.99)
    best = Interview(model, "stage").ask()
    interviews = (
        Interview(model, strategy=strategy, record=Record(("stage",), (), str(key))) for key in range(20)
    )
    interview = next(each for each in interviews if each.ask() != best)
    assert "chosen at random, so that the model can learn" in str(interview.explain())
    assert "at random" not in str(Interview(model, "stage").explain())
