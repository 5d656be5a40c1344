"""Exploration: ask some questions at random, with known probabilities, so that a model can learn from them.

A model that learns from its own interviews never sees answers to questions that it does not ask. With
exploration, every open question has a positive probability at every step at which the interview does not
end. The probabilities are known, so other models and strategies can be evaluated on the collected answers
(Horvitz and Thompson 1952).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from eddi.errors import StrategyError
from eddi.model.base import Model
from eddi.strategy.base import Strategy
from eddi.table.evidence import Evidence
from eddi.table.text import suggest_name

Mask = NDArray[np.bool_]
Numbers = NDArray[np.float64]

ROUNDING = 1e-9  # of a sum of probabilities


@dataclass(frozen=True)
class Explore:
    """Another strategy that asks some questions at random.

    A question is drawn with a probability proportional to exp(-sharpness * n * gap), where the gap is the
    difference in expected information from the best question, in nats, and n the number of training rows
    with an answer to it. This is softmax (Boltzmann) exploration whose inverse temperature grows with the
    data, mixed with a uniform draw. Without data and stated relations, all questions are about equally
    likely. Questions that were rarely asked stay likely, and those that are clearly worse are given up.

    The first respondents are asked more: an interview that would end goes on with the questions that have
    fewer than ``min_answers`` answers. Complete rows show how answers depend on each other, which interviews
    of a few questions hardly do.

    Questions that are always asked are never dropped, and budgets hold. A random number of the interview
    and of the step decides, so a replay asks the same questions.

    Args:
        inner: scores the questions.
        share: probability of a draw in which all open questions are equally likely.
        continuation: probability that another question is drawn when the stopping rule ends the interview.
            With 1, every open question is asked.
        sharpness: how fast worse questions are given up; infinite asks the best question, besides the share.
            It applies to strategies whose scores are nats; others ask their best question.
        seed: of simulated interviews.
        min_answers: a question with fewer answers among the training rows is asked in every interview, at its
            end; 0 for no such questions. Rows that beliefs count as are answers, too.
    """

    inner: Strategy
    share: float = 0.1
    continuation: float = 0.0
    sharpness: float = math.inf
    seed: int = 0
    min_answers: float = 0.0

    def __post_init__(self) -> None:
        _check_probability("share", self.share)
        _check_probability("continuation", self.continuation)
        _check_sharpness(self.sharpness)
        _check_min_answers(self.min_answers)

    def score(self, model: Model, evidence: Evidence, target: Sequence[str]) -> Tensor:
        return self.inner.score(model, evidence, target)

    def adjust(self, scores: Tensor, costs: Tensor) -> Tensor:  # noqa: ARG002  # as every `CostAware`
        return scores

    def lack_answers(self, n_answers: Numbers) -> Mask:
        """Whether questions with so many answers are asked in every interview [questions]."""
        return np.asarray(n_answers < self.min_answers)

    def probabilities(
        self,
        best: NDArray[np.int64],
        candidates: Mask,
        nats_against: Numbers | None = None,
        n_answers: Numbers | None = None,
    ) -> Numbers:
        """The probability of each question to be asked next [rows, questions].

        What is missing to 1 is the probability that the interview ends.

        Args:
            best: the question without exploration, one of the candidates [rows]; -1 if the interview ends.
            candidates: questions that may be asked at random [rows, questions].
            nats_against: evidence that each candidate is worse than the best one [rows, questions]; None if
                it is not known.
            n_answers: number of training rows behind the reward of each question [questions]; None if it is
                not known, so that no question is asked for want of answers.
        """
        is_over = (best < 0)[:, None]
        continuation = np.where(is_over, self.continuation, 1.0)
        if n_answers is not None:
            wanted = candidates & is_over & self.lack_answers(n_answers)
            is_wanted = wanted.any(1, keepdims=True)
            candidates = np.where(is_wanted, wanted, candidates)
            continuation = np.where(is_wanted, 1.0, continuation)
        sure = choose_surely(best, candidates.shape[1])
        uniform = np.where(candidates.any(1, keepdims=True), _normalise(candidates), sure)
        drawn = self.share * uniform + (1 - self.share) * self._draw(sure, candidates, nats_against)
        return np.asarray(continuation * drawn)

    def _draw(self, sure: Numbers, candidates: Mask, nats_against: Numbers | None) -> Numbers:
        """The probabilities besides the share: the best question's, or those of all candidates."""
        if nats_against is None or math.isinf(self.sharpness):
            is_over = ~sure.any(1, keepdims=True)
            return np.where(is_over, _normalise(candidates), sure)
        # Relative to the best candidate, since all weights might be too small otherwise.
        least = nats_against.min(1, keepdims=True, initial=np.inf, where=candidates)
        gap = np.where(candidates & np.isfinite(least), nats_against - least, 0.0)
        return _normalise(np.where(candidates, np.exp(-self.sharpness * gap), 0.0))


