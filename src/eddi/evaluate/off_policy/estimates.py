"""Off-policy estimates: the error and cost of interviews under other rules, from logged interviews.

The estimators are the self-normalised, per-decision inverse propensity estimate, and the doubly robust
estimate (Jiang and Li 2016; Thomas and Brunskill 2016), in which a model imputes what was not asked. Von
Kleist et al. (2023) discuss them for the acquisition of features under missingness. Both assume that
every question that the rules ask had a positive, recorded probability, and that a person's answers do
not depend on what was asked before. The doubly robust estimate stays close to the model where the log has
no such question.

Intervals are those of the jackknife over persons (Tukey 1958). Their degrees of freedom are the number of
effective interviews, or the number of persons on whom the estimate really depends, if that is smaller
(Satterthwaite 1946). So a few interviews with large weights or errors make intervals wide. Percentiles
of a bootstrap were tried: they were too narrow.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from scipy import stats

from eddi.errors import EvaluationError
from eddi.evaluate.curves import Metric, from_row_mean
from eddi.evaluate.off_policy.logged_interviews import NO_QUESTION, LoggedInterviews, Numbers
from eddi.evaluate.off_policy.replay import Replay, expected_values, final_values, replay
from eddi.interview.next_step import InterviewStates
from eddi.interview.rules import InterviewRules
from eddi.model.base import Model

CONFIDENCE = 0.95  # of intervals
ROUNDING = 1e-12  # of sums of weights
N_START_DRAWS = 1_000  # simulated interviews for the value before the first answer
N_DRAWS = 8  # imputed rows for the value after each answer
MIN_EFFECTIVE = 10.0  # interviews; with fewer, intervals are not trusted


@dataclass(frozen=True)
class Estimate:
    """A value with its 95% confidence interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.4g} ({self.low:.4g} to {self.high:.4g})"


@dataclass(frozen=True)
class OffPolicyValue:
    """What interviews under some rules would have achieved.

    Args:
        error: doubly robust estimate of the metric at the end of an interview.
        cost: doubly robust estimate of the cost of an interview.
        weighted_error: inverse propensity estimate of the metric; None without complete interviews.
        weighted_cost: inverse propensity estimate of the cost; None without complete interviews.
        imputed_error: the metric according to the imputing model alone.
        imputed_cost: the cost according to the imputing model alone.
        n_interviews: logged interviews with a known target.
        n_complete: those that have every answer that the rules ask for.
        n_effective: equally weighted interviews with the same precision as the complete ones.
    """

    error: Estimate
    cost: Estimate
    weighted_error: Estimate | None
    weighted_cost: Estimate | None
    imputed_error: float
    imputed_cost: float
    n_interviews: int
    n_complete: int
    n_effective: float

    @property
    def is_supported(self) -> bool:
        """Whether enough logged interviews agree with the rules to trust the intervals."""
        return self.n_effective >= MIN_EFFECTIVE


@dataclass(frozen=True)
class OffPolicyComparison:
    """A candidate and the current rules on the same logged interviews.

    Args:
        candidate: its value.
        current: its value.
        error_difference: error of the candidate minus that of the current rules; negative is better.
        cost_difference: the same for the cost.
    """

    candidate: OffPolicyValue
    current: OffPolicyValue
    error_difference: Estimate
    cost_difference: Estimate

    @property
    def is_better(self) -> bool:
        """Whether the candidate has a smaller error with 95% confidence, and enough support."""
        return self.error_difference.high < 0 and self.candidate.is_supported

    def to_document(self) -> dict[str, Any]:
        """The comparison as plain JSON."""
        return {**asdict(self), "is_better": self.is_better}


