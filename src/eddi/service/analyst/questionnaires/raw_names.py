"""Names of columns and codes that respondents would read, because nobody has worded them yet."""

import math
from collections.abc import Iterator, Sequence

from eddi.service.web.languages.current import gettext
from eddi.service.web.texts import Texts, split_words
from eddi.table.cells.number_format import parse_number
from eddi.table.question import Question
from eddi.table.schema import Schema
from eddi.table.variable import Kind, Variable


def find_raw_names(schema: Schema, target: Sequence[str], texts: Texts) -> list[str]:
    """Return a sentence about each text that is still a column's name or a code."""
    return [
        *_find_in_targets(schema, target, texts),
        *(
            note
            for question in asked_questions(schema, target)
            for note in _find(question, schema, texts)
        ),
    ]


def asked_questions(schema: Schema, target: Sequence[str]) -> list[Question]:
    """Return the questions that interviews about these targets can ask."""
    targets = set(target)
    return [q for q in schema.questions if targets.isdisjoint(q.reveals) and not q.never]


def _find_in_targets(schema: Schema, target: Sequence[str], texts: Texts) -> Iterator[str]:
    for name in target:
        if texts.name(schema[name]) == split_words(name):
            yield gettext("The target is called “%(name)s”, as its column.", name=name)
        yield from _find_codes(schema[name], texts)


def _find(question: Question, schema: Schema, texts: Texts) -> Iterator[str]:
    options = schema.options(question)
    if texts.question(question) == split_words(question.name):
        yield gettext("The question “%(name)s” is worded as its column.", name=question.name)
    if options:
        return
    for name in question.reveals:
        if len(question.reveals) > 1 and texts.name(schema[name]) == split_words(name):
            yield gettext(
                "“%(name)s”, a part of “%(question)s”, is called as its column.",
                name=name,
                question=texts.question(question),
            )
        yield from _find_codes(schema[name], texts)


def _find_codes(variable: Variable, texts: Texts) -> Iterator[str]:
    if variable.kind not in (Kind.BINARY, Kind.CATEGORY):
        return  # the levels of a scale from 1 to 5 are numbers
    labels = [texts.level(variable, level) for level in variable.levels]
    codes = [label for label in labels if not math.isnan(parse_number(label))]
    if codes:
        yield gettext(
            "The levels of “%(name)s” are codes: %(codes)s.",
            name=texts.name(variable),
            codes=", ".join(codes[:5]),
        )
