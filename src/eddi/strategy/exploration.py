"""Exploration: ask some questions at random, with known probabilities, so that a model can learn from them.

A model that learns from its own interviews never sees answers to questions that it does not ask. With
exploration, every open question has a positive probability at every step. The probabilities are known, so
other models and strategies can be evaluated on the collected answers (Horvitz and Thompson 1952).
"""

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

    Questions that are always asked are never dropped, and budgets hold. A random number of the interview
    and of the step decides, so a replay asks the same questions.

    Args:
        inner: chooses the best question.
        share: probability that a random open question is asked instead of the best one.
        continuation: probability that a random open question is asked when the stopping rule ends the
            interview. With 1, every open question is asked.
        seed: of simulated interviews.
    """

    inner: Strategy
    share: float = 0.1
    continuation: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        _check_probability("share", self.share)
        _check_probability("continuation", self.continuation)

    def score(self, model: Model, evidence: Evidence, target: Sequence[str]) -> Tensor:
        return self.inner.score(model, evidence, target)

    def adjust(self, scores: Tensor, costs: Tensor) -> Tensor:  # noqa: ARG002  # as every `CostAware`
        return scores

    def probabilities(self, best: NDArray[np.int64], candidates: Mask) -> Numbers:
        """The probability of each question to be asked next [rows, questions].

        What is missing to 1 is the probability that the interview ends.

        Args:
            best: the question without exploration [rows]; -1 if the interview ends.
            candidates: questions that may be asked at random [rows, questions].
        """
        n_candidates = candidates.sum(1)
        rate = np.where(best >= 0, self.share, self.continuation) * (n_candidates > 0)
        random = candidates / np.maximum(n_candidates, 1)[:, None]
        sure = choose_surely(best, candidates.shape[1])
        return np.asarray(rate[:, None] * random + (1 - rate)[:, None] * sure)


@dataclass(frozen=True)
class Exploration:
    """How much early interviews explore, and how fast this declines.

    Both probabilities are halved for a model that has learned from ``half_after`` respondents, and divided
    by three after twice as many. Early respondents are asked random questions, and more of them if there is a
    ``continuation``. A random question takes the place of another one, so it adds no questions.

    Args:
        share: probability of a random question for a model without data; see `Explore`.
        continuation: probability of another question at the end of an interview, for a model without data.
        half_after: number of respondents.
    """

    share: float = 1.0
    continuation: float = 0.0
    half_after: float = 20.0

    def __post_init__(self) -> None:
        _check_probability("share", self.share)
        _check_probability("continuation", self.continuation)
        if not self.half_after > 0:
            raise StrategyError(
                f"exploration: half_after must be above 0 respondents, got {self.half_after:g}."
            )

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "Exploration":
        """The settings of the section ``[exploration]`` of a schema.

        Raises:
            StrategyError: a setting is unknown, or its value is not valid.
        """
        names = [setting.name for setting in fields(cls)]
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

    def wrap(self, strategy: Strategy, n_respondents: int) -> Explore:
        """The strategy for a model that has learned from this many respondents."""
        decline = self.half_after / (self.half_after + n_respondents)
        return Explore(strategy, self.share * decline, self.continuation * decline)


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


def _check_probability(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise StrategyError(f"exploration: {name} is a probability from 0 to 1, got {value:g}.")
