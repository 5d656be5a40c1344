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
    format_number,
    format_probability,
    format_signed,
    format_value,
)
from eddi.service.web.texts import PLAIN, Texts
from eddi.table.schema import Schema
from eddi.table.variable import Kind, Level, Variable

Numbers = NDArray[np.float64]

COVERAGE_PERCENT = f"{COVERAGE:.0%}"
NO_ANSWER_TEXTS = {NoAnswer.UNKNOWN: "Not known", NoAnswer.DECLINED: "Preferred not to say"}
MIN_CHANGE = 0.005  # of a relative width or a probability; a smaller change is not mentioned
LIKELIHOODS = (  # the lowest probability that a word stands for
    *((0.9, "very likely"), (0.66, "likely"), (0.33, "possible"), (0.1, "unlikely")),
    (0.0, "very unlikely"),
)
MIN_BITS = 0.0005  # an answer with less information is said to tell little


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


def describe_answer(answer: Answer, schema: Schema, texts: Texts = PLAIN) -> AnswerText:
    """Return an answer in words."""
    titles = {question.name: texts.question(question) for question in schema.questions}
    if selected_options(answer, schema) is not None:
        return AnswerText(
            titles[answer.question], ((answer.question, _list_options(answer, schema, texts)),)
        )
    values = {name: _describe_value(schema[name], v, texts) for name, v in answer.values.items()}
    values |= {name: NO_ANSWER_TEXTS[reason] for name, reason in answer.without.items()}
    parts = [(texts.title(schema[n]), values[n]) for n in sorted(values, key=schema.position)]
    if not answer.values and len(set(values.values())) == 1:
        parts = parts[:1]  # the same reason for all variables is given once
    return AnswerText(titles.get(answer.question, answer.question), tuple(parts))


def _list_options(answer: Answer, schema: Schema, texts: Texts) -> str:
    """Return the selected options of a multi-select question."""
    options = next(schema.options(q) for q in schema.questions if q.name == answer.question)
    selected = set(selected_options(answer, schema) or ())
    labels = [texts.option(schema[n], label) for n, label in options.items() if label in selected]
    return ", ".join(labels) or "None of these"


def _describe_value(variable: Variable, value: Level, texts: Texts) -> str:
    text = texts.level(variable, value) if variable.kind.has_levels else format_value(value)
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


def describe_prediction(
    prediction: Prediction, decimals: int = 0, texts: Texts = PLAIN
) -> PredictionText:
    """Return a prediction in words."""
    variable = prediction.variable
    name = texts.title(variable)
    if prediction.probabilities is not None:
        most_likely = int(prediction.probabilities.argmax())
        probability = format_probability(float(prediction.probabilities[most_likely]))
        rank = (
            "More likely than not"
            if variable.n_levels == 2
            else f"The most likely of {variable.n_levels}"
        )
        certainty = f"{rank}, with a probability of {probability}."
        level = texts.level(variable, variable.levels[most_likely])
        return PredictionText(name, level, "", certainty)
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


def describe_change(
    before: Prediction, after: Prediction, decimals: int = 0, *, cause: str, texts: Texts = PLAIN
) -> str:
    """Return how a prediction changed; ``cause`` is the subject, such as "Your answer"."""
    if before.probabilities is not None and after.probabilities is not None:
        return _describe_level_change(before.probabilities, after.probabilities, after, cause, texts)
    old, new = uncertainty(before), uncertainty(after)
    if abs(new - old) < MIN_CHANGE * old:
        return f"{cause} did not change the width of the {COVERAGE_PERCENT} range."
    widths = f"{format_number(old, decimals)} to {format_number(new, decimals)}"
    if new < old:
        return f"{cause} narrowed the {COVERAGE_PERCENT} range from {widths}."
    return (
        f"{cause} widened the {COVERAGE_PERCENT} range from {widths}. A surprising answer can do that."
    )


def describe_likelihood(probability: float) -> str:
    """Return a probability in words, such as "unlikely"."""
    return next(word for bound, word in LIKELIHOODS if probability >= bound)


def _describe_level_change(
    before: Numbers, after: Numbers, prediction: Prediction, cause: str, texts: Texts
) -> str:
    """Return how the probability of the level that is most likely now has changed."""
    most_likely, earlier = int(after.argmax()), int(before.argmax())
    old, new = float(before[most_likely]), float(after[most_likely])
    variable = prediction.variable
    level, earlier_level = (texts.level(variable, variable.levels[n]) for n in (most_likely, earlier))
    if abs(new - old) < MIN_CHANGE:
        return f"{cause} did not change the probability of “{level}”."
    effect = "raised" if new > old else "lowered"
    change = f"from {format_probability(old)} to {format_probability(new)}"
    words = describe_likelihood(old), describe_likelihood(new)
    if words[0] != words[1]:
        change = f"from {words[0]} ({format_probability(old)}) to {words[1]} ({format_probability(new)})"
    sentence = f"{cause} {effect} the probability of “{level}” {change}."
    if earlier != most_likely:
        sentence += f" Our best guess changed from “{earlier_level}” to “{level}”."
    return sentence


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


def format_share(part: float, whole: float) -> str:
    """Return a part of a whole in percent."""
    return format_probability(max(0.0, part) / whole) if whole > 0 else "0%"


def explain_question(
    explanation: Explanation, schema: Schema, decimals: int = 0, texts: Texts = PLAIN
) -> list[str]:
    """Return sentences that tell a respondent why a question is asked."""
    targets = (explanation.target, *explanation.other_targets)
    subject = texts.join_names(schema[name] for name in targets)
    sentences = []
    if explanation.question.always:
        sentences.append("Everyone is asked this question.")
    if to_bits(explanation.nats) > MIN_BITS:
        is_best = _is_best(explanation)
        sentences.append(
            f"Of all questions that are left, your answer is expected to tell us most about {subject}."
            if is_best
            else f"Your answer is expected to tell us more about {subject}."
        )
        if explanation.per_cost:
            sentences.append(
                f"Effort counts, too: this question costs {explanation.question.cost:g}. We ask what tells "
                "us most for its cost."
            )
    elif explanation.lookahead_gain <= 0:
        sentences.append(f"Your answer is expected to tell us little more about {subject}.")
    if explanation.lookahead_gain > 0:
        sentences.append("Your answer decides which question is most informative next.")
    sentences.append(_describe_expected_change(explanation, schema[explanation.target], decimals, texts))
    if explanation.runner_up is None:
        sentences.append("No other question is left.")
    return sentences


def _is_best(explanation: Explanation) -> bool:
    is_ahead = explanation.runner_up is None or explanation.nats >= explanation.runner_up[1]
    return explanation.is_most_informative and is_ahead


def _describe_expected_change(
    explanation: Explanation, target: Variable, decimals: int, texts: Texts
) -> str:
    name = texts.name(target)
    if explanation.of_levels:
        now, after = format_probability(explanation.now), format_probability(explanation.after)
        measure = f"the probability that our best guess of {name} is wrong"
    else:
        now = format_number(explanation.now, decimals)
        after = format_number(explanation.after, decimals)
        measure = f"the width of the {COVERAGE_PERCENT} range of {name}"
    if now == after and explanation.of_levels:
        return f"One answer alone is unlikely to change our best guess of {name}."
    if now == after:
        return f"We expect {measure} to stay near {now}."
    direction = "fall" if explanation.after < explanation.now else "rise"
    return f"We expect {measure} to {direction} from {now} to about {after}."