def estimate_value(
    rules: InterviewRules,
    logged: LoggedInterviews,
    *,
    metric: Metric = "nll",
    imputer: Model | None = None,
    n_draws: int = N_DRAWS,
    seed: int = 0,
) -> OffPolicyValue:
    """Estimate the error and cost of interviews under ``rules`` from logged interviews.

    The rules must not have learned from these interviews. They are evaluated without exploration.

    Args:
        rules: model, target, strategy and stopping rule.
        logged: interviews with known probabilities; those without a true target are left out.
        metric: of the error; a mean over rows, or its square root.
        imputer: draws what was not asked; the model of the rules if None.
        n_draws: imputed rows for the value after each answer.
        seed: of the draws.

    Raises:
        EvaluationError: there is not exactly one target, or no interview has a value of it.
    """
    return _compute_terms(rules, logged, metric, imputer or rules.model, n_draws, seed).estimate()


def compare_rules(
    candidate: InterviewRules,
    current: InterviewRules,
    logged: LoggedInterviews,
    *,
    metric: Metric = "nll",
    imputer: Model | None = None,
    n_draws: int = N_DRAWS,
    seed: int = 0,
) -> OffPolicyComparison:
    """Compare a candidate with the current rules on the same logged interviews; see `estimate_value`."""
    drawing = imputer or candidate.model
    terms = _compute_terms(candidate, logged, metric, drawing, n_draws, seed)
    others = _compute_terms(current, logged, metric, drawing, n_draws, seed)
    n_effective = min(terms.replayed.n_effective, others.replayed.n_effective)
    differences = [
        _interval(
            ours.doubly_robust() - theirs.doubly_robust(),
            ours.doubly_robust(is_jackknife=True) - theirs.doubly_robust(is_jackknife=True),
            n_effective,
        )
        for ours, theirs in zip(terms.parts, others.parts, strict=True)
    ]
    return OffPolicyComparison(terms.estimate(), others.estimate(), *differences)


@dataclass(frozen=True, eq=False)
class _Part:
    """The terms of one quantity: the error or the cost.

    Args:
        weights: of each interview up to each answer, and of whole interviews [rows, steps + 1].
        start: value before the first answer, according to the imputer.
        changes: change of the imputer's value with each answer, and at last to the true value
            [rows, steps + 1].
        final: true value at the end [rows]; 0 where it is not known.
        metric: whose terms these are; None for a mean.
    """

    weights: Numbers
    start: float
    changes: Numbers
    final: Numbers
    metric: Metric | None

    def doubly_robust(self, *, is_jackknife: bool = False) -> Numbers:
        """The doubly robust estimate; those without one of the persons if ``is_jackknife`` [rows]."""
        value = self.start + _weighted_mean(self.weights, self.changes, is_jackknife).sum(-1)
        return self.to_metric(np.maximum(value, 0.0) if self._is_root else value)

    def inverse_propensity(self, *, is_jackknife: bool = False) -> Numbers:
        """The self-normalised inverse propensity estimate; see `doubly_robust`."""
        mean = _weighted_mean(self.weights[:, -1:], self.final[:, None], is_jackknife)
        return self.to_metric(mean[..., 0])

    @property
    def _is_root(self) -> bool:
        return self.metric is not None and from_row_mean(self.metric, np.array(4.0)) == 2.0

    def to_metric(self, value: Numbers) -> Numbers:
        """The metric, from the mean of its terms."""
        return value if self.metric is None else from_row_mean(self.metric, value)


@dataclass(frozen=True, eq=False)
class _Terms:
    """The terms of the error and the cost of some rules."""

    replayed: Replay
    parts: tuple[_Part, _Part]

    def estimate(self) -> OffPolicyValue:
        error, cost = self.parts
        has_complete = bool(self.replayed.is_complete.any())
        return OffPolicyValue(
            error=self._robust_interval(error),
            cost=self._robust_interval(cost),
            weighted_error=self._weighted_interval(error) if has_complete else None,
            weighted_cost=self._weighted_interval(cost) if has_complete else None,
            imputed_error=float(error.to_metric(np.array(error.start))),
            imputed_cost=cost.start,
            n_interviews=len(self.replayed.is_complete),
            n_complete=int(self.replayed.is_complete.sum()),
            n_effective=self.replayed.n_effective,
        )

    def _robust_interval(self, part: _Part) -> Estimate:
        without_one = part.doubly_robust(is_jackknife=True)
        return _interval(part.doubly_robust(), without_one, self.replayed.n_effective)

    def _weighted_interval(self, part: _Part) -> Estimate:
        without_one = part.inverse_propensity(is_jackknife=True)
        return _interval(part.inverse_propensity(), without_one, self.replayed.n_effective)


