"""Interviews that a policy with known probabilities led, with rows of people whose answers are all known."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from eddi.evaluate.off_policy.logged_interviews import LoggedInterviews
from eddi.interview.next_step import InterviewStates, NextSteps
from eddi.interview.rules import InterviewRules
from eddi.strategy.information import Information
from eddi.strategy.stopping import Stop
from eddi.table import columns

N_QUESTIONS = 3


@dataclass(frozen=True)
class ExploringPolicy:
    """Asks a random question with probability ``share``, else the best one, ``n_steps`` times."""

    rules: InterviewRules
    share: float
    n_steps: int

    @property
    def model(self) -> Any:
        return self.rules.model

    def question_probabilities(self, states: InterviewStates) -> Any:
        steps = NextSteps(self.rules, states)
        chances = self.share * steps.open / np.maximum(steps.open.sum(1, keepdims=True), 1)
        rows = np.flatnonzero(steps.chosen >= 0)
        chances[rows, steps.chosen[rows]] += 1 - self.share
        return np.where((states.n_asked < self.n_steps)[:, None], chances, 0.0)

    def lead(self, numbers: Any, *, seed: int, is_known: bool = True) -> LoggedInterviews:
        """Interviews with people; ``is_known`` says whether the log knows the policy."""
        random = np.random.default_rng(seed)
        schema, n_rows = self.model.schema, len(numbers)
        nothing = np.zeros(numbers.shape, dtype=bool)
        order = np.full((n_rows, self.n_steps), -1)
        chances = np.ones(order.shape)
        people = LoggedInterviews(schema, numbers, order, chances, nothing, nothing)
        asked = np.zeros((n_rows, len(schema.questions)), dtype=bool)
        for step in range(self.n_steps):
            probabilities = self.question_probabilities(people.states(self.model, asked))
            order[:, step] = [random.choice(len(row), p=row) for row in probabilities]
            chances[:, step] = probabilities[np.arange(n_rows), order[:, step]]
            asked = (order[..., None] == np.arange(asked.shape[1])).any(1)
        policies = (self,) if is_known else ()
        return LoggedInterviews(
            schema, numbers, order, chances, nothing, nothing, policies, np.zeros(n_rows, dtype=int)
        )


@pytest.fixture(scope="session")
def rules(people_model: Any) -> InterviewRules:
    """Three questions about the age, chosen by information."""
    model = people_model(target="age").fitted()
    return InterviewRules(model, ("age",), Information(), Stop(after=N_QUESTIONS))


@pytest.fixture(scope="session")
def draw_people(people: Any, people_schema: Any) -> Any:
    """A function that draws people without missing values: `draw_people(n_rows, seed)`."""

    def draw(n_rows: int, seed: int) -> Any:
        import pyarrow as pa

        table = pa.Table.from_pandas(people(n_rows, seed, missing=0.0))
        return columns.table_to_numbers(table, people_schema)

    return draw


@pytest.fixture(scope="session")
def log_people(draw_people: Any, rules: InterviewRules) -> Any:
    """A function that returns logged interviews: `log_people(n_rows, seed)`."""

    def log(n_rows: int, seed: int, share: float = 0.3) -> LoggedInterviews:
        policy = ExploringPolicy(InterviewRules(rules.model, rules.target, rules.strategy, Stop()), share, N_QUESTIONS)
        return policy.lead(draw_people(n_rows, seed), seed=seed + 1)

    return log
