"""The form of a questionnaire's translation: each text in the first language, and a field for another."""

import math
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from eddi.service.analyst.questionnaires.raw_names import asked_questions
from eddi.service.analyst.questionnaires.settings_form import MAX_LEVELS
from eddi.service.interviews.questionnaire_settings import QuestionnaireSettings
from eddi.service.web.languages.language import LANGUAGES
from eddi.service.web.texts import EVERY_RESULT, Texts
from eddi.table.cells.number_format import parse_number
from eddi.table.languages.schema_texts import SchemaTexts, texts_in_language
from eddi.table.languages.translations import QuestionTexts, VariableTexts
from eddi.table.question import Question
from eddi.table.schema import Schema
from eddi.table.variable import Variable

Path = tuple[str, ...]  # place of a text in the settings, such as ("labels", "sex", "1")


@dataclass(frozen=True)
class TranslationRow:
    """A text and the field of its translation.

    Args:
        field: name of the field.
        path: place of the text in the settings.
        place: where respondents read it.
        source: the text in the first language.
        text: the translation; empty if there is none.
        default: that of the schema, which respondents read if there is no other.
    """

    field: str
    path: Path
    place: str
    source: str
    text: str
    default: str = ""

    @property
    def is_missing(self) -> bool:
        """Whether respondents read the text in the first language."""
        return not (self.text or self.default)


@dataclass(frozen=True)
class MissingTranslation:
    """How many texts have no translation into a language."""

    code: str
    language: str
    n_texts: int


def translation_rows(
    schema: Schema, target: Sequence[str], settings: QuestionnaireSettings, *, code: str
) -> list[TranslationRow]:
    """Return all texts that respondents read, each with its translation into a language."""
    translation = settings.translations.get(code, {})
    texts = dict.fromkeys(_find_texts(schema, target, Texts(settings)))
    defaults = texts_in_language(schema, code)
    return [
        TranslationRow(
            f"text-{number}",
            path,
            place,
            source,
            _get(translation, path),
            _find_in_schema(schema, defaults, path),
        )
        for number, (path, place, source) in enumerate(texts)
    ]


def parse_translation(
    form: Mapping[str, str], rows: Sequence[TranslationRow], previous: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the texts of a submitted form; texts of other models' variables stay as they were."""
    translation = deepcopy(dict(previous))
    for row in rows:
        _set(translation, row.path, form.get(row.field, "").replace("\r\n", "\n").strip())
    return translation


def find_missing(
    schema: Schema, target: Sequence[str], settings: QuestionnaireSettings
) -> list[MissingTranslation]:
    """Return the languages in which some texts are missing; respondents read the first language."""
    found = []
    for code in settings.languages[1:]:
        rows = translation_rows(schema, target, settings, code=code)
        n_texts = sum(row.is_missing for row in rows)
        if n_texts:
            found.append(MissingTranslation(code, LANGUAGES[code].name, n_texts))
    return found


def _find_texts(schema: Schema, target: Sequence[str], texts: Texts) -> Iterator[tuple[Path, str, str]]:
    """Yield the place of each text in the settings, where it is read, and the text."""
    settings = texts.settings
    for name in ("title", "introduction", "consent"):
        if getattr(settings, name):
            yield (name,), name.capitalize(), getattr(settings, name)
    for name in target:
        yield ("names", name), f"Name of “{name}”", texts.name(schema[name])
        yield from _find_labels(schema[name], texts)
    for question in asked_questions(schema, target):
        yield from _find_in_question(question, schema, texts)
    for key, text in settings.closing.items():
        place = "At the end" if key == EVERY_RESULT else f"At the end, {key}"
        yield ("closing", key), place, text


def _find_in_question(
    question: Question, schema: Schema, texts: Texts
) -> Iterator[tuple[Path, str, str]]:
    settings = texts.settings
    text = question.in_language(texts.language.code).text
    yield ("questions", question.name), "Question", settings.questions.get(question.name, text)
    if help_text := texts.help(question):
        yield ("help", question.name), "Help text", help_text
    options = schema.options(question)
    for name in question.reveals:
        variable = schema[name]
        if options:
            yield ("names", name), "Option", texts.option(variable, options[name])
            continue
        if len(question.reveals) > 1:
            yield ("names", name), f"Name of “{name}”", texts.name(variable)
            if help_text := texts.help(variable):
                yield ("help", name), "Help text", help_text
        yield from _find_labels(variable, texts)
        for level, text in settings.safety.get(name, {}).items():
            yield ("safety", name, level), f"Safety text after “{level}”", text


def _find_labels(variable: Variable, texts: Texts) -> Iterator[tuple[Path, str, str]]:
    """Yield the labels of levels; numbers need no translation."""
    if variable.n_levels > MAX_LEVELS or variable.source is not None:
        return
    for level in variable.levels:
        label = texts.level(variable, level)
        if math.isnan(parse_number(label)) and not isinstance(level, bool):
            yield ("labels", variable.name, str(level)), f"Level of “{variable.name}”", label


def _find_in_schema(schema: Schema, texts: SchemaTexts, path: Path) -> str:
    """The text of the schema in a language; empty if there is none."""
    part, name = path[0], path[min(1, len(path) - 1)]
    variable = texts.variables.get(name, VariableTexts())
    question = texts.questions.get(name, QuestionTexts())
    if part == "labels" and variable.labels:
        levels = [str(level) for level in schema[name].levels]
        return variable.labels[levels.index(path[-1])]
    found = {"names": variable.title, "questions": question.text, "help": question.help or variable.help}
    return found.get(part, "")


def _get(texts: Mapping[str, Any], path: Path) -> str:
    entry: Any = texts
    for name in path:
        entry = entry.get(name, {})
    return entry or ""


def _set(texts: dict[str, Any], path: Path, text: str) -> None:
    """Set a text, or remove it if it is empty."""
    for name in path[:-1]:
        texts = texts.setdefault(name, {})
    texts.pop(path[-1], None)
    if text:
        texts[path[-1]] = text
