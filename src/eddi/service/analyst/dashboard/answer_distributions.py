"""The distribution of answers to each question, compared with what the model expected of the same people.

What is expected of a person is the prediction just before the answer, given the answers so far. Its mean over
the people who were asked is compared with the shares of their answers. People who are asked a question differ
from the training data, so the distribution in the training data would be misleading.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from eddi.interview.interview import answers_to_evidence
from eddi.interview.record import Answer
from eddi.model.fitted import FittedModel
from eddi.service.analyst.questionnaires.collected_answers import Person
from eddi.service.interviews.drift import stability_index
from eddi.service.web.svg import ticks
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind, Variable

N_QUANTILES = 19  # of the prediction of a quantity
MAX_CELLS = (
    2_000_000  # predicted values per question; limits the number of people of wide questionnaires
)
N_BINS = 8  # of a quantity, about
OUTER_SHARE = (
    0.02  # of the values that the first and the last bin have at least, so that bins are readable
)

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class AnswerDistribution:
    """The answers to one variable, and what the model expected of the same people.

    Args:
        variable: that was asked.
        edges: between the bins of a quantity; empty if the bins are levels.
        observed: share of the answers in each bin [bins].
        expected: mean predicted probability of each bin [bins].
        n_people: who answered with a value.
    """

    variable: Variable
    edges: tuple[float, ...]
    observed: Numbers
    expected: Numbers
    n_people: int

    @property
    def stability(self) -> float:
        """The population stability index: below 0.1 the answers are as expected, above 0.25 they are not."""
        counts = np.rint(self.observed * self.n_people).astype(np.int64)
        return stability_index(counts, self.expected)


@dataclass(frozen=True)
class _Asked:
    """What people answered to one question, and the evidence before it."""

    before: list[tuple[Answer, ...]]
    answers: list[Answer]


def compare_answers(
    model: FittedModel, people: Sequence[Person], questions: Sequence[str]
) -> dict[str, list[AnswerDistribution]]:
    """Return the distributions of the answers to these questions, by question."""
    return {name: list(_compare_question(model, _find_asked(people, name))) for name in questions}


def _find_asked(people: Sequence[Person], question: str) -> _Asked:
    found = _Asked([], [])
    for person in people:
        for place, answer in enumerate(person.record.answers):
            if answer.question == question and answer.values:
                found.before.append(person.record.answers[:place])
                found.answers.append(answer)
    return found


def _compare_question(model: FittedModel, asked: _Asked) -> Iterator[AnswerDistribution]:
    schema = model.schema
    limit = max(1, MAX_CELLS // max(1, N_QUANTILES * len(schema.variables)))
    answers = asked.answers[:limit]
    names = dict.fromkeys(name for answer in answers for name in answer.values if name in schema.names)
    evidence = answers_to_evidence(model, asked.before[:limit])
    for name in names:
        rows = [row for row, answer in enumerate(answers) if name in answer.values]
        numbers = np.array(
            [schema[name].number(answers[row].values[name], confirm=True) for row in rows], float
        )
        hidden = evidence[rows].hide([schema.position(name)])
        yield _compare_variable(model, schema[name], hidden, numbers)


def _compare_variable(
    model: FittedModel, variable: Variable, before: Evidence, numbers: Numbers
) -> AnswerDistribution:
    n_people = len(numbers)
    if variable.kind.has_levels:
        prediction = model.predict_evidence(before, [variable.name])[variable.name]
        expected = np.asarray(prediction.probabilities).mean(0)
        counts = np.bincount(numbers.astype(int), minlength=variable.n_levels)
        return AnswerDistribution(variable, (), counts / n_people, expected, n_people)
    quantiles, is_count = _predict_quantiles(model, variable.name, before), variable.kind is Kind.COUNT
    if is_count:
        quantiles = np.maximum(0.0, np.rint(quantiles))
    edges = _choose_edges(np.concatenate([numbers, quantiles]), is_count=is_count)
    return AnswerDistribution(
        variable, edges, _shares(numbers, edges), _shares(quantiles, edges), n_people
    )


def _predict_quantiles(model: FittedModel, name: str, evidence: Evidence) -> Numbers:
    """Evenly spaced quantiles of the predictions of a quantity, for all rows together [rows * quantiles]."""
    position, n_variables = model.schema.position(name), len(model.schema.variables)
    levels = (torch.arange(N_QUANTILES) + 0.5) / N_QUANTILES
    found = []
    for distribution in model.predictive_distributions(evidence):
        shape = (distribution.n_rows, n_variables)
        for level in levels.tolist():
            column = torch.full(shape, level, device=distribution.outputs.device)
            found.append(distribution.quantile(column, [position])[:, 0].cpu().numpy())
    coded = np.zeros((sum(map(len, found)), n_variables))
    coded[:, position] = np.concatenate(found)
    return np.asarray(model.coding.decode(coded)[:, position], dtype=np.float64)


def _choose_edges(values: Numbers, *, is_count: bool) -> tuple[float, ...]:
    """Round numbers between which most values lie; a bin begins at its lower edge."""
    low, high = np.quantile(values, [OUTER_SHARE, 1 - OUTER_SHARE]).tolist()
    inner = [edge for edge in ticks(low, high, N_BINS) if values.min() < edge <= high]
    chosen = [edge for edge in inner if edge.is_integer() or not is_count]
    return tuple(chosen) or (max(1.0, float(np.ceil(high))) if is_count else float(high),)


def _shares(values: Numbers, edges: Sequence[float]) -> Numbers:
    bins = np.searchsorted(np.asarray(edges), values, side="right")
    return np.bincount(bins, minlength=len(edges) + 1) / max(1, len(values))
