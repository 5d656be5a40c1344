"""How a question, an answer and a belief are put into words for the respondent. Pure functions."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from eddi.errors import AnswerError
from eddi.interview.explanation import Explanation
from eddi.interview.record import Answer, NoAnswer
from eddi.model.prediction import COVERAGE, Prediction
from eddi.table.question import Question
from eddi.table.schema import Schema
from eddi.table.variable import Kind, Level, Variable

N_CHOICES_LISTED = 12  # more levels than this are picked from a list that folds away
SILENCES = {NoAnswer.UNKNOWN: "Not known", NoAnswer.DECLINED: "Rather not said"}
SURE = f"{COVERAGE:.0%}"
HOLDS_STILL = 0.005  # of a width or a probability: less than this is no change worth a word


@dataclass(frozen=True)
class Field:
    """One variable as a form asks for it.

    Args:
        key: what the form calls its value.
        label: what a person calls it.
        control: "buttons" (two levels, each a button), "choices", "list" or "number".
        options: what can be chosen: the value sent, and its words.
        hint: what is expected, in words.
        typed: what was said of it before.
        unknown: whether "don't know" was said of it.
        error: what is wrong with what was typed; empty where nothing is.
    """

    key: str
    label: str
    control: str
    hint: str
    options: tuple[tuple[str, str], ...] = ()
    low: float | None = None
    high: float | None = None
    step: float = 1.0
    unit: str = ""
    whole: bool = False
    typed: str = ""
    unknown: bool = False
    error: str = ""

    @property
    def slides(self) -> bool:
        """Whether a slider can stand beside the box: both ends are known."""
        return self.control == "number" and self.low is not None and self.high is not None


@dataclass(frozen=True)
class Heard:
    """What a form said: values as the desk takes them, what was typed, and what was wrong with it."""

    values: Mapping[str, Any]
    typed: Mapping[str, str] = field(default_factory=dict)
    unknown: frozenset[str] = frozenset()
    errors: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Belief:
    """What is believed, in a few words: the best guess, and how sure that is."""

    about: str
    guess: str
    unit: str
    sure: str

    def __str__(self) -> str:
        return f"{self.about}: {self.guess} {self.unit}".rstrip() + f". {self.sure}"


@dataclass(frozen=True)
class Said:
    """One answer as a respondent reads it back: each variable and what was said of it."""

    question: str
    parts: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        if len(self.parts) == 1:
            return self.parts[0][1]
        return ", ".join(f"{label} {words}" for label, words in self.parts)


def fields(
    question: Question, schema: Schema, *, known: Collection[str] = (), heard: Heard | None = None
) -> list[Field]:
    """The fields of a question's form: one for each variable it reveals that is not known yet."""
    wanted = [name for name in question.reveals if name not in known]
    heard = heard or Heard({})
    alone = len(question.reveals) == 1
    return [
        _field(
            schema[name],
            f"v{question.reveals.index(name)}",
            label=question.text if alone else sentence(name),
            alone=alone,
            heard=heard,
        )
        for name in wanted
    ]


def _field(variable: Variable, key: str, *, label: str, alone: bool, heard: Heard) -> Field:
    return Field(
        key=key,
        label=label,
        control=_control(variable, alone=alone),
        hint=sentence(expected(variable)) + "." if not variable.kind.has_levels else "",
        options=_options(variable),
        low=variable.low,
        high=variable.high,
        step=_step(variable),
        unit=variable.unit,
        whole=variable.kind is Kind.COUNT,
        typed=heard.typed.get(variable.name, ""),
        unknown=variable.name in heard.unknown,
        error=heard.errors.get(variable.name, ""),
    )


def _options(variable: Variable) -> tuple[tuple[str, str], ...]:
    """The levels in their order, but for yes and no, which people expect in this one."""
    options = [(str(level), level_words(level)) for level in variable.levels]
    if [words.lower() for _, words in options] == ["no", "yes"]:
        options.reverse()
    return tuple(options)


def _control(variable: Variable, *, alone: bool) -> str:
    if not variable.kind.has_levels:
        return "number"
    if variable.kind is Kind.BINARY and alone:
        return "buttons"
    return "choices" if variable.n_levels <= N_CHOICES_LISTED else "list"


def _step(variable: Variable) -> float:
    """How far a slider goes at a time: a power of ten, at most a hundredth of the range."""
    if variable.low is None or variable.high is None or variable.high <= variable.low:
        return 1.0
    fine = 10.0 ** math.floor(math.log10((variable.high - variable.low) / 100) + 1e-9)
    return max(1.0, fine) if variable.kind is Kind.COUNT else fine


