"""An item of an item bank: a question with the parameters of its graded response model.

P(answer at least level k | theta) = sigmoid(a (theta - b_k)), with rising thresholds b_1, ..., b_K
(Samejima 1969). An item with two levels has one threshold: the two-parameter logistic model (Birnbaum
1968).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from eddi.errors import SchemaError

Numbers = NDArray[np.float64]

MAX_PARAMETER = 100.0  # of discriminations and thresholds; published ones are below 10
MAX_THRESHOLDS = 99
MAX_ITEMS = 10_000  # of an item bank
MIN_PROBABILITY = 1e-300  # of a level, so that its logarithm is finite


@dataclass(frozen=True)
class Item:
    """The parameters of one item.

    Args:
        name: of its variable and question.
        discrimination: a, above 0.
        thresholds: b_1 to b_K of an item with K + 1 levels, rising.
        trait: the name of the trait that it measures.
    """

    name: str
    discrimination: float
    thresholds: tuple[float, ...]
    trait: str = "trait"

    def __post_init__(self) -> None:
        object.__setattr__(self, "thresholds", tuple(map(float, self.thresholds)))
        object.__setattr__(self, "discrimination", float(self.discrimination))
        where, a, b = f"item {self.name!r}", self.discrimination, self.thresholds
        if not 1 <= len(b) <= MAX_THRESHOLDS:
            raise SchemaError(f"{where} has {len(b)} thresholds; it needs 1 to {MAX_THRESHOLDS}.")
        if not all(math.isfinite(x) and abs(x) <= MAX_PARAMETER for x in (a, *b)):
            raise SchemaError(
                f"{where} has a parameter that is not a number from {-MAX_PARAMETER:g} to "
                f"{MAX_PARAMETER:g}: a = {a:g}, b = {list(b)}."
            )
        if a <= 0:
            raise SchemaError(
                f"{where} has discrimination {a:g}; it must be above 0. If high answers mean a low trait, "
                "list its levels in reverse order and change the signs of its thresholds."
            )
        if list(b) != sorted(set(b)):
            raise SchemaError(f"{where} has thresholds {list(b)}; each must be above the one before it.")

    @property
    def n_levels(self) -> int:
        return len(self.thresholds) + 1

    def probabilities(self, theta: Numbers) -> Numbers:
        """The probability of each level, lowest first [..., levels], at values of the trait."""
        at_least = self._at_least(theta)
        return np.maximum(at_least[..., :-1] - at_least[..., 1:], MIN_PROBABILITY)

    def fisher_information(self, theta: Numbers) -> Numbers:
        """Expected Fisher information about the trait, at values of it."""
        at_least = self._at_least(theta)
        slope = self.discrimination * at_least * (1 - at_least)  # of each cumulative probability
        return np.asarray((np.diff(slope, axis=-1) ** 2 / self.probabilities(theta)).sum(-1))

    def _at_least(self, theta: Numbers) -> Numbers:
        """P(answer at least level k) for k = 0, ..., K + 1 [..., K + 2]."""
        thresholds = np.array([-np.inf, *self.thresholds, np.inf])
        return np.asarray(expit(self.discrimination * (np.asarray(theta)[..., None] - thresholds)))
