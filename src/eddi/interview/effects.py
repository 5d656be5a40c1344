"""The effects of answers on the prediction of the target, which pages show as "what mattered"."""

import math
from dataclasses import dataclass

import numpy as np

from eddi.interview.interview import Interview, answers_to_evidence
from eddi.interview.record import Answer
from eddi.model.prediction import Prediction


@dataclass(frozen=True)
class Effect:
    """The effect of one answer on the prediction of the first target.

    Args:
        answer: the answer.
        shift: the prediction with the answer minus the one without it: of the mean, or of the
            probability of the level that is now the most likely.
        nats: information of the answer when it was given: KL(prediction after it || prediction before it).
    """

    answer: Answer
    shift: float
    nats: float


def predictions_over_time(interview: Interview, name: str) -> list[Prediction]:
    """The prediction of ``name`` before any answer, and after each."""
    answers = interview.record.answers
    prefixes = [answers[:n] for n in range(len(answers) + 1)]
    evidence = answers_to_evidence(interview.model, prefixes)
    predictions = interview.model.predict_evidence(evidence, (name,))[name]
    return [predictions[row] for row in range(len(evidence))]


def measure_effects(interview: Interview, over_time: list[Prediction]) -> list[Effect]:
    """The effect of each answer with a value on the first target, largest first.

    Each answer is left out alone, so the effects do not add up to the whole change.

    Args:
        interview: the interview.
        over_time: the predictions of its first target; see `predictions_over_time`.
    """
    answers = interview.record.answers
    places = [place for place, answer in enumerate(answers) if answer.values]
    if not places:
        return []
    without = [(*answers[:place], *answers[place + 1 :]) for place in places]
    evidence = answers_to_evidence(interview.model, without)
    name = interview.target[0]
    predictions = interview.model.predict_evidence(evidence, (name,))[name]
    found = [
        Effect(
            answers[place],
            shift(predictions[row], over_time[-1]),
            information(over_time[place], over_time[place + 1]),
        )
        for row, place in enumerate(places)
    ]
    return sorted(found, key=lambda effect: -abs(effect.shift))


def shift(before: Prediction, after: Prediction) -> float:
    """The change of the mean, or of the probability of the level that is most likely after."""
    if before.probabilities is None or after.probabilities is None:
        return float(after.mean - before.mean)
    level = int(after.probabilities.argmax())
    return float(after.probabilities[level] - before.probabilities[level])


def information(before: Prediction, after: Prediction) -> float:
    """KL(after || before) in nats. Its expectation over the answers is about the reward of a question.

    Predictions of quantities are taken to be normal.
    """
    if before.probabilities is not None and after.probabilities is not None:
        new, old = (np.clip(p, 1e-9, None) for p in (after.probabilities, before.probabilities))
        return max(0.0, float((new * np.log(new / old)).sum()))
    old_sd, new_sd = max(float(before.sd), 1e-9), max(float(after.sd), 1e-9)
    change = float(after.mean - before.mean)
    return math.log(old_sd / new_sd) + (new_sd**2 + change**2) / (2 * old_sd**2) - 0.5
