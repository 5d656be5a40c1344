"""Ask one of the best questions at random, so that no question is asked too often."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from eddi.errors import StrategyError
from eddi.model.base import Model
from eddi.strategy.base import Strategy
from eddi.table.evidence import Evidence

Mask = NDArray[np.bool_]
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Randomesque:
    """Another strategy, of whose best questions one is asked at random (Kingsbury and Zara 1989).

    A random number of the interview and of the step decides, so a replay asks the same questions, and
    probabilities are recorded as those of `Explore`.

    Args:
        inner: scores the questions.
        k: number of best questions, of which each has the same probability.
        seed: of simulated interviews.
    """

    inner: Strategy
    k: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        if self.k < 1:
            raise StrategyError(f"Randomesque needs k of at least 1 question, got {self.k}.")

    def score(self, model: Model, evidence: Evidence, target: Sequence[str]) -> Tensor:
        return self.inner.score(model, evidence, target)

    def adjust(self, scores: Tensor, costs: Tensor) -> Tensor:  # noqa: ARG002  # as every `CostAware`
        return scores

    def select(self, candidates: Mask, scores: Numbers) -> Mask:
        """The candidates with the highest scores [rows, questions]."""
        ranked = np.argsort(np.where(candidates, -scores, np.inf), axis=1, kind="stable")
        places = np.empty_like(ranked)
        np.put_along_axis(places, ranked, np.arange(ranked.shape[1])[None], axis=1)
        return np.asarray(candidates & (places < self.k))

    def probabilities(self, best: NDArray[np.int64], candidates: Mask) -> Numbers:
        """The probability of each question to be asked next [rows, questions].

        Args:
            best: the question with the highest score [rows]; -1 if the interview ends.
            candidates: questions of which one is asked at random [rows, questions].
        """
        chosen = candidates & (best >= 0)[:, None]
        return np.asarray(chosen / np.maximum(chosen.sum(1, keepdims=True), 1))