def _compute_terms(
    rules: InterviewRules,
    logged: LoggedInterviews,
    metric: Metric,
    imputer: Model,
    n_draws: int,
    seed: int,
) -> _Terms:
    if len(rules.target) != 1:
        raise EvaluationError(
            f"an off-policy estimate has exactly one target, got {', '.join(map(repr, rules.target))}."
        )
    if rules.exploration is not None:
        rules = replace(rules, strategy=rules.exploration.inner)
    known = logged.with_target(rules.target[0])
    replayed = replay(rules, known)
    final = final_values(rules, known, replayed, metric)
    expected = _expect_along(rules, known, replayed, imputer, metric, n_draws, seed)
    changes = np.diff(np.concatenate([expected, final[:, None]], axis=1), axis=1)
    weights = np.concatenate([replayed.weights[:, 1:], replayed.final_weights[:, None]], axis=1)
    metrics: Sequence[Metric | None] = (metric, None)
    error, cost = (
        _Part(weights, float(expected[0, 0, k]), changes[..., k], final[:, k], metrics[k])
        for k in range(2)
    )
    return _Terms(replayed, (error, cost))


def _expect_along(
    rules: InterviewRules,
    logged: LoggedInterviews,
    replayed: Replay,
    imputer: Model,
    metric: Metric,
    n_draws: int,
    seed: int,
) -> Numbers:
    """The imputer's value after each answer that the log has [rows, steps + 1, 2]."""
    n_rows, n_steps = replayed.asked.shape
    expected = np.zeros((n_rows, n_steps + 1, 2))
    empty = np.full((N_START_DRAWS, len(logged.schema.variables)), np.nan)
    start = InterviewStates.empty(rules, N_START_DRAWS)
    drawn = expected_values(rules, start, imputer, empty, metric=metric, n_draws=1, seed=seed)
    expected[:, 0] = drawn.mean(0)
    for step in range(1, n_steps + 1):
        expected[:, step] = expected[:, step - 1]
        has_answer = (replayed.asked[:, step - 1] != NO_QUESTION) & (replayed.weights[:, step] > 0)
        rows = np.flatnonzero(has_answer)
        if len(rows):
            asked = replayed.asked_before(step, len(logged.schema.questions))[rows]
            states = logged[rows].states(rules.model, asked)
            expected[rows, step] = expected_values(
                rules,
                states,
                imputer,
                logged[rows].reveal(asked),
                metric=metric,
                n_draws=n_draws,
                seed=seed + step,
            )
    return expected


def _weighted_mean(weights: Numbers, values: Numbers, is_jackknife: bool) -> Numbers:
    """The weighted mean of each column [..., columns]; 0 where all weights are 0.

    If ``is_jackknife``: those without one of the rows [rows, columns].
    """
    total, mass = (weights * values).sum(0), weights.sum(0)
    if is_jackknife:
        total, mass = total - weights * values, mass - weights
    has_mass = mass > ROUNDING * weights.sum(0)
    return np.asarray(np.where(has_mass, total / np.where(has_mass, mass, 1.0), 0.0))


def _interval(value: Numbers, without_one: Numbers, n_effective: float) -> Estimate:
    """The interval from the estimates without one of the persons [rows]."""
    n_rows, squares = len(without_one), np.square(without_one - without_one.mean())
    error = np.sqrt((n_rows - 1) / n_rows * squares.sum())
    n_influential = squares.sum() ** 2 / np.square(squares).sum() if squares.any() else n_effective
    quantile = stats.t.ppf((1 + CONFIDENCE) / 2, df=max(min(n_effective, n_influential) - 1, 1.0))
    return Estimate(float(value), float(value - quantile * error), float(value + quantile * error))
