"""The texts of a questionnaire as respondents read them. Pages use them instead of the model's schema."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce

import numpy as np

from eddi.errors import SchemaError
from eddi.interview.record import Answer
from eddi.model.prediction import Prediction
from eddi.service.interviews.questionnaire_settings import QuestionnaireSettings
from eddi.service.web.formatting import capitalize, format_level
from eddi.service.web.languages.language import LANGUAGES, Language
from eddi.table.cells.number_format import parse_number
from eddi.table.question import Comparison, Question, Requirement, is_met, parse_requires
from eddi.table.schema import Schema
from eddi.table.variable import Level, Variable

EVERY_RESULT = ""  # key of the closing text that does not depend on the result


@dataclass(frozen=True)
class Texts:
    """Names, labels and texts: those of the settings, then of the schema, then the names of columns."""

    settings: QuestionnaireSettings = field(default_factory=QuestionnaireSettings)

    @property
    def language(self) -> Language:
        """The language of the texts."""
        return LANGUAGES[self.settings.languages[0]]

    def name(self, variable: Variable) -> str:
        """The name of a variable."""
        given = self.settings.names.get(variable.name) or self._translate(variable).title
        return given or split_words(variable.name)

    def title(self, variable: Variable) -> str:
        """The name of a variable at the beginning of a line."""
        return capitalize(self.name(variable))

    def join_names(self, variables: Iterable[Variable]) -> str:
        """The names of variables, joined by "and"."""

        def join(names: str, name: str) -> str:
            return self.language.gettext("%(names)s and %(name)s", names=names, name=name)

        return reduce(join, map(self.name, variables))

    def level(self, variable: Variable, level: Level) -> str:
        """The label of a level."""
        label = self.settings.labels.get(variable.name, {}).get(str(level))
        if label:
            return label
        if labels := self._translate(variable).labels:
            position = [str(other) for other in variable.levels].index(str(level))
            return labels[position]
        return format_level(level, self.language)

    def unit(self, variable: Variable) -> str:
        """The unit of a quantity."""
        return self._translate(variable).unit

    def question(self, question: Question) -> str:
        """The text of a question, without its note."""
        return self._described(question).title

    def note(self, question: Question) -> str:
        """What is said below a question: the note of its text, and its help text."""
        texts = (self._described(question).note, self.help(question))
        return " ".join(text for text in texts if text)

    def help(self, item: Question | Variable) -> str:
        """The help text of a question or variable."""
        return self.settings.help.get(item.name) or item.in_language(self.language.code).help

    def option(self, variable: Variable, option: str) -> str:
        """The label of an option of a multi-select question."""
        return self.settings.names.get(variable.name) or self._translate(variable).title or option

    def safety(self, answers: Iterable[Answer], schema: Schema) -> list[str]:
        """The safety texts of these answers, in order and without repetition."""
        found = []
        for answer in answers:
            for name, value in answer.values.items():
                texts = self.settings.safety.get(name, {})
                number = schema[name].number(value, confirm=True)
                found += matching_texts(texts, schema[name], number)
        return list(dict.fromkeys(found))

    def closing(self, prediction: Prediction) -> list[str]:
        """The texts at the end: that of the most likely level or the estimate, then the general text."""
        texts = self.settings.closing
        if prediction.probabilities is not None:
            number = float(prediction.probabilities.argmax())
        else:
            number = float(prediction.mean)
        chosen = matching_texts(texts, prediction.variable, number)
        return [text for text in (*chosen, texts.get(EVERY_RESULT, "")) if text]

    def _described(self, question: Question) -> Question:
        """The question with the text of the settings, or the name of its only variable."""
        text = self.settings.questions.get(question.name)
        translated = question.in_language(self.language.code)
        if not text and translated.text == question.name:
            text = self.settings.names.get(question.name) or split_words(question.name)
        return Question(question.name, question.reveals, text) if text else translated

    def _translate(self, variable: Variable) -> Variable:
        """The variable with the schema's texts in this language."""
        return variable.in_language(self.language.code)


def split_words(name: str) -> str:
    """The name of a column with spaces, so that it can be read."""
    return name.replace("_", " ").strip() or name


PLAIN = Texts()
"""The texts of the schema alone."""


def matching_texts(texts: Mapping[str, str], variable: Variable, number: float) -> list[str]:
    """The texts whose level or comparison holds for a value: a quantity, or the position of a level."""
    found = []
    for key, text in texts.items():
        if not key or not text:
            continue
        try:
            requirement = parse_condition(variable, key)
            if bool(is_met(requirement, variable, np.array([number]))[0]):
                found.append(text)
        except SchemaError:
            continue  # a level of an earlier model
    return found


def parse_condition(variable: Variable, key: str) -> Requirement:
    """The requirement of a level, or of a comparison such as ">= 180" for a quantity.

    Raises:
        SchemaError: it is neither a level of the variable nor a comparison with a number.
    """
    if variable.kind.has_levels:
        level = next((level for level in variable.levels if str(level) == key), None)
        if level is None:
            raise SchemaError(f"{key[:40]!r} is not a level of {variable.name!r}.")
        return (level,)
    requirement = parse_requires(f"x {key}").get("x", ())
    values = [part.value if isinstance(part, Comparison) else part for part in requirement]
    if not values or any(math.isnan(parse_number(value)) for value in values):
        raise SchemaError(f"{key[:40]!r} must be a comparison such as >= 180.")
    return tuple(part if isinstance(part, Comparison) else parse_number(part) for part in requirement)
