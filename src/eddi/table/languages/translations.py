"""The texts of variables and questions in other languages."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from eddi.errors import SchemaError

LANGUAGE_CODE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")  # BCP 47, such as de, pt-BR or zh-Hans


@dataclass(frozen=True)
class VariableTexts:
    """The texts of a variable in one language. An empty text stands for that of the variable.

    Args:
        title: its name.
        labels: of its levels, in the same order.
        help: a text below the field.
        unit: unit of measurement.
    """

    title: str = ""
    labels: tuple[str, ...] = ()
    help: str = ""
    unit: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", tuple(self.labels))


@dataclass(frozen=True)
class QuestionTexts:
    """The texts of a question in one language. An empty text stands for that of the question.

    Args:
        text: its wording.
        help: a text below the question.
    """

    text: str = ""
    help: str = ""


def given_texts(texts: VariableTexts | QuestionTexts) -> dict[str, Any]:
    """Return the texts that are not empty, by name."""
    values = {item.name: getattr(texts, item.name) for item in fields(texts)}
    return {name: value for name, value in values.items() if value}


def check_languages(what: str, codes: Mapping[str, object] | tuple[str, ...]) -> None:
    """Raise a `SchemaError` if one of these is not the code of a language."""
    for code in codes:
        if not LANGUAGE_CODE.fullmatch(code):
            raise SchemaError(f"{what} has texts in {code!r:.40}. Write a language as de or pt-BR.")