def hear(
    question: Question, schema: Schema, form: Mapping[str, str], *, known: Collection[str]
) -> Heard:
    """What a form says of each variable of ``question``; the whole form may be a single silence."""
    wanted = {name: f"v{place}" for place, name in enumerate(question.reveals) if name not in known}
    act = form.get("act", "")
    if act in tuple(NoAnswer):
        return Heard(dict.fromkeys(wanted, silence(NoAnswer(act))))
    typed = {name: form.get(key, "").strip() for name, key in wanted.items()}
    unknown = frozenset(name for name, key in wanted.items() if form.get(f"{key}-unknown"))
    values: dict[str, Any] = dict.fromkeys(unknown)
    errors: dict[str, str] = {}
    for name in (name for name in wanted if name not in unknown):
        try:
            values[name] = value(schema[name], typed[name])
        except AnswerError as error:
            errors[name] = str(error)
    return Heard(values, typed, unknown, errors)


def value(variable: Variable, typed: str) -> Level:
    """The answer that someone typed or chose.

    Raises:
        AnswerError: it is not one; the words say what is expected, to the person who typed it.
    """
    raw = typed
    if not variable.kind.has_levels and typed.count(",") == 1 and "." not in typed:
        raw = typed.replace(",", ".")  # many languages write 3,5
    try:
        if raw == "":
            raise AnswerError("nothing was typed.")
        return variable.answer(variable.number(raw))
    except AnswerError:
        if variable.kind.has_levels:
            raise AnswerError("Choose one of these, or say that you don't know.") from None
        words = f"Enter {expected(variable)}"
        if typed == "":
            raise AnswerError(f"{words}, or say that you don't know.") from None
        raise AnswerError(f"{words}. You typed “{typed[:40]}”.") from None


def silence(why: NoAnswer) -> dict[str, str] | None:
    """A missing answer as the desk takes it."""
    return None if why is NoAnswer.UNKNOWN else {"without": str(why)}


def remembered(answer: Answer) -> Heard:
    """An earlier answer as what was typed, to be changed."""
    typed = {name: plain(said) for name, said in answer.values.items()}
    unknown = frozenset(name for name, why in answer.without.items() if why is NoAnswer.UNKNOWN)
    return Heard(answer.values, typed, unknown)


def said(answer: Answer, schema: Schema) -> Said:
    """An answer read back."""
    texts = {question.name: question.text for question in schema.questions}
    words = {name: _value_words(schema[name], one) for name, one in answer.values.items()}
    words |= {name: SILENCES[why] for name, why in answer.without.items()}
    parts = [(sentence(name), words[name]) for name in sorted(words, key=schema.position)]
    if not answer.values and len(set(words.values())) == 1:
        parts = parts[:1]  # a silence about everything is said once
    return Said(texts.get(answer.question, answer.question), tuple(parts))


def _value_words(variable: Variable, said: Level) -> str:
    words = level_words(said) if variable.kind.has_levels else plain(said)
    return f"{words} {variable.unit}".strip()


def expected(variable: Variable) -> str:
    """What an answer must be, as the end of a sentence."""
    kind = "a whole number" if variable.kind is Kind.COUNT else "a number"
    low, high = variable.low, variable.high
    if variable.kind is Kind.COUNT and low is None:
        low = 0.0
    if low is not None and high is not None:
        bounds = f" between {plain(low)} and {plain(high)}"
    elif low is not None:
        bounds = f" from {plain(low)} up"
    else:
        bounds = "" if high is None else f" up to {plain(high)}"
    return kind + bounds + (f", in {variable.unit}" if variable.unit else "")


def belief(prediction: Prediction, decimals: int = 0) -> Belief:
    """What is believed about a variable, in words."""
    variable = prediction.variable
    about = sentence(variable.name)
    if prediction.probabilities is not None:
        likeliest = int(prediction.probabilities.argmax())
        chance = float(prediction.probabilities[likeliest])
        sure = f"The likeliest of {variable.n_levels}, with a probability of {share(chance)}."
        return Belief(about, level_words(variable.levels[likeliest]), "", sure)
    low, high = (number(float(end), decimals) for end in prediction.interval)
    sure = f"We are {SURE} sure that it lies between {low} and {high}."
    return Belief(about, number(float(prediction.mean), decimals), variable.unit, sure)


def spread(prediction: Prediction) -> float:
    """How unsure a belief is: the width of the interval, or the chance that the best guess is wrong."""
    if prediction.probabilities is not None:
        return 1.0 - float(prediction.probabilities.max())
    return float(prediction.interval[1] - prediction.interval[0])


