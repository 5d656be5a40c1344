"""Stopping rules: when an interview ends."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

from eddi.errors import StopError
from eddi.model.prediction import Prediction
from eddi.reward.units import to_bits
from eddi.table.text import suggest_name
from eddi.table.variable import Kind, Variable

Mask = NDArray[np.bool_]

CONDITION_TEXTS = {
    "probability_above": "when a level is {:.0%} likely",
    "interval_below": "when the 90% interval is narrower than {:g}",
    "sd_below": "when the standard deviation is below {:g}",
    "reward_below": "when no question has an expected information of {:.3g} bits",
    "risk": "when the expected error rate is at most {:g}",
    "risk_below": "when the risk at the horizon is at most {:.1%}",
    "risk_above": "when the risk at the horizon is at least {:.1%}",
}


@dataclass(frozen=True)
class Situation:
    """The state of some interviews, one per row; predictions are computed only if a rule needs them."""

    n_asked: NDArray[np.int64]  # [rows] questions answered with a value, including volunteered ones
    best: NDArray[np.float64]  # [rows] highest score of an open question, before costs; -inf if none
    predict: Callable[[], Mapping[str, Prediction]]

    @cached_property
    def predictions(self) -> Mapping[str, Prediction]:
        """The prediction of each target."""
        return self.predict()

    def all_targets(self, condition: Callable[[Prediction], Mask]) -> Mask:
        """Whether ``condition`` holds for every target [rows]."""
        by_target = [condition(prediction) for prediction in self.predictions.values()]
        return np.asarray(np.all(by_target, axis=0))


class StoppingRule(Protocol):
    """Ends interviews, and limits their cost."""

    @property
    def budget(self) -> float:
        """The maximum total cost of the questions of one interview."""

    def reached(self, situation: Situation) -> Mask:
        """Whether each interview ends now [rows]."""


class _Combinable:
    """Rules combine with ``|`` and ``&``."""

    def __or__(self, other: StoppingRule) -> "AnyOf":
        return AnyOf((self, other))  # type: ignore[arg-type]

    def __and__(self, other: StoppingRule) -> "AllOf":
        return AllOf((self, other))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Stop(_Combinable):
    """Ends an interview as soon as any of these conditions holds; ``Stop()`` never ends one.

    Combine rules with ``|`` (either) and ``&`` (both).

    Args:
        after: this many questions were answered, including volunteered answers. A question without a
            value (unknown, declined) does not count.
        sd_below: the target's standard deviation is below this value, in its own units.
        probability_above: the probability of the target's most likely level is at least this value.
        interval_below: the target's 90% interval is narrower than this value, in its own units.
        reward_below: no open question has a reward of this value (nats, or the strategy's own unit; not
            divided by cost).
        budget: a question that would exceed this total cost is not asked, however rules are combined.
            Questions that are always asked come first, and may exceed it.
        risk: the expected share of wrong decisions is at most this value: another level than the most
            likely one, or a quantity further than ``within`` from its predicted mean. The required
            confidence of the prediction was determined on rows that training did not see, each
            interviewed to the end (`eddi.certify`). The guarantee holds for interviews that no other
            condition and no budget ends.
        within: maximum error of a correct decision about a quantity, in its own units; with ``risk``.
        confidence: probability that the guarantee of ``risk`` holds, over the certified rows.
        horizon: a time, in the unit of a survival target; with ``risk_below`` or ``risk_above``.
        risk_below: the probability of the event up to ``horizon`` is at most this value.
        risk_above: the probability of the event up to ``horizon`` is at least this value.
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
    horizon: float | None = None
    risk_below: float | None = None
    risk_above: float | None = None

    def __post_init__(self) -> None:
        if not self.budget > 0:
            raise StopError(
                f"the budget must be above 0, got {self.budget:g}. No question could be asked."
            )
        if self.after is not None and self.after < 0:
            raise StopError(f"after must be 0 or more questions, got {self.after}.")
        if self.probability_above is not None and not 0 < self.probability_above <= 1:
            raise StopError(f"probability_above must be in (0, 1], got {self.probability_above:g}.")
        if self.risk is not None and not 0 < self.risk < 1:
            raise StopError(
                f"risk must be in (0, 1), got {self.risk:g}. A risk of 0 cannot be guaranteed."
            )
        if not 0 < self.confidence < 1:
            raise StopError(f"confidence must be in (0, 1), got {self.confidence:g}.")
        if self.within is not None and self.risk is None:
            raise StopError("within needs risk: the share of targets that may be further off.")
        self._check_horizon()
        limits = {
            "sd_below": self.sd_below,
            "interval_below": self.interval_below,
            "within": self.within,
            "horizon": self.horizon,
        }
        for name, limit in limits.items():
            if limit is not None and not limit > 0:
                raise StopError(f"{name} must be above 0, got {limit:g}. It could never be reached.")

    def _check_horizon(self) -> None:
        for name, limit in (("risk_below", self.risk_below), ("risk_above", self.risk_above)):
            if limit is not None and self.horizon is None:
                raise StopError(f"{name} needs horizon: the time up to which the risk is predicted.")
            if limit is not None and not 0 < limit < 1:
                raise StopError(f"{name} must be in (0, 1), got {limit:g}.")
        if self.horizon is not None and self.risk_below is None and self.risk_above is None:
            raise StopError("horizon needs risk_below or risk_above: the risk at which to stop.")

    def to_document(self) -> dict[str, float]:
        """The given conditions as plain JSON or TOML."""
        values = ((condition, getattr(self, condition.name)) for condition in fields(self))
        return {condition.name: value for condition, value in values if value != condition.default}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "Stop":
        """The rule that `to_document` describes.

        Raises:
            StopError: a condition is unknown, or its value is not valid.
        """
        names = [condition.name for condition in fields(cls)]
        for name, value in document.items():
            if name not in names:
                hint = suggest_name(name, names)
                raise StopError(
                    f"there is no stopping condition {name!r}.{hint} Conditions are: {', '.join(names)}."
                )
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if not is_number or (name == "after" and value != int(value)):
                expected = "a whole number" if name == "after" else "a number"
                raise StopError(f"the stopping condition {name} must be {expected}, got {value!r}.")
        return cls(**{k: int(v) if k == "after" else v for k, v in document.items()})

    @property
    def never_ends(self) -> bool:
        """Whether no condition ends an interview; a budget only limits its questions."""
        return set(self.to_document()) <= {"budget"}

    def summarize(self) -> str:
        """When interviews end, in a few words."""
        given = self.to_document()
        if self.reward_below is not None:
            given["reward_below"] = to_bits(self.reward_below)
        count = "one answer" if self.after == 1 else f"{self.after} answers"
        ends = [] if self.after is None else [f"after {count}"]
        ends += [text.format(given[name]) for name, text in CONDITION_TEXTS.items() if name in given]
        parts = [f"stops {' or '.join(ends)}"] if ends else []
        if "budget" in given:
            parts.append(f"questions cost at most {self.budget:g} in total")
        return "; ".join(parts) or "asks all questions"

    def reached(self, situation: Situation) -> Mask:
        if self.risk is not None:
            raise StopError(
                f"Stop(risk={self.risk:g}) depends on a model. Give it to an interview, which resolves it."
            )
        checks = (
            self._is_long_enough,
            self._is_reward_low,
            self._is_sd_small,
            self._is_interval_narrow,
            self._is_level_likely,
            self._is_risk_decided,
        )
        found = [mask for check in checks if (mask := check(situation)) is not None]
        if not found:
            return np.zeros(len(situation.n_asked), dtype=bool)
        return np.asarray(np.any(found, axis=0))

    def _is_long_enough(self, situation: Situation) -> Mask | None:
        return None if self.after is None else situation.n_asked >= self.after

    def _is_reward_low(self, situation: Situation) -> Mask | None:
        return None if self.reward_below is None else situation.best < self.reward_below

    def _is_sd_small(self, situation: Situation) -> Mask | None:
        limit = self.sd_below
        if limit is None:
            return None
        return situation.all_targets(lambda p: _check_ordered(p, "sd_below").sd < limit)

    def _is_interval_narrow(self, situation: Situation) -> Mask | None:
        limit = self.interval_below
        if limit is None:
            return None
        return situation.all_targets(
            lambda p: np.diff(_check_ordered(p, "interval_below").interval, axis=-1)[:, 0] < limit
        )

    def _is_level_likely(self, situation: Situation) -> Mask | None:
        limit = self.probability_above
        if limit is None:
            return None
        return situation.all_targets(lambda p: _max_probability(p) >= limit)

    def _is_risk_decided(self, situation: Situation) -> Mask | None:
        """Whether the risk at the horizon is low or high enough."""
        horizon = self.horizon
        if horizon is None:
            return None
        low = -math.inf if self.risk_below is None else self.risk_below
        high = math.inf if self.risk_above is None else self.risk_above

        def is_decided(prediction: Prediction) -> Mask:
            risk = _check_survival(prediction).risk(horizon)
            return np.asarray((risk <= low) | (risk >= high))

        return situation.all_targets(is_decided)


