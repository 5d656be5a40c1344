"""Inverse propensity weights of logged interviews under other rules.

The weights of an interview compare how likely it is under the rules with how likely it was in the log. If
only the probabilities of the questions that were asked are known, log and rules must ask the same questions
in the same order. If the policy of the log is known, the order is irrelevant, since answers do not depend on
it: the weight is the ratio of the probabilities of the *set* of answers, under "first the rules, then
the policy of the log" and under the policy of the log alone. Its mean over what the policy might have asked
is 1, as that of the ratio for a sequence is. Its variance is smaller: it is the mean of that ratio over
all orders of the same set (Rao-Blackwell).
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from eddi.evaluate.off_policy.logged_interviews import (
    NO_QUESTION,
    LoggedInterviews,
    Numbers,
)
from eddi.interview.next_step import NextSteps
from eddi.interview.rules import InterviewRules, Mask

MAX_SET = 8  # questions of an interview whose 256 subsets are enumerated; longer ones use their order
CHUNK_STATES = 8_192  # evaluated by a policy at a time


def weigh_sequences(logged: LoggedInterviews, asked: NDArray[np.int64]) -> Numbers:
    """The weight up to each question that the rules ask [rows, steps + 1], by order.

    Args:
        logged: the interviews.
        asked: the questions that the rules ask, in order [rows, steps]; -1 after the last.
    """
    n_rows, n_steps = asked.shape
    weights = np.ones((n_rows, n_steps + 1))
    for step in range(n_steps):
        n_logged = logged.order.shape[1]
        order = logged.order[:, step] if step < n_logged else np.full(n_rows, NO_QUESTION)
        chance = logged.propensities[:, step] if step < n_logged else np.ones(n_rows)
        is_over = asked[:, step] == NO_QUESTION
        ratio = np.where(order == asked[:, step], 1 / np.nan_to_num(chance, nan=1.0), 0.0)
        weights[:, step + 1] = weights[:, step] * np.where(is_over, 1.0, ratio)
    return weights


def weigh_sets(logged: LoggedInterviews, asked: NDArray[np.int64]) -> Numbers:
    """The weight up to each question that the rules ask [rows, steps + 1], by set; see the module."""
    weights = weigh_sequences(logged, asked)
    assert logged.policy_of_row is not None  # noqa: S101  # there are policies
    for number, policy in enumerate(logged.policies):
        own = np.flatnonzero(logged.policy_of_row == number)
        is_complete = _find_complete(logged[own], policy)
        complete, others = own[is_complete], own[~is_complete]
        weights[complete] = _weigh_complete(logged[complete], asked[complete])
        for size in range(1, MAX_SET + 1):
            rows = others[logged.n_asked[others] == size]
            for start in range(0, len(rows), chunk := max(1, CHUNK_STATES >> size)):
                part = rows[start : start + chunk]
                by_set, is_possible = _weigh_sets(logged[part], policy, size, asked[part])
                weights[part] = np.where(is_possible[:, None], by_set, weights[part])
    return weights


def _find_complete(logged: LoggedInterviews, policy: InterviewRules) -> NDArray[np.bool_]:
    """Whether the policy asks everything that can be asked of a person, and did so [rows]."""
    if not policy.explores_all:
        return np.zeros(len(logged), dtype=bool)
    states = logged.states(policy.model, logged.asked)
    return np.asarray(~policy.open_questions(states.evidence, states.closed, states.spent).any(1))


def _weigh_complete(logged: LoggedInterviews, asked: NDArray[np.int64]) -> Numbers:
    """The weights of interviews whose policy asks everything: 1 as long as the rules ask only that."""
    is_known = np.take_along_axis(logged.asked, asked, axis=1) | (asked == NO_QUESTION)
    first = np.ones((len(asked), 1))
    return np.concatenate([first, np.cumprod(is_known, axis=1)], axis=1)


def _weigh_sets(
    logged: LoggedInterviews, policy: InterviewRules, size: int, asked: NDArray[np.int64]
) -> tuple[Numbers, NDArray[np.bool_]]:
    """Weights [rows, steps + 1], and whether the policy asks these sets at all [rows].

    It does not if a respondent put off a question that it would not have asked.
    """
    mass = path_mass(logged, policy, size)  # [rows, subsets]
    n_rows, n_steps = asked.shape
    is_possible = mass[:, 0] > 0
    start = np.where(is_possible, mass[:, 0], 1.0)
    rows = np.arange(n_rows)
    subset = np.zeros(n_rows, dtype=np.int64)
    is_logged = np.ones(n_rows, dtype=bool)
    weights = np.ones((n_rows, n_steps + 1))
    for step in range(n_steps):
        is_over = asked[:, step] == NO_QUESTION
        agrees = logged.order[:, :size] == asked[:, step, None]  # [rows, size]
        is_logged &= is_over | agrees.any(1)
        subset |= np.where(is_over | ~agrees.any(1), 0, 1 << agrees.argmax(1))
        weights[:, step + 1] = np.where(is_logged, mass[rows, subset] / start, 0.0)
    return weights, is_possible


def path_mass(logged: LoggedInterviews, policy: InterviewRules, size: int) -> Numbers:
    """The probability of reaching the set of all answers from each of its subsets [rows, subsets].

    Bit k of a subset stands for the k-th question that was asked.
    """
    n_rows, n_subsets = len(logged), 1 << size
    rows, subsets = np.divmod(np.arange(n_rows * n_subsets), n_subsets)
    states = logged[rows].states(policy.model, _expand(logged, size)[rows, subsets])
    states = replace(states, uniform=np.zeros(len(rows)))  # the rules explore
    chances = NextSteps(policy, states).probabilities  # [rows x subsets, questions]
    chances = np.take_along_axis(chances, logged.order[rows, :size], axis=1)
    chances = chances.reshape(n_rows, n_subsets, size)
    mass = np.zeros((n_rows, n_subsets))
    mass[:, -1] = 1.0
    for subset in range(n_subsets - 2, -1, -1):
        for bit in range(size):
            if not subset >> bit & 1:
                mass[:, subset] += chances[:, subset, bit] * mass[:, subset | 1 << bit]
    return mass


def _expand(logged: LoggedInterviews, size: int) -> Mask:
    """The questions of each subset of each interview [rows, subsets, questions]."""
    bits = (np.arange(1 << size)[:, None] >> np.arange(size) & 1).astype(bool)  # [subsets, size]
    one_hot = logged.order[:, :size, None] == np.arange(len(logged.schema.questions))
    return np.asarray(np.einsum("sk,rkq->rsq", bits, one_hot) > 0)


def compute_weights(logged: LoggedInterviews, asked: NDArray[np.int64]) -> Numbers:
    """The weights by set if the policies of the log are known, else by order."""
    if not logged.policies:
        return weigh_sequences(logged, asked)
    return weigh_sets(logged, asked)
