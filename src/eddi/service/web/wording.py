"""Texts for respondents: answers, predictions, their changes, and why a question is asked."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from eddi.interview.answer_values import selected_options
from eddi.interview.explanation import Explanation
from eddi.interview.record import Answer, NoAnswer
from eddi.model.prediction import COVERAGE, Prediction
from eddi.reward.units import to_bits
from eddi.service.errors import N_
from eddi.service.web.formatting import (
    format_number,
    format_percent,
    format_probability,
    format_signed,
    format_value,
)
from eddi.service.web.languages.language import ENGLISH, Language
from eddi.service.web.survival.risk_wording import describe_risk, describe_risks
from eddi.service.web.texts import PLAIN, Texts
from eddi.table.schema import Schema
from eddi.table.variable import Kind, Level, Variable

NO_ANSWER_TEXTS = {NoAnswer.UNKNOWN: N_("Not known"), NoAnswer.DECLINED: N_("Preferred not to say")}
EXPECTED_NUMBERS = {  # by whether there is a lowest and a highest number
    (True, True): N_("a number between %(low)s and %(high)s"),
    (True, False): N_("a number from %(low)s up"),
    (False, True): N_("a number up to %(high)s"),
    (False, False): N_("a number"),
}
EXPECTED_COUNTS = {
    (True, True): N_("a whole number between %(low)s and %(high)s"),
    (True, False): N_("a whole number from %(low)s up"),
}
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
    values |= {
        n: texts.language.gettext(NO_ANSWER_TEXTS[reason]) for n, reason in answer.without.items()
    }
    parts = [(texts.title(schema[n]), values[n]) for n in sorted(values, key=schema.position)]
    if not answer.values and len(set(values.values())) == 1:
        parts = parts[:1]  # the same reason for all variables is given once
    return AnswerText(titles.get(answer.question, answer.question), tuple(parts))


def _list_options(answer: Answer, schema: Schema, texts: Texts) -> str:
    """Return the selected options of a multi-select question."""
    options = next(schema.options(q) for q in schema.questions if q.name == answer.question)
    selected = set(selected_options(answer, schema) or ())
    labels = [texts.option(schema[n], label) for n, label in options.items() if label in selected]
    return ", ".join(labels) or texts.language.gettext("None of these")


def _describe_value(variable: Variable, value: Level, texts: Texts) -> str:
    if variable.kind.has_levels:
        return texts.level(variable, value)
    return f"{format_value(value, texts.language)} {texts.unit(variable)}".strip()


def describe_expected_number(variable: Variable, language: Language = ENGLISH) -> str:
    """Return which numbers a quantity accepts, such as "a number between 0 and 10, in kg"."""
    is_count = variable.kind is Kind.COUNT
    low = 0.0 if is_count and variable.low is None else variable.low
    has_ends = (low is not None, variable.high is not None)
    low_text, high_text = ("" if x is None else format_value(x, language) for x in (low, variable.high))
    pattern = (EXPECTED_COUNTS if is_count else EXPECTED_NUMBERS)[has_ends]
    expected = language.gettext(pattern, low=low_text, high=high_text)
    unit = variable.in_language(language.code).unit
    return language.gettext("%(number)s, in %(unit)s", number=expected, unit=unit) if unit else expected


def describe_prediction(
    prediction: Prediction, decimals: int = 0, texts: Texts = PLAIN
) -> PredictionText:
    """Return a prediction in words."""
    variable, language = prediction.variable, texts.language
    name = texts.title(variable)
    if variable.survival is not None:
        return PredictionText(
            name, describe_risk(prediction, texts), "", " ".join(describe_risks(prediction, texts))
        )
    if prediction.probabilities is not None:
        most_likely = int(prediction.probabilities.argmax())
        level = texts.level(variable, variable.levels[most_likely])
        certainty = _describe_certainty(
            float(prediction.probabilities[most_likely]), variable.n_levels, language
        )
        return PredictionText(name, level, "", certainty)
    low, high = (format_number(float(end), decimals, language) for end in prediction.interval)
    certainty = language.gettext(
        "We are %(percent)s sure that it is between %(low)s and %(high)s.",
        percent=coverage_percent(language),
        low=low,
        high=high,
    )
    estimate = format_number(float(prediction.mean), decimals, language)
    return PredictionText(name, estimate, texts.unit(variable), certainty)


def _describe_certainty(probability: float, n_levels: int, language: Language) -> str:
    percent = format_probability(probability, language)
    if n_levels == 2:
        return language.gettext(
            "More likely than not, with a probability of %(percent)s.", percent=percent
        )
    return language.gettext(
        "The most likely of %(n_levels)s, with a probability of %(percent)s.",
        n_levels=n_levels,
        percent=percent,
    )


def coverage_percent(language: Language = ENGLISH) -> str:
    """Return the probability of the interval of a prediction, in percent."""
    return format_percent(COVERAGE, language)


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


def describe_shift(
    shift: float, prediction: Prediction, decimals: int = 0, language: Language = ENGLISH
) -> str:
    """Return how far an answer moved the mean, or a probability in percentage points."""
    if prediction.probabilities is not None:
        n_points = abs(round(100 * shift))
        points = format_signed(100 * shift, 0, language)
        return language.ngettext("%(points)s point", "%(points)s points", n_points, points=points)
    unit = prediction.variable.in_language(language.code).unit
    return f"{format_signed(shift, decimals, language)} {unit}".strip()


def describe_questions_left(maximum: int, estimate: int, language: Language = ENGLISH) -> str:
    """Return how many questions are left, including the present one."""
    if maximum <= 0:
        return language.gettext("No questions left")
    if maximum == 1:
        return language.gettext("The last question")
    if estimate >= maximum:
        return language.gettext("At most %(maximum)s left", maximum=maximum)
    return language.gettext(
        "At most %(maximum)s left, probably about %(estimate)s", maximum=maximum, estimate=estimate
    )


def describe_length(maximum: int, estimate: int, language: Language = ENGLISH) -> str:
    """Return how many questions an interview has."""
    if estimate >= maximum:
        return language.gettext("At most %(maximum)s, not counting those you skip.", maximum=maximum)
    return language.gettext(
        "At most %(maximum)s, not counting those you skip; probably about %(estimate)s.",
        maximum=maximum,
        estimate=estimate,
    )


def count_answers(n_answers: int, language: Language = ENGLISH) -> str:
    """Return a number of answers in words."""
    if n_answers == 0:
        return language.gettext("no answers")
    return language.ngettext("one answer", "%(num)s answers", n_answers)


def format_share(part: float, whole: float, language: Language = ENGLISH) -> str:
    """Return a part of a whole in percent."""
    return format_probability(max(0.0, part) / whole if whole > 0 else 0.0, language)


def explain_question(
    explanation: Explanation, schema: Schema, decimals: int = 0, texts: Texts = PLAIN
) -> list[str]:
    """Return sentences that tell a respondent why a question is asked."""
    language = texts.language
    sentences = []
    if explanation.question.always:
        sentences.append(language.gettext("Everyone is asked this question."))
    sentences += _describe_information(explanation, schema, texts)
    if explanation.lookahead_gain > 0:
        sentences.append(
            language.gettext("Your answer decides which question is most informative next.")
        )
    sentences.append(_describe_expected_change(explanation, schema[explanation.target], decimals, texts))
    if explanation.runner_up is None:
        sentences.append(language.gettext("No other question is left."))
    return sentences


def _describe_information(explanation: Explanation, schema: Schema, texts: Texts) -> list[str]:
    """Return what the answer is expected to tell about the targets."""
    language = texts.language
    targets = (explanation.target, *explanation.other_targets)
    subject = texts.join_names(schema[name] for name in targets)
    if to_bits(explanation.nats) <= MIN_BITS:
        little = N_("Your answer is expected to tell us little more about %(subject)s.")
        return [] if explanation.lookahead_gain > 0 else [language.gettext(little, subject=subject)]
    most = N_(
        "Of all questions that are left, your answer is expected to tell us most about %(subject)s."
    )
    more = N_("Your answer is expected to tell us more about %(subject)s.")
    sentences = [language.gettext(most if _is_best(explanation) else more, subject=subject)]
    if explanation.per_cost:
        effort = language.gettext(
            "Effort counts, too: this question costs %(cost)s. We ask what tells us most for its cost.",
            cost=format_value(float(explanation.question.cost), language),
        )
        sentences.append(effort)
    return sentences


def _is_best(explanation: Explanation) -> bool:
    is_ahead = explanation.runner_up is None or explanation.nats >= explanation.runner_up[1]
    return explanation.is_most_informative and is_ahead


def _describe_expected_change(
    explanation: Explanation, target: Variable, decimals: int, texts: Texts
) -> str:
    name, language = texts.name(target), texts.language
    if explanation.of_levels:
        return _describe_expected_error(explanation, name, language)
    now, after = (
        format_number(width, decimals, language) for width in (explanation.now, explanation.after)
    )
    if now == after:
        pattern = N_("We expect the width of the %(percent)s range of %(name)s to stay near %(now)s.")
    elif explanation.after < explanation.now:
        pattern = N_(
            "We expect the width of the %(percent)s range of %(name)s to fall from %(now)s to about "
            "%(after)s."
        )
    else:
        pattern = N_(
            "We expect the width of the %(percent)s range of %(name)s to rise from %(now)s to about "
            "%(after)s."
        )
    percent = coverage_percent(language)
    return language.gettext(pattern, percent=percent, name=name, now=now, after=after)


def _describe_expected_error(explanation: Explanation, name: str, language: Language) -> str:
    now, after = (format_probability(p, language) for p in (explanation.now, explanation.after))
    if now == after:
        pattern = N_("One answer alone is unlikely to change our best guess of %(name)s.")
    elif explanation.after < explanation.now:
        pattern = N_(
            "We expect the probability that our best guess of %(name)s is wrong to fall from %(now)s to "
            "about %(after)s."
        )
    else:
        pattern = N_(
            "We expect the probability that our best guess of %(name)s is wrong to rise from %(now)s to "
            "about %(after)s."
        )
    return language.gettext(pattern, name=name, now=now, after=after)
