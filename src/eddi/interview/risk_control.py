"""Stopping with a promise: what ``Stop(risk=...)`` takes, found on rows that training did not see."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eddi.errors import EddiWarning, StopError, TargetError
from eddi.interview.rules import Turns
from eddi.interview.simulated import Rehearsal
from eddi.model.certificate import THRESHOLDS, Certificate
from eddi.model.partial_vae import PartialVAE
from eddi.model.prediction import Prediction
from eddi.strategy.base import Strategy
from eddi.strategy.information import Information
from eddi.strategy.stopping import AllOf, AnyOf, Stop, StoppingRule, Sure, sureness
from eddi.table.evidence import Evidence

MOST_QUESTIONS = 65  # of a questionnaire certified unasked; a longer one may take longer than training


def certify(
    model: PartialVAE,
    table: Any,
    target: str | Sequence[str] | None = None,
    *,
    strategy: Strategy | None = None,
    within: float | None = None,
) -> Certificate:
    """Interview held-out rows to the end, so that ``Stop(risk=...)`` knows when it may stop.

    The model keeps the certificate, in its file too, and any ``risk`` and ``confidence`` can be promised
    by it. Without it a model is certified by its own validation rows, while it remembers them. Those
    also chose when training ended and put its beliefs right, so the promise is strict only with rows
    that had no part in either: the ones given here.

    Args:
        model: what was learned.
        table: rows that the model has never seen; those whose target is missing are left out.
        target: what one wants to know; the model's own target where None.
        strategy: who chooses; EDDI where None.
        within: how far off a quantity may be and still be right, in its own units.

    Raises:
        TargetError: there is no target, or no row of the table knows it.
        StopError: a quantity without ``within``.
    """
    names = model.schema_.target_names(model.target_ if target is None else target)
    if not names:
        raise TargetError("a promise needs a target: name what you want to know.")
    truth = model.evidence(table, optional=names)
    return _certified(model, truth, names, strategy or Information(), within)


def settled(
    rule: StoppingRule, model: PartialVAE, target: tuple[str, ...], strategy: Strategy
) -> StoppingRule:
    """The rule with every risk in it replaced by the sureness that keeps it."""
    if isinstance(rule, AnyOf | AllOf):
        return replace(rule, rules=tuple(settled(each, model, target, strategy) for each in rule.rules))
    if not isinstance(rule, Stop) or rule.risk is None:
        return rule
    certificate = _found(model, target, strategy, rule)
    rest = replace(rule, risk=None, within=None, confidence=Stop.confidence)
    least = certificate.least(rule.risk, rule.confidence)
    if least is None:
        warnings.warn(_unkept(certificate, rule), EddiWarning, stacklevel=2)
        return rest
    return rest | Sure(least, rule.within)


def certify_own(model: PartialVAE) -> None:
    """Certify a declared target of levels on the rows that `fit` held out, for a file that has none."""
    levels = all(model.schema_[name].kind.has_levels for name in model.target_)
    brief = len(model.schema_.questions) <= MOST_QUESTIONS
    if model.target_ and levels and brief and model.validation_ is not None:
        _certified(model, model.validation_, model.target_, Information(), None)


@dataclass(frozen=True)
class Courses:
    """Interviews that went on to their ends: how sure the belief was at each step, and how right.

    Args:
        sure: the chance of a right decision as the belief has it; -inf where a question that is always
            asked was still open, so that the interview could not end [rows, steps].
        wrong: whether the decision was wrong [rows, steps].
        n_asked: questions asked by then [rows, steps].
    """

    sure: NDArray[np.float64]
    wrong: NDArray[np.bool_]
    n_asked: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        model: PartialVAE,
        truth: Evidence,
        target: tuple[str, ...],
        strategy: Strategy,
        within: float | None = None,
    ) -> "Courses":
        """The interviews of rows whose target is known."""
        turns = Turns(model, target, strategy, Sure(math.inf, within))
        rehearsal = Rehearsal(turns, truth)
        numbers = model.coding_.decode(truth.values)
        sure, wrong, chosen = [], [], []
        for turn in rehearsal.play(rehearsal.n_steps(None)):
            beliefs = model.predict_evidence(turn.seen, target)
            chances = [sureness(belief, within) for belief in beliefs.values()]
            sure.append(np.where(turns.pinned(turn.chosen), -np.inf, np.min(chances, axis=0)))
            misses = [
                _wrong(belief, numbers[:, model.schema_.position(name)], within)
                for name, belief in beliefs.items()
            ]
            wrong.append(np.any(misses, axis=0))
            chosen.append(turn.chosen >= 0)
        n_asked = np.cumsum([np.zeros(len(truth), dtype=bool), *chosen[:-1]], axis=0)
        return cls(np.stack(sure, axis=1), np.stack(wrong, axis=1), n_asked.T)

    def __getitem__(self, rows: NDArray[np.generic]) -> "Courses":
        return Courses(self.sure[rows], self.wrong[rows], self.n_asked[rows])

    def ends(self, least: float | None) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Had they ended at the first belief so sure: which were wrong, after how many questions [rows].

        Where ``least`` is None they go on for as long as they can.
        """
        enough = self.sure >= (math.inf if least is None else least)
        enough[:, -1] = True
        rows, steps = np.arange(len(enough)), enough.argmax(1)
        return self.wrong[rows, steps], self.n_asked[rows, steps]

    def certificate(
        self, target: tuple[str, ...], strategy: Strategy, within: float | None = None
    ) -> Certificate:
        """What these interviews say at every threshold."""
        ended = [self.ends(least) for least in THRESHOLDS]
        return Certificate(
            target,
            repr(strategy),
            within,
            len(self.sure),
            THRESHOLDS,
            tuple(int(wrong.sum()) for wrong, _ in ended),
            tuple(float(asked.mean()) for _, asked in ended),
        )


