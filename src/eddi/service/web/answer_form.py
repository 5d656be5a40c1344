"""The form of a question: its fields, and how a submitted form becomes an answer."""

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from eddi.errors import AnswerError, OutOfRangeError
from eddi.interview.record import Answer, NoAnswer
from eddi.service.errors import N_
from eddi.service.web.formatting import capitalize, format_value
from eddi.service.web.languages.language import ENGLISH, Language
from eddi.service.web.texts import PLAIN, Texts
from eddi.service.web.wording import describe_expected_number
from eddi.table.question import Question
from eddi.table.schema import Schema
from eddi.table.variable import Kind, Level, Variable

MAX_CHOICES = 12  # variables with more levels get a drop-down list
NONE = "none"  # the checkbox of a multi-select question for none of its options
MAX_QUOTED = 40  # characters of an invalid input in an error message
GROUPED_NUMBER = re.compile(r"[-\u2212]?\d{1,3}(\.\d{3})+,\d+")  # such as 1.234,5


@dataclass(frozen=True)
class FormField:
    """The field of one variable.

    Args:
        key: name of the field in the form.
        label: text beside the field.
        control: "buttons" (one for each of two levels), "choices", "list", "number", or "options" for all
            variables of a multi-select question.
        hint: which numbers are expected, and the note of the question.
        options: the levels: submitted value and label. For a multi-select question, the name of each
            checkbox and its label.
        low, high: bounds of a number.
        step: of the slider.
        unit: of a number.
        is_whole: whether the number must be whole.
        typed: the present input.
        is_unknown: whether "don't know" is checked.
        error: what is wrong with the input; empty if nothing is.
        can_confirm: whether the input is accepted once it is confirmed.
        checked: the names of the checkboxes that are checked.
        ends: the labels of the ends of the slider.
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
    is_whole: bool = False
    typed: str = ""
    is_unknown: bool = False
    error: str = ""
    can_confirm: bool = False
    checked: frozenset[str] = frozenset()
    ends: tuple[str, str] = ("", "")

    @property
    def has_slider(self) -> bool:
        """Whether there is a slider, which needs both bounds."""
        return self.control == "number" and self.low is not None and self.high is not None


@dataclass(frozen=True)
class FormInput:
    """A submitted form.

    Args:
        values: by variable, in the format of `InterviewService.add_answer`.
        typed: the input by variable.
        unknown: variables for which "don't know" is checked.
        errors: what is wrong with the input, by variable.
        confirmed: variables whose value is confirmed to be correct, although it is out of range.
        unconfirmed: variables whose value is out of range, and not confirmed.
    """

    values: Mapping[str, Any]
    typed: Mapping[str, str] = field(default_factory=dict)
    unknown: frozenset[str] = frozenset()
    errors: Mapping[str, str] = field(default_factory=dict)
    confirmed: frozenset[str] = frozenset()
    unconfirmed: frozenset[str] = frozenset()

    def with_out_of_range(self, error: OutOfRangeError, language: Language = ENGLISH) -> "FormInput":
        """Return a copy that asks to confirm the values that an error names."""
        messages = {
            name: _ask_to_confirm(_describe_usual(*ends, language), self.typed.get(name, ""), language)
            for name, ends in error.ranges.items()
        }
        return replace(
            self,
            errors={**self.errors, **messages},
            unconfirmed=self.unconfirmed | frozenset(messages),
        )

    @classmethod
    def from_answer(cls, answer: Answer, schema: Schema, language: Language = ENGLISH) -> "FormInput":
        """Return the input that gives an earlier answer."""
        typed = {name: _type_value(schema[name], v, language) for name, v in answer.values.items()}
        unknown = [name for name, reason in answer.without.items() if reason is NoAnswer.UNKNOWN]
        without = {name: _no_answer_value(reason) for name, reason in answer.without.items()}
        return cls({**answer.values, **without}, typed, frozenset(unknown))


def build_fields(
    question: Question,
    schema: Schema,
    *,
    answered: Collection[str] = (),
    form_input: FormInput | None = None,
    texts: Texts = PLAIN,
) -> list[FormField]:
    """Return a field for each variable of a question; a multi-select question has a single field.

    Args:
        question: the question.
        schema: of the model.
        answered: variables that other answers gave; they get no field.
        form_input: the content of the fields; by default they are empty.
        texts: of the questionnaire.
    """
    form_input = form_input or FormInput({})
    keys = _field_keys(question, answered)
    if schema.options(question):
        return [_build_options_field(question, schema, keys, form_input=form_input, texts=texts)]
    is_single = len(question.reveals) == 1
    return [
        _build_field(
            schema[name],
            key,
            label=texts.question(question) if is_single else texts.title(schema[name]),
            note=texts.note(question) if is_single else texts.help(schema[name]),
            is_single=is_single,
            form_input=form_input,
            texts=texts,
        )
        for name, key in keys.items()
    ]


def parse_form(
    question: Question,
    schema: Schema,
    form: Mapping[str, str],
    *,
    answered: Collection[str],
    language: Language = ENGLISH,
) -> FormInput:
    """Return the input of a submitted form.

    Either the whole question is unknown or declined, or each variable has a value or is unknown.
    Errors are in the language of the respondent.
    """
    keys = _field_keys(question, answered)
    action = form.get("act", "")
    if action in tuple(NoAnswer):
        return FormInput(dict.fromkeys(keys, _no_answer_value(NoAnswer(action))))
    if schema.options(question):
        return _parse_options(schema, keys, form, language)
    typed = {name: form.get(key, "").strip() for name, key in keys.items()}
    unknown = frozenset(name for name, key in keys.items() if form.get(f"{key}-unknown"))
    # The box that confirms a value contains that value: it does not confirm a value typed since then.
    confirmed = frozenset(
        n for n, key in keys.items() if form.get(f"{key}-confirm", "") == typed[n] != ""
    )
    values: dict[str, Any] = dict.fromkeys(unknown)
    errors: dict[str, str] = {}
    unconfirmed = set()
    for name in keys:
        if name not in unknown:
            try:
                values[name] = parse_value(
                    schema[name], typed[name], confirm=name in confirmed, language=language
                )
            except OutOfRangeError as error:
                errors[name] = str(error)
                unconfirmed.add(name)
            except AnswerError as error:
                errors[name] = str(error)
    return FormInput(values, typed, unknown, errors, confirmed, frozenset(unconfirmed))


def _parse_options(
    schema: Schema, keys: Mapping[str, str], form: Mapping[str, str], language: Language
) -> FormInput:
    """Return the input of the checkboxes of a multi-select question."""
    selected = {name for name, key in keys.items() if form.get(key)}
    is_none = bool(form.get(NONE))
    values = {name: schema[name].levels[name in selected] for name in keys}
    if is_none is not bool(selected):
        return FormInput(values, {name: str(value) for name, value in values.items()})
    if is_none:
        message = language.gettext("Choose the options that apply, or “None of these”, but not both.")
    else:
        message = language.gettext("Choose the options that apply, or “None of these”.")
    typed = {name: str(values[name]) for name in selected}
    return FormInput({}, typed, errors={next(iter(keys)): message})


def parse_value(
    variable: Variable, typed: str, *, confirm: bool = False, language: Language = ENGLISH
) -> Level:
    """Return the value that a respondent typed or chose.

    Raises:
        AnswerError: the input is not valid; the message tells the respondent what is expected.
        OutOfRangeError: the value is out of range and not confirmed.
    """
    is_plain = not variable.kind.has_levels and variable.format is None
    text = _read_decimal_comma(typed, language) if is_plain else typed
    try:
        if text == "":
            raise AnswerError("the field is empty.")
        return variable.answer(variable.number(text, confirm=confirm))
    except OutOfRangeError as error:
        number = describe_expected_number(variable, language)
        expected = language.gettext("Enter %(number)s.", number=number)
        raise OutOfRangeError(_ask_to_confirm(expected, typed, language), error.ranges) from None
    except AnswerError:
        raise AnswerError(_describe_invalid(variable, typed, language)) from None


def _read_decimal_comma(typed: str, language: Language) -> str:
    """Return a number with a decimal point: "1,5" as "1.5", and in German "1.234,5" as "1234.5"."""
    if typed.count(",") != 1:
        return typed
    if "." not in typed:
        return typed.replace(",", ".")  # the decimal comma of many languages
    if language.decimal == "," and GROUPED_NUMBER.fullmatch(typed):
        return typed.replace(".", "").replace(",", ".")
    return typed


def _describe_invalid(variable: Variable, typed: str, language: Language) -> str:
    """Return what is expected instead of an input that is not valid."""
    if variable.kind.has_levels:
        return language.gettext("Choose one of these, or say that you don't know.")
    number = describe_expected_number(variable, language)
    if typed == "":
        return language.gettext("Enter %(number)s, or say that you don't know.", number=number)
    return language.gettext(
        "Enter %(number)s. You typed “%(typed)s”.", number=number, typed=typed[:MAX_QUOTED]
    )


def _type_value(variable: Variable, value: Level, language: Language) -> str:
    """Return a value as a respondent would type it, in the number format of the variable."""
    if variable.format is None:
        return format_value(value) if variable.kind.has_levels else format_value(value, language)
    return format_value(value).replace(".", variable.format.decimal)


def _describe_usual(low: float, high: float, language: Language) -> str:
    """Return which values are usual; an end may be infinite."""
    low_text, high_text = format_value(low, language), format_value(high, language)
    if math.isinf(low):
        return language.gettext("The usual values are at most %(high)s.", high=high_text)
    if math.isinf(high):
        return language.gettext("The usual values are at least %(low)s.", low=low_text)
    return language.gettext(
        "The usual values are between %(low)s and %(high)s.", low=low_text, high=high_text
    )


def _ask_to_confirm(expected: str, typed: str, language: Language) -> str:
    question = language.gettext(
        "You typed “%(typed)s”. If that is correct, confirm it below.", typed=typed[:MAX_QUOTED]
    )
    return f"{expected} {question}"


def _field_keys(question: Question, answered: Collection[str]) -> dict[str, str]:
    """Return the names of the form fields by variable."""
    names = enumerate(question.reveals)
    return {name: f"v{position}" for position, name in names if name not in answered}


def _build_field(
    variable: Variable,
    key: str,
    *,
    label: str,
    note: str,
    is_single: bool,
    form_input: FormInput,
    texts: Texts,
) -> FormField:
    number = describe_expected_number(variable, texts.language)
    expected = "" if variable.kind.has_levels else f"{capitalize(number)}."
    return FormField(
        key=key,
        label=label,
        control=_choose_control(variable, is_single=is_single),
        hint=" ".join(filter(None, (expected, note))),
        options=_list_options(variable, texts),
        low=variable.low,
        high=variable.high,
        step=_slider_step(variable),
        unit=texts.unit(variable),
        is_whole=variable.kind is Kind.COUNT,
        typed=form_input.typed.get(variable.name, ""),
        is_unknown=variable.name in form_input.unknown,
        error=form_input.errors.get(variable.name, ""),
        can_confirm=variable.name in form_input.unconfirmed,
        ends=(_format_end(variable.low, texts), _format_end(variable.high, texts)),
    )


def _build_options_field(
    question: Question,
    schema: Schema,
    keys: Mapping[str, str],
    *,
    form_input: FormInput,
    texts: Texts,
) -> FormField:
    """Return the field of a multi-select question: one checkbox per option, and one for none of them."""
    options, typed = schema.options(question), form_input.typed
    checked = {key for name, key in keys.items() if typed.get(name) == str(schema[name].levels[1])}
    if not checked and any(name in typed for name in keys):
        checked = {NONE}
    return FormField(
        key=next(iter(keys.values())),
        label=texts.question(question),
        control="options",
        hint=" ".join(
            filter(None, (texts.language.gettext("Choose all that apply."), texts.note(question)))
        ),
        options=(
            *((key, texts.option(schema[name], options[name])) for name, key in keys.items()),
            (NONE, texts.language.gettext("None of these")),
        ),
        error=next(iter(form_input.errors.values()), ""),
        checked=frozenset(checked),
    )


def _list_options(variable: Variable, texts: Texts) -> tuple[tuple[str, str], ...]:
    """Return the levels in their order, except that "yes" comes before "no"."""
    options = [(str(level), texts.level(variable, level)) for level in variable.levels]
    labels = [label.lower() for _, label in options]
    no_and_yes = [texts.language.gettext(word).lower() for word in (N_("No"), N_("Yes"))]
    if labels in (["no", "yes"], no_and_yes):
        options.reverse()
    return tuple(options)


def _choose_control(variable: Variable, *, is_single: bool) -> str:
    if not variable.kind.has_levels:
        return "number"
    if variable.kind is Kind.BINARY and is_single:
        return "buttons"
    return "choices" if variable.n_levels <= MAX_CHOICES else "list"


def _format_end(end: float | None, texts: Texts) -> str:
    return "" if end is None else format_value(float(end), texts.language)


def _slider_step(variable: Variable) -> float:
    """Return a power of ten that is at most a hundredth of the range, and 1 or more for counts."""
    if variable.low is None or variable.high is None or variable.high <= variable.low:
        return 1.0
    step = 10.0 ** math.floor(math.log10((variable.high - variable.low) / 100) + 1e-9)
    return max(1.0, step) if variable.kind is Kind.COUNT else step


def _no_answer_value(reason: NoAnswer) -> dict[str, str] | None:
    """Return a missing value in the format of `InterviewService.add_answer`."""
    return None if reason is NoAnswer.UNKNOWN else {"without": str(reason)}