@dataclass(frozen=True)
class ConfidenceThreshold(_Combinable):
    """Ends an interview once the predicted probability of a correct decision reaches a threshold.

    ``Stop(risk=...)`` is resolved to this rule, with a certified threshold.

    Args:
        threshold: the probability; above 1 it is never reached.
        within: maximum error of a correct decision about a quantity, in its own units.
    """

    threshold: float
    within: float | None = None

    @property
    def budget(self) -> float:
        return math.inf

    def reached(self, situation: Situation) -> Mask:
        if self.threshold > 1:
            return np.zeros(len(situation.n_asked), dtype=bool)
        return situation.all_targets(lambda p: decision_confidence(p, self.within) >= self.threshold)


@dataclass(frozen=True)
class RiskControlledStop(_Combinable):
    """``Stop(risk=...)`` for one model; its threshold is determined when it is first needed.

    Args:
        rule: the rule with a risk.
        resolve: replaces the risk by a `ConfidenceThreshold`; see `interview.risk_control`.
    """

    rule: Stop
    resolve: Callable[[Stop], StoppingRule]

    @cached_property
    def resolved(self) -> StoppingRule:
        """The rule with its certified threshold."""
        return self.resolve(self.rule)

    @property
    def budget(self) -> float:
        return self.rule.budget

    def reached(self, situation: Situation) -> Mask:
        return self.resolved.reached(situation)