def change(before: Prediction, after: Prediction, decimals: int = 0, *, by: str) -> str:
    """Whether ``by`` (an answer, or all of them) made us surer, in a sentence; it may not have."""
    old, new = spread(before), spread(after)
    if before.probabilities is not None:
        if abs(new - old) < HOLDS_STILL:
            return f"{by} left how sure we are as it was."
        surer = "surer" if new < old else "less sure, which a surprising answer can do"
        chances = f"{share(1 - old)} to {share(1 - new)}"
        return f"{by} made us {surer}: the likeliest went from {chances}."
    if abs(new - old) < HOLDS_STILL * old:
        return f"{by} left the {SURE} range as wide as it was."
    verb = "narrowed" if new < old else "widened"
    surprise = "" if new < old else " A surprising answer can do that."
    widths = f"{number(old, decimals)} to {number(new, decimals)}"
    return f"{by} {verb} the {SURE} range from {widths}.{surprise}"


def shift_words(shift: float, prediction: Prediction, decimals: int = 0) -> str:
    """How far one answer moved the guess."""
    if prediction.probabilities is not None:
        return _signed(100 * shift, 0, "point" if abs(round(100 * shift)) == 1 else "points")
    return _signed(shift, decimals, prediction.variable.unit)


def _signed(moved: float, decimals: int, unit: str) -> str:
    moved = round(moved, decimals) + 0.0  # plus nought, for -0 puzzles people
    words = f"{moved:+.{decimals}f}" if moved else "0"
    return f"{words} {unit}".strip().replace("-", "\u2212")


def left(most: int, about: int) -> str:
    """How many questions are to come, this one included."""
    if most <= 0:
        return "No questions left"
    if most == 1:
        return "The last question"
    if about >= most:
        return f"{most} left at most"
    return f"{most} left at most, probably about {about}"


def why(explanation: Explanation, schema: Schema, decimals: int = 0) -> list[str]:
    """Why this question, in sentences for the one who is asked."""
    target = explanation.target
    words = []
    if explanation.question.always:
        words.append("Everyone is asked this question.")
    if explanation.nats > 0.005:
        words.append(
            f"Your answer is expected to tell {nats(explanation.nats)} about {target}"
            + (": of all that can be asked now, this tells most." if _leads(explanation) else ".")
        )
    elif explanation.lookahead_gain <= 0:
        words.append(f"It is expected to tell little more about {target}.")
    if explanation.lookahead_gain > 0:
        words.append("Your answer decides which question is most informative next.")
    words.append(_expected_change(explanation, schema[target], decimals))
    if explanation.runner_up is None:
        words.append("Nothing else is left to ask.")
    return words


def _leads(explanation: Explanation) -> bool:
    return explanation.runner_up is None or explanation.nats >= explanation.runner_up[1]


def _expected_change(explanation: Explanation, target: Variable, decimals: int) -> str:
    if explanation.of_levels:
        now, after = share(explanation.now), share(explanation.after)
        what = f"the chance that our best guess of {target.name} is wrong"
    else:
        now, after = number(explanation.now, decimals), number(explanation.after, decimals)
        what = f"the width of the {SURE} range of {target.name}"
    if now == after:
        return f"We expect {what} to stay near {now}."
    verb = "fall" if explanation.after < explanation.now else "rise"
    return f"We expect {what} to {verb} from {now} to about {after}."


def nats(worth: float) -> str:
    """What an answer is worth; an estimate a little below nothing is nothing."""
    return f"{max(0.0, worth):.2f} nats"


def share(chance: float) -> str:
    """A probability; never a certainty that nobody has."""
    if 0 < chance < 0.01:
        return "under 1%"
    if 0.99 < chance < 1:
        return "over 99%"
    return f"{chance:.0%}"


def decimals(predictions: Sequence[Prediction]) -> int:
    """As many as tell a hundredth of the widest of these beliefs."""
    widest = max((spread(one) for one in predictions if one.probabilities is None), default=1.0)
    return max(0, 2 - math.floor(math.log10(max(widest, 1e-12))))


def number(value: float, decimals: int) -> str:
    """A number with so many decimals, and a true minus sign."""
    return f"{round(value, decimals) + 0.0:.{decimals}f}".replace("-", "\u2212")


def plain(value: Level) -> str:
    """A value as a person would type it."""
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def level_words(level: Level) -> str:
    """A level as a person would say it."""
    if isinstance(level, bool):
        return "Yes" if level else "No"
    return sentence(plain(level))


def sentence(words: str) -> str:
    """Words with a capital letter first; the rest as they are."""
    return words[:1].upper() + words[1:]