def _certified(
    model: PartialVAE,
    truth: Evidence,
    target: tuple[str, ...],
    strategy: Strategy,
    within: float | None,
) -> Certificate:
    known = truth[np.flatnonzero(truth.observed[:, model.schema_.positions(target)].all(1))]
    if not len(known):
        raise TargetError(
            f"no held-out row has a value of {_names(target)}, so no decision could be judged. "
            "Give rows whose target is known."
        )
    courses = Courses.of(model, known, target, strategy, within)
    certificate = courses.certificate(target, strategy, within)
    model.certificates_[certificate.key] = certificate
    return certificate


def _found(model: PartialVAE, target: tuple[str, ...], strategy: Strategy, rule: Stop) -> Certificate:
    """The certificate of this rule: one there is, or one made of the rows that training held out."""
    of_levels = all(model.schema_[name].kind.has_levels for name in target)
    if of_levels and rule.within is not None:
        raise StopError(f"within is for quantities; {_names(target)} has levels, and is right or wrong.")
    known = model.certificates_.get((target, repr(strategy), rule.within))
    if known is not None:
        return known
    if model.validation_ is None:
        raise StopError(
            f"Stop(risk={rule.risk:g}) needs rows that training did not see, and this model has none: "
            "model files keep no rows, and some recipes hold none out. "
            f"Certify it on a held-out table: {_call(target, strategy, rule)}; `model.save` keeps that."
        )
    return _certified(model, model.validation_, target, strategy, rule.within)


def _wrong(belief: Prediction, number: NDArray[np.float64], within: float | None) -> NDArray[np.bool_]:
    """Whether the decision misses what is true, in the table's own numbers [rows]."""
    if belief.probabilities is not None:
        return np.asarray(belief.probabilities.argmax(-1) != np.rint(number))
    return np.asarray(~(np.abs(belief.mean - number) <= (within or 0.0)))


def _unkept(certificate: Certificate, rule: Stop) -> str:
    return (
        f"a risk of {rule.risk:g} cannot be promised with {rule.confidence:.0%} confidence, so this "
        f"rule ends no interview: of {certificate.n_rows} held-out rows {certificate.n_wrong[0]} were "
        "decided wrongly however sure the belief. The least risk that can be promised is "
        f"{certificate.least_risk(rule.confidence):.2g}; more held-out rows (eddi.certify) may lower it."
    )


def _call(target: tuple[str, ...], strategy: Strategy, rule: Stop) -> str:
    """What to type."""
    named = f"target={target[0]!r}" if len(target) == 1 else f"target={list(target)!r}"
    chooser = "" if strategy == Information() else ", strategy=..."
    margin = "" if rule.within is None else f", within={rule.within:g}"
    return f"eddi.certify(model, table, {named}{chooser}{margin})"


def _names(target: tuple[str, ...]) -> str:
    return ", ".join(map(repr, target))
