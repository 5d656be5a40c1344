"""Training weights of logged interviews, from the probabilities of their questions.

`PartialVAE.fit` uses them instead of propensities that are estimated from the table; see
`eddi.model.training.question_weights`. The weight of a set S of answers is the probability of the
interview if S had been asked first, divided by its probability (`weights.path_mass`). Its mean over what the
policy might have asked is 1, so a weighted mean over interviews with S is a mean over all persons.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from eddi.evaluate.off_policy.logged_interviews import LoggedInterviews, Numbers
from eddi.evaluate.off_policy.weights import CHUNK_STATES, path_mass
from eddi.interview.rules import InterviewRules
from eddi.model.training.question_weights import MAX_WEIGHT, QuestionWeights

MAX_QUESTIONS = 8  # of an interview whose 256 subsets are enumerated; longer ones have equal weights


def compute_question_weights(logged: LoggedInterviews) -> QuestionWeights:
    """The training weights of logged interviews.

    Interviews have equal weights if their policy did not explore, since it never asks some questions of
    some people, and if they have more than 8 questions, since that is nearly everything.
    """
    sizes = _count_questions(logged)
    width = 1 << int(sizes.max(initial=0))
    weights = np.ones((len(logged), width))
    for rows, policy, size in _iter_groups(logged, sizes):
        mass = path_mass(logged[rows], policy, size)
        is_possible = mass[:, :1] > 0
        weights[rows, : 1 << size] = np.where(
            is_possible, mass / np.where(is_possible, mass[:, :1], 1), 1
        )
    weights = _stabilise(weights, _encode_sets(logged, sizes, width), sizes)
    clipped = weights.clip(1 / MAX_WEIGHT, MAX_WEIGHT).astype(np.float32)
    return QuestionWeights(clipped, _find_bits(logged, sizes), np.ones(len(logged), dtype=bool))


def _count_questions(logged: LoggedInterviews) -> NDArray[np.int64]:
    """The number of questions whose subsets are enumerated [rows]; 0 for equal weights."""
    sizes = np.where(logged.n_asked <= MAX_QUESTIONS, logged.n_asked, 0)
    explores = [policy.exploration is not None for policy in logged.policies]
    if logged.policy_of_row is None:
        return np.zeros_like(sizes)
    return np.where(np.array([*explores, False])[logged.policy_of_row], sizes, 0)


def _iter_groups(
    logged: LoggedInterviews, sizes: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], InterviewRules, int]]:
    """Interviews with the same policy and number of questions, some at a time."""
    for number, policy in enumerate(logged.policies):
        for size in range(1, MAX_QUESTIONS + 1):
            rows = np.flatnonzero((logged.policy_of_row == number) & (sizes == size))
            for start in range(0, len(rows), chunk := max(1, CHUNK_STATES >> size)):
                yield rows[start : start + chunk], policy, size


def _find_bits(logged: LoggedInterviews, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The bit of the question that revealed each variable [rows, variables]; 0 if none did."""
    bits = np.zeros(logged.numbers.shape, dtype=np.int64)
    for place in range(int(sizes.max(initial=0))):
        rows = np.flatnonzero(sizes > place)
        revealed = logged.schema.reveals_mask[logged.order[rows, place]]
        is_new = revealed & (bits[rows] == 0) & ~logged.volunteered[rows]
        bits[rows] |= np.where(is_new, 1 << place, 0)
    return bits


def _encode_sets(logged: LoggedInterviews, sizes: NDArray[np.int64], width: int) -> NDArray[np.uint64]:
    """A number for each subset of the questions of a row [rows, subsets]; the same sets have the same."""
    random = np.random.default_rng(0)
    codes = random.integers(0, 2**62, len(logged.schema.questions), dtype=np.uint64)
    sums = np.zeros((len(logged), width), dtype=np.uint64)  # random numbers, so different sums differ
    for place in range(int(sizes.max(initial=0))):
        has_question = (sizes > place)[:, None] & (np.arange(width) >> place & 1).astype(bool)
        sums += np.where(has_question, codes[logged.order[:, place]][:, None], np.uint64(0))
    return sums


def _stabilise(weights: Numbers, sets: NDArray[np.uint64], sizes: NDArray[np.int64]) -> Numbers:
    """Divide weights by their mean over the interviews that have the same set [rows, subsets]."""
    exists = np.arange(weights.shape[1]) < (1 << sizes)[:, None]
    _, places = np.unique(sets[exists], return_inverse=True)
    means = np.bincount(places, weights[exists]) / np.bincount(places)
    stabilised = np.ones_like(weights)
    stabilised[exists] = weights[exists] / np.where(means > 0, means, 1.0)[places]
    return stabilised
