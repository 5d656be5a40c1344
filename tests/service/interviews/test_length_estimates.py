"""Estimates of the questions left are simulated once for each questionnaire."""

from dataclasses import replace

import pytest

from eddi import Stop
from eddi.service.interviews import interview_analytics
from eddi.service.interviews.length_estimates import LengthEstimates, QuestionsLeft


@pytest.fixture
def simulations(monkeypatch):
    """The rules for which interviews were simulated."""
    rules_seen = []
    simulate = interview_analytics.simulate_lengths

    def record(rules):
        rules_seen.append(rules)
        return simulate(rules)

    monkeypatch.setattr(interview_analytics, "simulate_lengths", record)
    return rules_seen


def test_a_fixed_length_needs_no_simulation(questionnaire, simulations):
    short = replace(questionnaire, stop=Stop(after=3))
    left = LengthEstimates().questions_left(short, short.interview())
    assert left == QuestionsLeft(3, 3)
    assert simulations == []


def test_a_variable_length_is_simulated_once_for_each_questionnaire_and_target(
    questionnaire, simulations
):
    certain = replace(questionnaire, stop=Stop(probability_above=0.6))
    estimates = LengthEstimates()
    left = [estimates.questions_left(certain, certain.interview()) for _ in range(2)]
    assert left[0] == left[1]
    assert 1 <= left[0].estimate < left[0].maximum == 7
    assert len(simulations) == 1
    estimates.questions_left(certain, certain.interview("pain"))
    assert len(simulations) == 2
