"""Risk-controlled stopping: the threshold behind ``Stop(risk=...)``, certified on held-out rows."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eddi.errors import EddiWarning, StopError, TargetError
from eddi.interview.rules import InterviewRules
from eddi.interview.simulated import SimulatedInterviews
from eddi.model.base import Model, ModelSource
from eddi.model.certificate import THRESHOLDS, Certificate, CertificateKey, describe_strategy
from eddi.model.prediction import Prediction
from eddi.strategy.base import Strategy
from eddi.strategy.names import default_strategy
from eddi.strategy.stopping import (
    AllOf,
    AnyOf,
    ConfidenceThreshold,
    RiskControlledStop,
    Stop,
    StoppingRule,
    decision_confidence,
    missing_tolerance,
)
from eddi.table.evidence import Evidence

MAX_QUESTIONS = 65  # of a model that is certified when it is saved: more may take longer than training


def certify(
    model: ModelSource,
    table: Any,
    target: str | Sequence[str] | None = None,
    *,
    strategy: Strategy | None = None,
    within: float | None = None,
) -> Certificate:
    """Interview held-out rows to the end, to determine when ``Stop(risk=...)`` may stop.

    The model, and its file, keep the certificate; it serves any ``risk`` and ``confidence``. Without it, a
    model is certified on its own validation rows. Those rows were also used for early stopping and
    calibration, so the guarantee is strict only for rows that were used for neither: the ones given here.

    Args:
        model: a fitted `PartialVAE`, or its fitted model.
        table: rows that the model has never seen; rows without a target value are left out.
        target: what to predict; the model's declared target if None.
        strategy: how questions are chosen; that of `Interview` if None.
        within: maximum error of a correct decision about a quantity, in its own units.

    Raises:
        TargetError: there is no target, or no row of the table has a value of it.
        StopError: the target is a quantity, and ``within`` is None.
    """
    fitted = model.fitted()
    names = fitted.schema.target_names(fitted.target if target is None else target)
    if not names:
        raise TargetError("a certificate needs a target: name what you want to know.")
    truth = fitted.evidence(table, optional=names)
    return _certify_rows(fitted, truth, names, strategy or default_strategy(fitted, names), within)


def certify_validation_rows(model: Model) -> None:
    """Certify a declared target with levels on the rows that `fit` held out, unless it is certified.

    A model with `[time]` has no certificate: what is known before a decision depends on the rule itself.
    """
    has_levels = all(model.schema[name].kind.has_levels for name in model.target)
    is_short = len(model.schema.questions) <= MAX_QUESTIONS
    if not (model.target and has_levels and is_short) or model.validation_rows is None:
        return
    if model.schema.time is not None:
        return
    strategy = default_strategy(model, model.target)
    is_certified = CertificateKey.create(model.target, strategy, None) in model.certificates
    if not is_certified and len(_with_target(model, model.validation_rows, model.target)):
        _certify_rows(model, model.validation_rows, model.target, strategy, None)


def resolve_risk(
    rule: StoppingRule, model: Model, target: tuple[str, ...], strategy: Strategy
) -> StoppingRule:
    """The rule with every risk in it replaced by a threshold, which is determined on first use.

    Raises:
        StopError: no threshold can be determined: there is no certificate and no validation row,
            ``within`` is given for a target with levels, or it is missing for a quantity.
    """
    if isinstance(rule, AnyOf | AllOf):
        rules = tuple(resolve_risk(part, model, target, strategy) for part in rule.rules)
        return replace(rule, rules=rules)
    if not isinstance(rule, Stop) or rule.risk is None:
        return rule
    resolver = RiskResolver(model, target, strategy)
    resolver.check(rule)
    return RiskControlledStop(rule, resolver.resolve)


def resolve_rules(
    model: Model,
    target: tuple[str, ...],
    *,
    strategy: Strategy | None = None,
    stop: StoppingRule | None = None,
) -> InterviewRules:
    """The rules of interviews, with every risk resolved.

    By default, the strategy is EDDI, per unit of cost if costs differ, and the schema says when to stop.
    """
    strategy = strategy or default_strategy(model, target)
    rule = stop or Stop.from_document(model.schema.stop)
    return InterviewRules(model, target, strategy, resolve_risk(rule, model, target, strategy))


@dataclass(frozen=True)
class RiskResolver:
    """Finds the threshold that controls a risk for one model, target and strategy."""

    model: Model
    target: tuple[str, ...]
    strategy: Strategy

    def check(self, rule: Stop) -> None:
        """Raise `StopError` if no threshold can be determined for a rule."""
        if self.model.schema.time is not None:
            raise StopError(
                f"Stop(risk={rule.risk:g}) is not available for a model with [time]: what is known before a "
                "decision depends on the rule itself. Use probability_above or sd_below."
            )
        variables = [self.model.schema[name] for name in self.target]
        if outcomes := [variable.name for variable in variables if variable.survival is not None]:
            raise StopError(
                f"risk is a share of wrong decisions, but {outcomes[0]!r} is a time. Use "
                "Stop(horizon=..., risk_above=...) or Stop(horizon=..., risk_below=...)."
            )
        quantities = [variable for variable in variables if not variable.kind.has_levels]
        if quantities and rule.within is None:
            raise missing_tolerance(quantities[0])
        if not quantities and rule.within is not None:
            raise StopError(
                f"within is for quantities; {_join(self.target)} has levels, and a decision about it is "
                "right or wrong."
            )
        if self._key(rule) not in self.model.certificates and self.model.validation_rows is None:
            raise StopError(
                f"Stop(risk={rule.risk:g}) needs rows that training did not see, and this model has "
                "none: model files contain no rows, and small tables and some recipes hold none out. "
                f"Certify it on a held-out table: {self._certify_call(rule)}; `model.save` keeps the "
                "certificate."
            )

    def resolve(self, rule: Stop) -> StoppingRule:
        """The rule with its risk replaced by a threshold; without it if the risk is too small."""
        assert rule.risk is not None  # noqa: S101  # only such rules are resolved
        certificate = self._certificate(rule)
        rest = replace(rule, risk=None, within=None, confidence=Stop.confidence)
        threshold = certificate.threshold(rule.risk, rule.confidence)
        if threshold is None:
            warnings.warn(_no_guarantee(certificate, rule), EddiWarning, stacklevel=2)
            return rest
        return rest | ConfidenceThreshold(threshold, rule.within)

    def _certificate(self, rule: Stop) -> Certificate:
        """An existing certificate, or one for the rows that training held out."""
        existing = self.model.certificates.get(self._key(rule))
        if existing is not None:
            return existing
        self.check(rule)
        assert self.model.validation_rows is not None  # noqa: S101  # `check` raises otherwise
        rows = self.model.validation_rows
        return _certify_rows(self.model, rows, self.target, self.strategy, rule.within)

    def _key(self, rule: Stop) -> CertificateKey:
        return CertificateKey.create(self.target, self.strategy, rule.within)

    def _certify_call(self, rule: Stop) -> str:
        """The call that certifies the model."""
        names = self.target
        target = f"target={names[0]!r}" if len(names) == 1 else f"target={list(names)!r}"
        is_default = self.strategy == default_strategy(self.model, names)
        strategy = "" if is_default else ", strategy=..."
        within = "" if rule.within is None else f", within={rule.within:g}"
        return f"eddi.certify(model, table, {target}{strategy}{within})"


@dataclass(frozen=True)
class DecisionPaths:
    """Complete interviews of held-out rows: confidence and correctness at each step.

    Args:
        confidence: predicted probability of a correct decision; -inf while a question that is always
            asked is open, so that the interview cannot end [rows, steps].
        is_wrong: whether the decision is wrong [rows, steps].
        n_asked: number of questions asked [rows, steps].
    """

    confidence: NDArray[np.float64]
    is_wrong: NDArray[np.bool_]
    n_asked: NDArray[np.int64]

    @classmethod
    def simulate(
        cls,
        model: Model,
        truth: Evidence,
        target: tuple[str, ...],
        strategy: Strategy,
        within: float | None = None,
    ) -> "DecisionPaths":
        """Interview rows whose target is observed."""
        rules = InterviewRules(model, target, strategy, ConfidenceThreshold(math.inf, within))
        interviews = SimulatedInterviews(rules, truth)
        numbers = model.coding.decode(truth.values)
        confidence, is_wrong, is_asked = [], [], []
        for step in interviews.run(interviews.n_steps(None)):
            predictions = model.predict_evidence(step.evidence, target)
            by_target = [decision_confidence(p, within) for p in predictions.values()]
            is_pinned = (step.chosen >= 0) & rules.always[step.chosen]
            confidence.append(np.where(is_pinned, -np.inf, np.min(by_target, axis=0)))
            errors = [
                _is_wrong(prediction, numbers[:, model.schema.position(name)], within)
                for name, prediction in predictions.items()
            ]
            is_wrong.append(np.any(errors, axis=0))
            is_asked.append(step.chosen >= 0)
        n_asked = np.cumsum([np.zeros(len(truth), dtype=bool), *is_asked[:-1]], axis=0)
        return cls(np.stack(confidence, axis=1), np.stack(is_wrong, axis=1), n_asked.T)

    def __getitem__(self, rows: NDArray[np.generic]) -> "DecisionPaths":
        return DecisionPaths(self.confidence[rows], self.is_wrong[rows], self.n_asked[rows])

    def stop_at(self, threshold: float | None) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Errors and numbers of questions if interviews end at this confidence [rows].

        They run to the end if ``threshold`` is None.
        """
        is_over = self.confidence >= (math.inf if threshold is None else threshold)
        is_over[:, -1] = True
        rows, steps = np.arange(len(is_over)), is_over.argmax(1)
        return self.is_wrong[rows, steps], self.n_asked[rows, steps]

    def certificate(
        self, target: tuple[str, ...], strategy: Strategy, within: float | None = None
    ) -> Certificate:
        """The errors and numbers of questions at every threshold."""
        ends = [self.stop_at(threshold) for threshold in THRESHOLDS]
        return Certificate(
            target=target,
            strategy=describe_strategy(strategy),
            within=within,
            n_rows=len(self.confidence),
            thresholds=THRESHOLDS,
            n_wrong=tuple(int(is_wrong.sum()) for is_wrong, _ in ends),
            n_asked=tuple(float(n_asked.mean()) for _, n_asked in ends),
        )


