"""Why a question is asked: its expected effect, in words and numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eddi.interview.next_step import NextStep
from eddi.model.base import Model
from eddi.model.prediction import Prediction
from eddi.reward.units import format_bits
from eddi.table.evidence import Evidence
from eddi.table.question import Question

N_ANSWERS = 64  # drawn answers behind the expected change of the prediction


@dataclass(frozen=True)
class Explanation:
    """The expected effect of a question, and the best alternative.

    Args:
        question: the question.
        target: the first target, whose uncertainty is described.
        nats: expected information of its answer about the target; the text shows it in bits.
        now: present uncertainty: width of the 90% interval or, for a target with levels, the probability
            that the most likely level is wrong.
        after: expected uncertainty after the answer.
        of_levels: whether the target has levels.
        runner_up: the next best question and its expected information in nats.
        lookahead_gain: nats by which the answer is expected to improve the question after it; 0 without
            lookahead.
        is_most_informative: whether no open question has a higher expected information.
        per_cost: whether questions are chosen by information per unit of cost.
        other_targets: the targets that the information is also about.
        is_random: whether the question was chosen at random, to explore.
    """

    question: Question
    target: str
    nats: float
    now: float
    after: float
    of_levels: bool
    runner_up: tuple[str, float] | None
    lookahead_gain: float = 0.0
    is_most_informative: bool = True
    per_cost: bool = False
    other_targets: tuple[str, ...] = ()
    is_random: bool = False

    @property
    def subject(self) -> str:
        """What the information is about: all targets."""
        return " and ".join((self.target, *self.other_targets))

    def __str__(self) -> str:
        change = (
            f"the probability that the best guess of {self.target} is wrong from {self.now:.0%} to "
            f"{self.after:.0%}"
            if self.of_levels
            else f"the width of the 90% interval of {self.target} from {self.now:.4g} to {self.after:.4g}"
        )
        text = (
            f"{self.question.text!r} is expected to give {format_bits(self.nats)} of information about "
            f"{self.subject}, and to change {change}."
        )
        if self.per_cost:
            rate = format_bits(self.nats / self.question.cost)
            text += f" It costs {self.question.cost:g}: {rate} per unit of cost."
        if self.lookahead_gain > 0:
            text += (
                " Its answer also determines what to ask next, which is worth at least "
                f"{format_bits(self.lookahead_gain)} more."
            )
        if self.is_random:
            text += " It was chosen at random, so that the model can learn from its answer."
        if self.runner_up is None:
            return text + " No other question is left."
        name, nats = self.runner_up
        return text + f" Next best: {name!r} ({format_bits(nats)})."


def explain(
    model: Model,
    evidence: Evidence,
    target: Sequence[str],
    step: NextStep,
    *,
    question: Question | None = None,
    per_cost: bool = False,
) -> Explanation | None:
    """Explain the question of a step, or another open ``question``, for one row of evidence.

    The uncertainty is that of the first target. Expected values are means over answers drawn from the
    same predictions that are shown. None if the interview is over.
    """
    question = question or step.question
    if question is None:
        return None
    first = target[0]
    now = model.predict_evidence(evidence, (first,))[first]
    after = model.predict_evidence(_draw_answers(model, evidence, question), (first,))[first]
    runner_up = next((name for name in step.ranking if name != question.name), None)
    highest_propensity = max(step.propensities.values(), default=0.0)
    return Explanation(
        question=question,
        target=first,
        nats=step.rewards.get(question.name, 0.0),
        now=float(_uncertainty(now).mean()),
        after=float(_uncertainty(after).mean()),
        of_levels=now.probabilities is not None,
        runner_up=None if runner_up is None else (runner_up, step.rewards[runner_up]),
        lookahead_gain=step.lookahead_gains.get(question.name, 0.0),
        is_most_informative=question.name == next(iter(step.rewards), question.name),
        per_cost=per_cost,
        other_targets=tuple(target[1:]),
        is_random=question == step.question and step.propensity < highest_propensity,
    )


def _draw_answers(model: Model, evidence: Evidence, question: Question) -> Evidence:
    """The row once with each of many answers, drawn from the predictions of the model."""
    numbers = model.draw_tables(evidence, N_ANSWERS, seed=0)[:, 0]  # [answers, variables]
    drawn = model.coding.encode(numbers)
    is_revealed = np.zeros(drawn.observed.shape, dtype=bool)
    is_revealed[:, model.schema.positions(question.reveals)] = True
    repeated = evidence[np.zeros(N_ANSWERS, dtype=int)]
    return drawn.hide(~is_revealed).reveal(repeated)


def _uncertainty(prediction: Prediction) -> NDArray[np.float64]:
    if prediction.probabilities is not None:
        return np.asarray(1 - prediction.probabilities.max(-1))
    return np.asarray(np.diff(prediction.interval, axis=-1)[..., 0])
