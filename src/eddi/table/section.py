"""A section of a questionnaire: questions about one topic, and how many of them are asked."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from eddi.errors import SchemaError
from eddi.table.text import format_names, suggest_name

LIMITS = ("share", "minimum", "maximum")
MAX_TOTAL_SHARE = 1 + 1e-9  # of all sections; shares such as 1/3 are rounded


@dataclass(frozen=True)
class Section:
    """How many questions of a section an interview asks. `Question.section` says which belong to it.

    Args:
        name: of the section.
        share: its share of the questions of every interview; None if it has none. The next question is
            one of the section that is furthest below its share.
        minimum: number of its questions that are asked in any case, before the interview ends.
        maximum: number of its questions that are asked at most; None for all of them.
    """

    name: str
    share: float | None = None
    minimum: int = 0
    maximum: int | None = None

    def __post_init__(self) -> None:
        where = f"section {self.name!r}"
        if self.share is not None and not 0 < self.share <= 1:
            raise SchemaError(f"{where} has share {self.share:g}; a share is above 0 and at most 1.")
        for name, count in (("minimum", self.minimum), ("maximum", self.maximum)):
            if count is not None and (not isinstance(count, int) or count < 0):
                raise SchemaError(f"{where} has {name} {count:g}; it must be a whole number from 0 up.")
        if self.maximum is not None and self.minimum > self.maximum:
            raise SchemaError(
                f"{where} has minimum {self.minimum} above maximum {self.maximum}. Swap them."
            )

    def to_document(self) -> dict[str, float]:
        """The limits that are given, as plain JSON or TOML."""
        limits = {"share": self.share, "minimum": self.minimum or None, "maximum": self.maximum}
        return {name: limit for name, limit in limits.items() if limit is not None}

    @classmethod
    def from_document(cls, name: str, document: Any) -> "Section":
        """The section that `to_document` describes.

        Raises:
            SchemaError: a limit is unknown, or not a number.
        """
        if not isinstance(document, dict):
            example = "{ minimum = 1, maximum = 3 }"
            raise SchemaError(f"section {name!r} must be a table such as {example}, got {document!r}.")
        for key, value in document.items():
            if key not in LIMITS:
                keys = ", ".join(LIMITS)
                raise SchemaError(f"section {name!r} has the unknown key {key!r}. Keys are: {keys}.")
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise SchemaError(f"section {name!r}: {key} must be a number, got {value!r}.")
        return cls(name, **document)


def parse_groups(groups: Any) -> tuple[tuple[str, ...], ...]:
    """Groups of mutually exclusive questions, from plain JSON or TOML."""
    lists = groups if isinstance(groups, list) else [groups]
    for group in lists:
        if not isinstance(group, list) or not all(isinstance(name, str) for name in group):
            raise SchemaError(
                f'exclusive must be a list of lists of questions such as [["kg", "lb"]], got {groups!r}.'
            )
    return tuple(map(tuple, lists))


def check_sections(sections: Sequence[Section], used: Iterable[str]) -> None:
    """Raise a `SchemaError` if a section is named twice or has no question, or if shares exceed 1.

    Args:
        sections: the sections.
        used: the sections that questions belong to.
    """
    names, known = [section.name for section in sections], sorted({name for name in used if name})
    for place, name in enumerate(names):
        if name in names[:place]:
            raise SchemaError(f"the section name {name!r} is used twice. Names must be unique.")
        if name not in known:
            hint = suggest_name(name, known)
            raise SchemaError(
                f"section {name!r} has no question.{hint} Sections of questions are: "
                f"{format_names(known) or 'none'}."
            )
    total = sum(section.share or 0.0 for section in sections)
    if total > MAX_TOTAL_SHARE:
        raise SchemaError(f"the shares of the sections add up to {total:g}; they must be at most 1.")


def check_exclusive(groups: Sequence[Sequence[str]], questions: Sequence[str]) -> None:
    """Raise a `SchemaError` if a group of mutually exclusive questions is not valid."""
    for group in groups:
        if len(set(group)) < 2:
            raise SchemaError(
                f"a group of mutually exclusive questions names at least two, got {list(group)}."
            )
        for name in group:
            if name not in questions:
                hint = suggest_name(name, questions)
                raise SchemaError(
                    f"the exclusive questions {list(group)} contain {name!r}, which is not a "
                    f"question.{hint} Questions are: {format_names(questions)}."
                )