@dataclass(frozen=True)
class Exploration:
    """How much interviews explore: the section ``[exploration]`` of a schema; see `Explore`.

    Exploration ends by itself, question by question, as answers show which ones are worse. Only the share
    remains, so that every open question has a positive probability.

    Args:
        sharpness: how fast questions that seem worse are given up.
        share: probability of a draw in which all open questions are equally likely.
        continuation: probability of another question at the end of an interview.
        min_answers: every interview asks the questions that have fewer answers than this.
    """

    sharpness: float = 8.0
    share: float = 0.02
    continuation: float = 0.0
    min_answers: float = 60.0

    def __post_init__(self) -> None:
        _check_sharpness(self.sharpness)
        _check_probability("share", self.share)
        _check_probability("continuation", self.continuation)
        _check_min_answers(self.min_answers)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "Exploration":
        """The settings of the section ``[exploration]`` of a schema.

        Raises:
            StrategyError: a setting is unknown, or its value is not valid.
        """
        names = [setting.name for setting in fields(cls)]
        if "half_after" in document:
            raise StrategyError(
                "there is no setting of exploration 'half_after' any more: questions that are worse are "
                "given up as answers to them arrive. Remove it and 'share', or set 'sharpness'."
            )
        for name, value in document.items():
            if name not in names:
                hint = suggest_name(name, names)
                raise StrategyError(
                    f"there is no setting of exploration {name!r}.{hint} Settings are: {', '.join(names)}."
                )
            if not isinstance(value, int | float) or isinstance(value, bool):
                raise StrategyError(f"exploration: {name} must be a number, got {value!r}.")
        return cls(**document)

    def to_document(self) -> dict[str, float]:
        """The settings as plain JSON or TOML."""
        return asdict(self)

    def wrap(self, strategy: Strategy) -> Explore:
        """The strategy with this exploration."""
        return Explore(
            strategy, self.share, self.continuation, self.sharpness, min_answers=self.min_answers
        )


def choose_surely(chosen: NDArray[np.int64], n_questions: int) -> Numbers:
    """Probability 1 of the chosen question [rows, questions]; all 0 for -1."""
    return np.asarray(np.arange(n_questions) == chosen[:, None], dtype=np.float64)


def draw_question(probabilities: Numbers, uniform: Numbers) -> NDArray[np.int64]:
    """A question for each row, drawn with these probabilities [rows]; -1 if the interview ends."""
    cumulative = probabilities.cumsum(1)
    total = cumulative[:, -1:]
    # Rounding must not end an interview whose probability to end is 0.
    limits = np.where(total > 1 - ROUNDING, cumulative / np.maximum(total, ROUNDING), cumulative)
    is_past = limits <= uniform[:, None]
    return np.where(is_past.all(1), -1, (~is_past).argmax(1))


def uniform_number(key: str, n_answers: int) -> float:
    """The random number in [0, 1) of an interview at a step, from its key and its number of answers."""
    digest = blake2b(f"{key}/{n_answers}".encode(), digest_size=8).digest()
    return (int.from_bytes(digest, "big") >> 11) / 2.0**53


def _normalise(weights: NDArray[Any]) -> Numbers:
    """Weights that add up to 1 in each row [rows, questions]; all 0 if none is positive."""
    total = weights.sum(1, keepdims=True)
    return np.asarray(weights / np.where(total > 0, total, 1))


def _check_sharpness(value: float) -> None:
    if not value > 0:
        raise StrategyError(f"exploration: sharpness must be above 0, got {value:g}.")


def _check_min_answers(value: float) -> None:
    if not value >= 0:
        raise StrategyError(f"exploration: min_answers must be 0 or more answers, got {value:g}.")


def _check_probability(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise StrategyError(f"exploration: {name} is a probability from 0 to 1, got {value:g}.")
