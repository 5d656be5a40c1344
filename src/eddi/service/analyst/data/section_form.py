"""The form of the sections of a questionnaire: which questions belong to them, and how many are asked."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from eddi.errors import SchemaError
from eddi.service.web.languages.current import gettext
from eddi.table.question import Question
from eddi.table.schema import Schema
from eddi.table.section import Section

MAX_GROUPS = 1_000  # of mutually exclusive questions
LIMITS = ("share", "minimum", "maximum")


@dataclass(frozen=True)
class SectionOfQuestion:
    """The field of the section of one question."""

    field: str
    name: str
    text: str
    section: str


@dataclass(frozen=True)
class SectionLimits:
    """The fields of the limits of one section; the share is in percent."""

    number: int
    name: str
    share: str
    minimum: str
    maximum: str


def question_rows(schema: Schema, form: Mapping[str, str]) -> list[SectionOfQuestion]:
    """Return the questions that can be asked, each with its section."""
    return [
        SectionOfQuestion(
            f"section-{number}",
            question.name,
            question.text,
            form.get(f"section-{number}", question.section),
        )
        for number, question in enumerate(asked_questions(schema))
    ]


def limit_rows(schema: Schema, form: Mapping[str, str]) -> list[SectionLimits]:
    """Return the sections of the schema, each with its limits."""
    limits = {section.name: section for section in schema.sections}
    return [
        _limit_row(number, limits.get(name, Section(name)), form)
        for number, name in enumerate(section_names(schema))
    ]


def section_names(schema: Schema) -> list[str]:
    """Return the sections in the order of their first question."""
    return list(dict.fromkeys(question.section for question in schema.questions if question.section))


def format_groups(schema: Schema) -> str:
    """Return the groups of mutually exclusive questions, one per line."""
    return "\n".join("; ".join(group) for group in schema.exclusive)


def parse_sections(form: Mapping[str, str], schema: Schema) -> Schema:
    """Return the schema with the sections of a form. Limits of sections without questions are dropped.

    Raises:
        SchemaError: a field is not valid.
    """
    chosen = {row.name: row.section.strip() for row in question_rows(schema, form)}
    questions = [replace(q, section=chosen.get(q.name, q.section)) for q in schema.questions]
    used = {question.section for question in questions}
    sections = [
        _parse_limits(row)
        for row in limit_rows(schema, form)
        if row.name in used and any(getattr(row, name).strip() for name in LIMITS)
    ]
    return replace(
        schema,
        explicit_questions=tuple(q for q in questions if q != Question(q.name, (q.name,))),
        sections=tuple(sections),
        exclusive=_parse_groups(form.get("exclusive", format_groups(schema))),
    )


def asked_questions(schema: Schema) -> list[Question]:
    """Return the questions that are not targets and may be asked."""
    targets = set(schema.targets)
    return [q for q in schema.questions if not q.never and not targets & set(q.reveals)]


def _limit_row(number: int, section: Section, form: Mapping[str, str]) -> SectionLimits:
    share = f"{100 * section.share:.4g}" if section.share else ""
    return SectionLimits(
        number,
        section.name,
        form.get(f"share-{number}", share),
        form.get(f"minimum-{number}", str(section.minimum or "")),
        form.get(f"maximum-{number}", "" if section.maximum is None else str(section.maximum)),
    )


def _parse_limits(row: SectionLimits) -> Section:
    share = _parse_number(row, "share")
    minimum, maximum = (_parse_number(row, name) for name in ("minimum", "maximum"))
    return Section(
        row.name,
        None if not share else round(share / 100, 6),
        0 if minimum is None else int(minimum),
        None if maximum is None else int(maximum),
    )


def _parse_number(row: SectionLimits, name: str) -> float | None:
    text = getattr(row, name).strip().removesuffix("%").strip().replace(",", ".")
    if not text:
        return None
    pattern = r"\d{1,3}(\.\d{1,6})?" if name == "share" else r"\d{1,6}"
    if not re.fullmatch(pattern, text, re.ASCII):
        raise SchemaError(
            gettext(
                "Section “%(section)s”: a share is a number of percent, and a minimum or maximum is a "
                "whole number; got “%(text)s”.",
                section=row.name,
                text=text[:40],
            )
        )
    return float(text)


def _parse_groups(text: str) -> tuple[tuple[str, ...], ...]:
    lines = [line for line in text.splitlines() if line.strip()][:MAX_GROUPS]
    groups = (tuple(name.strip() for name in line.split(";") if name.strip()) for line in lines)
    return tuple(group for group in groups if group)
