"""The traced decisions are those of an interview."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import eddi
from eddi.errors import TableError
from eddi.evaluate.decision_trace import trace_decisions
from eddi.partial_vae import PartialVAE


@pytest.fixture(scope="module")
def full(people: Any) -> pd.DataFrame:
    return people(3, seed=7, missing=0.0)


def test_decisions_have_the_rewards_and_questions_of_an_interview(
    model: PartialVAE, full: pd.DataFrame
) -> None:
    decisions, _ = trace_decisions(model, full.iloc[:1], "age", n_steps=3)
    interview = eddi.Interview(model, "age")
    names = [question.name for question in model.schema_.questions]
    assert len(decisions) == 3
    for decision in decisions:
        chosen = names[decision.chosen]
        assert chosen == interview.ask().name  # type: ignore[union-attr]
        rewards = {names[k]: r for k, r in enumerate(decision.rewards) if not np.isnan(r)}
        assert rewards == pytest.approx(interview.rewards(), abs=1e-5)
        interview.tell(chosen, full.iloc[0][chosen])


def test_draws_are_standardised_by_the_first_prediction(model: PartialVAE, full: pd.DataFrame) -> None:
    (first, *_), truth = trace_decisions(model, full.iloc[:1], "age", n_steps=2)
    assert first.draws.mean(0) == pytest.approx(np.zeros(8), abs=1e-6)
    assert first.draws.std(0) == pytest.approx(np.ones(8), abs=1e-6)
    assert not np.isnan(truth).any()
    assert (np.abs(truth) < 5).all()


def test_each_decision_observes_the_answers_before_it(model: PartialVAE, full: pd.DataFrame) -> None:
    decisions, _ = trace_decisions(model, full.iloc[:1], "age", n_steps=3)
    assert [decision.observed.sum() for decision in decisions] == [0, 1, 2]
    position = model.schema_.position(model.schema_.questions[decisions[0].chosen].reveals[0])
    assert decisions[1].observed[position]


def test_missing_values_of_the_row_are_not_observed(model: PartialVAE, full: pd.DataFrame) -> None:
    _, truth = trace_decisions(model, full.iloc[:1].assign(town=None), "age", n_steps=1)
    assert np.flatnonzero(np.isnan(truth)).tolist() == [model.schema_.position("town")]


def test_only_a_single_row_can_be_traced(model: PartialVAE, full: pd.DataFrame) -> None:
    with pytest.raises(TableError, match="for one row, got 3"):
        trace_decisions(model, full, "age")
