"""Texts for respondents: answers, predictions, their changes, and why a question is asked."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eddi.interview.answer_values import selected_options
from eddi.interview.explanation import Explanation
from eddi.interview.record import Answer, NoAnswer
from eddi.model.prediction import COVERAGE, Prediction
from eddi.reward.units import to_bits
from eddi.service.web.formatting import (
    capitalize,
    format_information,
    format_level,
    format_number,
    format_probability,
    format_signed,
    format_value,
)
from eddi.table.schema import Schema
from eddi.table.variable import Kind, Level, Variable

Numbers = NDArray[np.float64]

COVERAGE_PERCENT = f"{COVERAGE:.0%}"
NO_ANSWER_TEXTS = {NoAnswer.UNKNOWN: "Not known", NoAnswer.DECLINED: "Preferred not to say"}
MIN_CHANGE = 0.005  # of a relative width or a probability; a smaller change is not mentioned
MIN_BITS = 0.0005  # less information would be shown as 0.000 bits


@dataclass(frozen=True)
class PredictionText:
    """A prediction in words.

    Args:
        name: of the variable.
        estimate: the mean, or the most likely level.
        unit: of the estimate.
        certainty: a sentence about how certain the estimate is.
    """

    name: str
    estimate: str
    unit: str
    certainty: str

    def __str__(self) -> str:
        return f"{self.name}: {self.estimate} {self.unit}".rstrip() + f". {self.certainty}"


@dataclass(frozen=True)
class AnswerText:
    """An answer in words: the question, and the name and value of each variable."""

    question: str
    parts: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        if len(self.parts) == 1:
            return self.parts[0][1]
        return ", ".join(f"{name} {value}" for name, value in self.parts)


def describe_answer(answer: Answer, schema: Schema) -> AnswerText:
    """Return an answer in words."""
    texts = {question.name: question.title for question in schema.questions}
    if (selected := selected_options(answer, schema)) is not None:
        listed = ", ".join(selected) or "None of these"
        return AnswerText(texts[answer.question], ((answer.question, listed),))
    values = {name: _describe_value(schema[name], value) for name, value in answer.values.items()}
    values |= {name: NO_ANSWER_TEXTS[reason] for name, reason in answer.without.items()}
    parts = [(capitalize(name), values[name]) for name in sorted(values, key=schema.position)]
    if not answer.values and len(set(values.values())) == 1:
        parts = parts[:1]  # the same reason for all variables is given once
    return AnswerText(texts.get(answer.question, answer.question), tuple(parts))


def _describe_value(variable: Variable, value: Level) -> str:
    text = format_level(value) if variable.kind.has_levels else format_value(value)
    return f"{text} {variable.unit}".strip()


def describe_expected_number(variable: Variable) -> str:
    """Return which numbers a quantity accepts, such as "a number between 0 and 10, in kg"."""
    is_count = variable.kind is Kind.COUNT
    low = 0.0 if is_count and variable.low is None else variable.low
    high = variable.high
    if low is not None and high is not None:
        bounds = f" between {format_value(low)} and {format_value(high)}"
    elif low is not None:
        bounds = f" from {format_value(low)} up"
    else:
        bounds = "" if high is None else f" up to {format_value(high)}"
    unit = f", in {variable.unit}" if variable.unit else ""
    return ("a whole number" if is_count else "a number") + bounds + unit


def describe_prediction(prediction: Prediction, decimals: int = 0) -> PredictionText:
    """Return a prediction in words."""
    variable = prediction.variable
    name = capitalize(variable.name)
    if prediction.probabilities is not None:
        most_likely = int(prediction.probabilities.argmax())
        probability = format_probability(float(prediction.probabilities[most_likely]))
        rank = (
            "More likely than not"
            if variable.n_levels == 2
            else f"The most likely of {variable.n_levels}"
        )
        certainty = f"{rank}, with a probability of {probability}."
        return PredictionText(name, format_level(variable.levels[most_likely]), "", certainty)
    low, high = (format_number(float(end), decimals) for end in prediction.interval)
    certainty = f"We are {COVERAGE_PERCENT} sure that it is between {low} and {high}."
    estimate = format_number(float(prediction.mean), decimals)
    return PredictionText(name, estimate, variable.unit, certainty)


def uncertainty(prediction: Prediction) -> float:
    """Return the width of the interval, or the probability that the most likely level is wrong."""
    if prediction.probabilities is not None:
        return 1.0 - float(prediction.probabilities.max())
    return float(prediction.interval[1] - prediction.interval[0])


def count_decimals(predictions: Sequence[Prediction]) -> int:
    """Return how many decimals resolve a hundredth of the widest interval."""
    widths = [uncertainty(prediction) for prediction in predictions if prediction.probabilities is None]
    widest = max(widths, default=1.0)
    return max(0, 2 - math.floor(math.log10(max(widest, 1e-12))))


def describe_change(before: Prediction, after: Prediction, decimals: int = 0, *, cause: str) -> str:
    """Return how the uncertainty changed; ``cause`` is the subject, such as "Your answer"."""
    if before.probabilities is not None and after.probabilities is not None:
        return _describe_level_change(before.probabilities, after.probabilities, after.variable, cause)
    old, new = uncertainty(before), uncertainty(after)
    if abs(new - old) < MIN_CHANGE * old:
        return f"{cause} did not change the width of the {COVERAGE_PERCENT} range."
    widths = f"{format_number(old, decimals)} to {format_number(new, decimals)}"
    if new < old:
        return f"{cause} narrowed the {COVERAGE_PERCENT} range from {widths}."
    return (
        f"{cause} widened the {COVERAGE_PERCENT} range from {widths}. A surprising answer can do that."
    )


def _describe_level_change(before: Numbers, after: Numbers, variable: Variable, cause: str) -> str:
    """Return how the probability of the level that is most likely now has changed."""
    most_likely = int(after.argmax())
    old, new = float(before[most_likely]), float(after[most_likely])
    level = format_level(variable.levels[most_likely])
    if abs(new - old) < MIN_CHANGE:
        return f"{cause} did not change the probability of “{level}”."
    effect = "raised" if new > old else "lowered"
    return (
        f"{cause} {effect} the probability of “{level}” from {format_probability(old)} to "
        f"{format_probability(new)}."
    )


def describe_shift(shift: float, prediction: Prediction, decimals: int = 0) -> str:
    """Return how far an answer moved the mean, or a probability in percentage points."""
    if prediction.probabilities is not None:
        unit = "point" if abs(round(100 * shift)) == 1 else "points"
        return f"{format_signed(100 * shift, 0)} {unit}"
    return f"{format_signed(shift, decimals)} {prediction.variable.unit}".strip()


def describe_questions_left(maximum: int, estimate: int) -> str:
    """Return how many questions are left, including the present one."""
    if maximum <= 0:
        return "No questions left"
    if maximum == 1:
        return "The last question"
    if estimate >= maximum:
        return f"At most {maximum} left"
    return f"At most {maximum} left, probably about {estimate}"


def describe_length(maximum: int, estimate: int) -> str:
    """Return how many questions an interview has."""
    if estimate >= maximum:
        return f"At most {maximum}, not counting those you skip."
    return f"At most {maximum}, not counting those you skip; probably about {estimate}."


def count_answers(n_answers: int) -> str:
    """Return a number of answers in words."""
    return {0: "no answers", 1: "one answer"}.get(n_answers, f"{n_answers} answers")


def explain_question(explanation: Explanation, schema: Schema, decimals: int = 0) -> list[str]:
    """Return sentences that tell a respondent why a question is asked."""
    target = explanation.target
    sentences = []
    if explanation.question.always:
        sentences.append("Everyone is asked this question.")
    if to_bits(explanation.nats) > MIN_BITS:
        sentences.append(
            f"Your answer is expected to give {format_information(explanation.nats)} of information about "
            f"{explanation.subject}"
            + (", more than any other question now." if _is_best(explanation) else ".")
        )
        if explanation.per_cost:
            sentences.append(
                f"Effort counts, too: this question costs {explanation.question.cost:g}. We ask what gives "
                "the most information for its cost."
            )
    elif explanation.lookahead_gain <= 0:
        sentences.append(f"Your answer is expected to tell us little more about {explanation.subject}.")
    if explanation.lookahead_gain > 0:
        sentences.append("Your answer decides which question is most informative next.")
    sentences.append(_describe_expected_change(explanation, schema[target], decimals))
    if explanation.runner_up is None:
        sentences.append("No other question is left.")
    return sentences


def _is_best(explanation: Explanation) -> bool:
    is_ahead = explanation.runner_up is None or explanation.nats >= explanation.runner_up[1]
    return explanation.is_most_informative and is_ahead


def _describe_expected_change(explanation: Explanation, target: Variable, decimals: int) -> str:
    if explanation.of_levels:
        now, after = format_probability(explanation.now), format_probability(explanation.after)
        measure = f"the probability that our best guess of {target.name} is wrong"
    else:
        now = format_number(explanation.now, decimals)
        after = format_number(explanation.after, decimals)
        measure = f"the width of the {COVERAGE_PERCENT} range of {target.name}"
    if now == after and explanation.of_levels:
        return f"One answer alone is unlikely to change our best guess of {target.name}."
    if now == after:
        return f"We expect {measure} to stay near {now}."
    direction = "fall" if explanation.after < explanation.now else "rise"
    return f"We expect {measure} to {direction} from {now} to about {after}."