def _certify_rows(
    model: Model,
    truth: Evidence,
    target: tuple[str, ...],
    strategy: Strategy,
    within: float | None,
) -> Certificate:
    rows = _with_target(model, truth, target)
    if not len(rows):
        raise TargetError(
            f"no held-out row has a value of {_join(target)}, so no decision can be evaluated. "
            "Give rows with a target value."
        )
    paths = DecisionPaths.simulate(model, rows, target, strategy, within)
    certificate = paths.certificate(target, strategy, within)
    model.certificates[certificate.key] = certificate
    return certificate


def _with_target(model: Model, truth: Evidence, target: tuple[str, ...]) -> Evidence:
    """The rows with a value of every target."""
    return truth[np.flatnonzero(truth.observed[:, model.schema.positions(target)].all(1))]


def _is_wrong(
    prediction: Prediction, number: NDArray[np.float64], within: float | None
) -> NDArray[np.bool_]:
    """Whether the decision differs from the true value, in the table's own units [rows]."""
    if prediction.probabilities is not None:
        return np.asarray(prediction.probabilities.argmax(-1) != np.rint(number))
    return np.asarray(~(np.abs(prediction.mean - number) <= (within or 0.0)))


def _no_guarantee(certificate: Certificate, rule: Stop) -> str:
    return (
        f"a risk of {rule.risk:g} cannot be guaranteed with {rule.confidence:.0%} confidence, so this "
        f"rule ends no interview: the decisions about {certificate.n_wrong[0]} of {certificate.n_rows} "
        "held-out rows were wrong even at the highest confidence. The smallest risk that can be "
        f"guaranteed is {certificate.smallest_risk(rule.confidence):.2g}; more held-out rows "
        "(eddi.certify) may lower it."
    )


def _join(target: tuple[str, ...]) -> str:
    return ", ".join(map(repr, target))
