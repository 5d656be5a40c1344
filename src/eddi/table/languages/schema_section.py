"""The section of a schema file that has texts in other languages.

```toml
language = "en"

[languages.de.variables]
sex = { title = "Geschlecht", labels = ["Frau", "Mann"] }

[languages.de.questions]
age = { text = "Wie alt sind Sie?", help = "In Jahren." }
```
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from typing import Any

from eddi.errors import SchemaError
from eddi.table.languages.translations import LANGUAGE_CODE, QuestionTexts, VariableTexts, given_texts
from eddi.table.schema import Schema
from eddi.table.text import suggest_name
from eddi.table.toml_values import (
    check_keys,
    check_type,
    format_inline_table,
    format_key,
    parse_names,
    parse_section,
    parse_text,
)


@dataclass(frozen=True)
class Translations:
    """The texts in other languages: of variables and questions, by name and then by language."""

    variables: dict[str, dict[str, VariableTexts]] = field(default_factory=dict)
    questions: dict[str, dict[str, QuestionTexts]] = field(default_factory=dict)

    def check_names(self, variables: Iterable[str], questions: Iterable[str]) -> None:
        """Raise a `SchemaError` if there are texts of something that does not exist."""
        _check_names("variable", self.variables, list(variables))
        _check_names("question", self.questions, list(questions))


def parse_languages(section: dict[str, Any], own: str) -> Translations:
    """Return the texts of the section ``languages``.

    Args:
        section: variables and questions by language.
        own: the language of the schema's own texts; empty if it is not known.
    """
    translations = Translations()
    for code, entry in section.items():
        _check_code(code, own)
        check_type(f"languages: {code}", entry, dict, f"a section such as [languages.{code}.questions]")
        check_keys(f"languages: {code}", entry, ("variables", "questions"))
        for name, texts in parse_section(entry, "variables").items():
            translations.variables.setdefault(name, {})[code] = _parse_variable_texts(code, name, texts)
        for name, texts in parse_section(entry, "questions").items():
            translations.questions.setdefault(name, {})[code] = _parse_question_texts(code, name, texts)
    return translations


def format_languages(schema: Schema) -> Iterator[str]:
    """Yield the lines of the section, with an empty line between its parts."""
    separator: list[str] = []
    for code in schema.languages:
        for part, items in (("variables", schema.variables), ("questions", schema.explicit_questions)):
            texts = {item.name: item.translations[code] for item in items if code in item.translations}
            if texts:
                yield from (*separator, f"[languages.{code}.{part}]")
                yield from (
                    f"{format_key(name)} = {format_inline_table(**given_texts(entry))}"
                    for name, entry in texts.items()
                )
                separator = [""]


def _check_code(code: str, own: str) -> None:
    if not LANGUAGE_CODE.fullmatch(code):
        raise SchemaError(f"languages has the key {code!r:.40}. Write a language as de or pt-BR.")
    if code == own:
        raise SchemaError(
            f"the language of the schema is {code!r}, and there are texts in [languages.{code}], too. "
            "Write them at the variables and questions instead."
        )


def _parse_variable_texts(code: str, name: str, entry: Any) -> VariableTexts:
    where = f"languages: {code}: variable {name!r}"
    check_type(where, entry, dict, 'a table such as { title = "Alter" }')
    check_keys(where, entry, tuple(item.name for item in fields(VariableTexts)))
    texts = {
        key: parse_text(f"{where}: {key}", value) for key, value in entry.items() if key != "labels"
    }
    return VariableTexts(labels=parse_names(f"{where}: labels", entry.get("labels", [])), **texts)


def _parse_question_texts(code: str, name: str, entry: Any) -> QuestionTexts:
    where = f"languages: {code}: question {name!r}"
    check_type(where, entry, dict, 'a table such as { text = "Wie alt sind Sie?" }')
    check_keys(where, entry, tuple(item.name for item in fields(QuestionTexts)))
    return QuestionTexts(**{key: parse_text(f"{where}: {key}", value) for key, value in entry.items()})


def _check_names(what: str, texts: dict[str, Any], known: list[str]) -> None:
    for name, by_language in texts.items():
        if name not in known:
            code = next(iter(by_language))
            raise SchemaError(
                f"[languages.{code}.{what}s] has a text for {name!r}, but there is no such {what}."
                + suggest_name(name, known)
            )
