"""Interviews that were led with known probabilities, with people whose answers are all known."""

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from eddi.evaluate.off_policy.logged_interviews import LoggedInterviews
from eddi.interview.next_step import NextSteps
from eddi.interview.rules import InterviewRules
from eddi.partial_vae import PartialVAE
from eddi.strategy import Explore, Information
from eddi.strategy.stopping import Stop
from eddi.table import columns

N_QUESTIONS = 3


def lead(policy: InterviewRules, numbers: Any, *, seed: int) -> LoggedInterviews:
    """Interviews with people, each of whom is asked the same number of questions."""
    random = np.random.default_rng(seed)
    schema, n_rows = policy.model.schema, len(numbers)
    order = np.full((n_rows, N_QUESTIONS), -1)
    chances, nothing = np.ones(order.shape), np.zeros(numbers.shape, dtype=bool)
    people = LoggedInterviews(schema, numbers, order, chances, nothing, nothing)
    asked = np.zeros((n_rows, len(schema.questions)), dtype=bool)
    for step in range(N_QUESTIONS):
        states = replace(people.states(policy.model, asked), uniform=random.random(n_rows))
        steps = NextSteps(policy, states)
        order[:, step], chances[:, step] = steps.chosen, steps.propensities
        asked = (order[..., None] == np.arange(asked.shape[1])).any(1)
    policies, number = (policy,), np.zeros(n_rows, dtype=np.int64)
    return LoggedInterviews(schema, numbers, order, chances, nothing, nothing, policies, number)


@pytest.fixture(scope="session")
def rules(model: PartialVAE) -> InterviewRules:
    """Three questions about the age, chosen by information."""
    return InterviewRules(model.fitted(), ("age",), Information(), Stop(after=N_QUESTIONS))


@pytest.fixture(scope="session")
def draw_people(people: Any, people_schema: Any) -> Any:
    """A function that draws people without missing values: `draw_people(n_rows, seed)`."""

    def draw(n_rows: int, seed: int) -> Any:
        table = pa.Table.from_pandas(people(n_rows, seed, missing=0.0))
        return columns.table_to_numbers(table, people_schema)

    return draw


@pytest.fixture(scope="session")
def log_people(draw_people: Any, rules: InterviewRules) -> Any:
    """A function that returns interviews with random questions: `log_people(n_rows, seed)`."""

    def log(n_rows: int, seed: int, share: float = 0.3) -> LoggedInterviews:
        policy = replace(rules, strategy=Explore(rules.strategy, share))
        return lead(policy, draw_people(n_rows, seed), seed=seed + 1)

    return log
