"""When it is enough."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

from eddi.errors import StopError
from eddi.model.prediction import Prediction
from eddi.table.variable import Kind

Truths = NDArray[np.bool_]


@dataclass(frozen=True)
class Situation:
    """How some interviews stand, a row each; what is believed is worked out only if asked for."""

    n_asked: NDArray[np.int64]  # [rows] questions asked
    best: NDArray[np.float64]  # [rows] score of the best open question
    believe: Callable[[], Mapping[str, Prediction]]

    @cached_property
    def predictions(self) -> Mapping[str, Prediction]:
        return self.believe()

    def all_targets(self, certain: Callable[[Prediction], Truths]) -> Truths:
        """Where ``certain`` holds for every target."""
        certainties = [certain(prediction) for prediction in self.predictions.values()]
        return np.asarray(np.all(certainties, axis=0))


class StoppingRule(Protocol):
    """Ends interviews: one verb, and how much they may cost at most."""

    @property
    def budget(self) -> float:
        """What all questions of one interview may cost together."""

    def reached(self, situation: Situation) -> Truths:
        """Which interviews have gone far enough [rows]."""


class _Combines:
    def __or__(self, other: StoppingRule) -> "AnyOf":
        return AnyOf((self, other))  # type: ignore[arg-type]

    def __and__(self, other: StoppingRule) -> "AllOf":
        return AllOf((self, other))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Stop(_Combines):
    """Ends an interview as soon as any of these holds; ``Stop()`` never does.

    Combine rules with ``|`` (either) and ``&`` (both).

    Args:
        after: this many questions were answered, volunteered answers included.
        sd_below: the target's standard deviation fell below this, in its own units.
        probability_above: one level of the target became at least this likely.
        interval_below: the target's 90% interval became narrower than this, in its own units.
        reward_below: no open question is worth this much (nats, or what the strategy scores by).
        budget: questions that would cost more than this in all are not asked, however rules are
            combined. Those that are always asked come first, and are asked beyond it.
        risk: the belief is as sure as it takes for at most this share of interviews to end with a wrong
            decision: another level than the most likely one, or a quantity further than ``within`` from
            its mean. How sure that is was tested on rows that training did not see, each interviewed to
            the end (`eddi.certify`). The promise is of interviews that nothing else cuts short: neither
            another condition nor a budget.
        within: how far off a quantity may be and still be right, in its own units; goes with ``risk``.
        confidence: the chance that the promise of ``risk`` holds, over the rows it was tested on.
    """

    after: int | None = None
    sd_below: float | None = None
    probability_above: float | None = None
    interval_below: float | None = None
    reward_below: float | None = None
    budget: float = math.inf
    risk: float | None = None
    within: float | None = None
    confidence: float = 0.95

    def __post_init__(self) -> None:
        if not self.budget > 0:
            raise StopError(f"the budget must be above 0, got {self.budget:g}. Nothing could be asked.")
        if self.after is not None and self.after < 0:
            raise StopError(f"after must be 0 or more questions, got {self.after}.")
        if self.probability_above is not None and not 0 < self.probability_above <= 1:
            raise StopError(f"probability_above must be in (0, 1], got {self.probability_above:g}.")
        if self.risk is not None and not 0 < self.risk < 1:
            raise StopError(f"risk must be in (0, 1), got {self.risk:g}. Nobody can promise no error.")
        if not 0 < self.confidence < 1:
            raise StopError(f"confidence must be in (0, 1), got {self.confidence:g}.")
        if self.within is not None and self.risk is None:
            raise StopError("within goes with risk: how often may the target be further off than that?")
        for name in ("sd_below", "interval_below", "within"):
            if (least := getattr(self, name)) is not None and not least > 0:
                raise StopError(f"{name} must be above 0, got {least:g}. It could never be reached.")

    def reached(self, situation: Situation) -> Truths:
        if self.risk is not None:
            raise StopError(
                f"Stop(risk={self.risk:g}) must be settled for a model first: give it to an interview."
            )
        rules = (self._enough, self._poor, self._sharp, self._narrow, self._likely)
        found = [truths for rule in rules if (truths := rule(situation)) is not None]
        if not found:
            return np.zeros(len(situation.n_asked), dtype=bool)
        return np.asarray(np.any(found, axis=0))

    def _enough(self, situation: Situation) -> Truths | None:
        return None if self.after is None else situation.n_asked >= self.after

    def _poor(self, situation: Situation) -> Truths | None:
        return None if self.reward_below is None else situation.best < self.reward_below

    def _sharp(self, situation: Situation) -> Truths | None:
        most = self.sd_below
        if most is None:
            return None
        return situation.all_targets(lambda belief: _ordered(belief, "sd_below").sd < most)

    def _narrow(self, situation: Situation) -> Truths | None:
        most = self.interval_below
        if most is None:
            return None
        return situation.all_targets(
            lambda belief: np.diff(_ordered(belief, "interval_below").interval, axis=-1)[:, 0] < most
        )

    def _likely(self, situation: Situation) -> Truths | None:
        least = self.probability_above
        if least is None:
            return None
        return situation.all_targets(lambda belief: _likeliest(belief) >= least)


@dataclass(frozen=True)
class Sure(_Combines):
    """Ends an interview once the decision is right with this chance, as the belief has it.

    What ``Stop(risk=...)`` becomes, with the chance at which its promise was found to hold.

    Args:
        least: the chance; above 1 it is never enough.
        within: how far off a quantity may be and still be right, in its own units.
    """

    least: float
    within: float | None = None

    @property
    def budget(self) -> float:
        return math.inf

    def reached(self, situation: Situation) -> Truths:
        if self.least > 1:
            return np.zeros(len(situation.n_asked), dtype=bool)
        return situation.all_targets(lambda belief: sureness(belief, self.within) >= self.least)


@dataclass(frozen=True)
class AnyOf(_Combines):
    """Enough as soon as one of the rules says so."""

    rules: tuple[StoppingRule, ...]

    @property
    def budget(self) -> float:
        return min(rule.budget for rule in self.rules)

    def reached(self, situation: Situation) -> Truths:
        return np.asarray(np.any([rule.reached(situation) for rule in self.rules], axis=0))


@dataclass(frozen=True)
class AllOf(_Combines):
    """Enough only when every rule says so."""

    rules: tuple[StoppingRule, ...]

    @property
    def budget(self) -> float:
        return min(rule.budget for rule in self.rules)

    def reached(self, situation: Situation) -> Truths:
        return np.asarray(np.all([rule.reached(situation) for rule in self.rules], axis=0))


def most_asked(rule: StoppingRule) -> float:
    """How many questions a rule lets be asked, whatever the answers."""
    if isinstance(rule, AnyOf):
        return min(map(most_asked, rule.rules))
    if isinstance(rule, AllOf):
        return max(map(most_asked, rule.rules))
    return rule.after if isinstance(rule, Stop) and rule.after is not None else math.inf


def promises(rule: StoppingRule) -> bool:
    """Whether a promise was made of how a rule ends interviews."""
    if isinstance(rule, AnyOf | AllOf):
        return any(map(promises, rule.rules))
    return isinstance(rule, Sure)


def sureness(belief: Prediction, within: float | None) -> NDArray[np.float64]:
    """The chance that the decision is right [rows]: the most likely level, or the mean of a quantity.

    A quantity's belief is taken to be normal. Where it is not, the chance is off, but no promise: what
    it takes to be sure enough is tested, not believed.
    """
    if belief.probabilities is not None:
        return np.asarray(belief.probabilities.max(-1))
    if within is None:
        raise StopError(
            f"risk needs within for {belief.variable.name!r}, which is {belief.variable.kind}: how far "
            "off may it be and still be right? For example Stop(risk=0.05, within=2.5)."
        )
    with np.errstate(divide="ignore"):  # a belief without spread is certain
        return np.asarray(erf(within / (math.sqrt(2) * belief.sd)))


def _likeliest(belief: Prediction) -> NDArray[np.float64]:
    if belief.probabilities is None:
        raise StopError(
            f"probability_above needs a target of levels; {belief.variable.name!r} is "
            f"{belief.variable.kind}. Use sd_below or interval_below."
        )
    return np.asarray(belief.probabilities.max(-1))


def _ordered(belief: Prediction, rule: str) -> Prediction:
    if belief.variable.kind is Kind.CATEGORY:
        raise StopError(
            f"{rule} needs a target with an order; {belief.variable.name!r} is a category. "
            "Use probability_above."
        )
    return belief