@dataclass(frozen=True)
class AnyOf(_Combinable):
    """Ends an interview as soon as one of the rules does."""

    rules: tuple[StoppingRule, ...]

    @property
    def budget(self) -> float:
        return min(rule.budget for rule in self.rules)

    def reached(self, situation: Situation) -> Mask:
        return np.asarray(np.any([rule.reached(situation) for rule in self.rules], axis=0))


@dataclass(frozen=True)
class AllOf(_Combinable):
    """Ends an interview only when every rule does."""

    rules: tuple[StoppingRule, ...]

    @property
    def budget(self) -> float:
        return min(rule.budget for rule in self.rules)

    def reached(self, situation: Situation) -> Mask:
        return np.asarray(np.all([rule.reached(situation) for rule in self.rules], axis=0))


def max_questions(rule: StoppingRule) -> float:
    """The number of questions after which a rule ends an interview, whatever the answers."""
    if isinstance(rule, AnyOf):
        return min(map(max_questions, rule.rules))
    if isinstance(rule, AllOf):
        return max(map(max_questions, rule.rules))
    if isinstance(rule, RiskControlledStop):
        return max_questions(rule.rule)
    return rule.after if isinstance(rule, Stop) and rule.after is not None else math.inf


def is_risk_controlled(rule: StoppingRule) -> bool:
    """Whether a rule, or a part of it, ends interviews at a certified threshold."""
    if isinstance(rule, AnyOf | AllOf):
        return any(map(is_risk_controlled, rule.rules))
    if isinstance(rule, RiskControlledStop):
        return is_risk_controlled(rule.resolved)
    return isinstance(rule, ConfidenceThreshold)


def decision_confidence(prediction: Prediction, within: float | None) -> NDArray[np.float64]:
    """The predicted probability that the decision is correct [rows].

    The decision is the most likely level, or the mean of a quantity, whose prediction is taken to be
    normal. If it is not, the probability is biased, but no guarantee breaks: thresholds are certified on
    held-out rows.
    """
    if prediction.probabilities is not None:
        return np.asarray(prediction.probabilities.max(-1))
    if within is None:
        raise missing_tolerance(prediction.variable)
    with np.errstate(divide="ignore"):  # a prediction with sd 0 is certain
        return np.asarray(erf(within / (math.sqrt(2) * prediction.sd)))


def missing_tolerance(variable: Variable) -> StopError:
    """The error for a risk of a quantity without a maximum error."""
    return StopError(
        f"risk needs within for {variable.name!r}, which is {variable.kind}: the maximum error of a "
        "correct decision. For example Stop(risk=0.05, within=2.5)."
    )


def _max_probability(prediction: Prediction) -> NDArray[np.float64]:
    if prediction.probabilities is None:
        raise StopError(
            f"probability_above needs a target with levels; {prediction.variable.name!r} is "
            f"{prediction.variable.kind}. Use sd_below or interval_below."
        )
    return np.asarray(prediction.probabilities.max(-1))


def _check_survival(prediction: Prediction) -> Prediction:
    if prediction.variable.survival is None:
        raise StopError(
            f"a horizon needs a survival target; {prediction.variable.name!r} is "
            f"{prediction.variable.kind}. Use another condition."
        )
    return prediction


def _check_ordered(prediction: Prediction, rule: str) -> Prediction:
    if prediction.variable.kind is Kind.CATEGORY:
        raise StopError(
            f"{rule} needs a target with an order; {prediction.variable.name!r} is a category. "
            "Use probability_above."
        )
    return prediction
