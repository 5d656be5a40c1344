"""The questions of a questionnaire as items of a FHIR form, and items of a response as answers."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from eddi.interview.record import NoAnswer
from eddi.service.fhir.operation_outcome import ResourceError
from eddi.service.fhir.schemas import MAX_LINK_ID, ItemIn
from eddi.service.fhir.variable_items import (
    CODE_SHAPE,
    Item,
    describe_variable,
    no_answer_codings,
    read_reason,
    read_value,
)
from eddi.service.fhir.vocabulary import ITEM_CONTROL, ITEM_CONTROLS
from eddi.service.interviews.questionnaire import Questionnaire
from eddi.service.web.texts import Texts
from eddi.table.question import Question
from eddi.table.schema import Schema
from eddi.table.text import format_list, suggest_name
from eddi.table.variable import Level

NONE = "none"  # the code of a multi-select question for which no option is selected
Values = Mapping[str, Level | NoAnswer] | NoAnswer


@dataclass(frozen=True)
class QuestionItems:
    """The items of a questionnaire's questions.

    An item has the name of its question as its link ID. A question that reveals several variables is a
    group of items; a multi-select question is one item with several answers.
    """

    questionnaire: Questionnaire

    @property
    def schema(self) -> Schema:
        """The schema of the model."""
        return self.questionnaire.model.schema

    @cached_property
    def texts(self) -> Texts:
        """The texts of the questionnaire."""
        return Texts(self.questionnaire.settings)

    @cached_property
    def by_link_id(self) -> dict[str, Question]:
        """The questions that can be answered, by link ID."""
        target = set(self.questionnaire.target)
        questions = [q for q in self.schema.questions if target.isdisjoint(q.reveals)]
        return {_shorten(question.name): question for question in questions}

    def link_id(self, *parts: str) -> str:
        """Return a link ID that no question has, such as "body/weight"."""
        link_id = _shorten("/".join(parts))
        while link_id in self.by_link_id:
            link_id = f"{link_id[: MAX_LINK_ID - 1]}'"
        return link_id

    def build(self, question: Question, *, answered: Collection[str] = ()) -> Item:
        """Return the item of a question, without variables that were answered before."""
        texts, link_id = self.texts, _shorten(question.name)
        item: Item = {"linkId": link_id, "text": texts.question(question), "required": True}
        nested: list[Item] = []
        if options := self.schema.options(question):
            item |= {"type": "choice", "repeats": True, "answerOption": self._options(question, options)}
        elif len(question.reveals) == 1:
            item |= describe_variable(self.schema[question.reveals[0]], texts)
        else:
            item |= {"type": "group"}
            nested = [self._part(question, name) for name in question.reveals if name not in answered]
        if note := texts.note(question):
            nested.append(self._help(question, note))
        return item | {"item": nested} if nested else item

    def read(self, item: ItemIn, *, answered: Collection[str], path: str) -> tuple[Question, Values]:
        """Return the question of a response item, and the values that it gives.

        Args:
            item: the item of the response.
            answered: variables that earlier items gave.
            path: the FHIRPath of the item, for errors.

        Raises:
            ResourceError: there is no such question, or the answer does not suit it.
        """
        question = self.by_link_id.get(item.link_id)
        if question is None:
            hint = suggest_name(item.link_id, list(self.by_link_id))
            raise ResourceError(
                f"there is no question {item.link_id[:80]!r}.{hint}", code="not-found", expression=path
            )
        if options := self.schema.options(question):
            return question, self._read_options(question, options, item, path)
        if len(question.reveals) == 1:
            _refuse_nested(item, path)
            variable = self.schema[question.reveals[0]]
            return question, {variable.name: read_value(variable, item.answer, self.texts, path=path)}
        return question, self._read_group(question, item, answered, path)

    def _part(self, question: Question, name: str) -> Item:
        variable = self.schema[name]
        link_id = self.link_id(question.name, name)
        text = {"linkId": link_id, "text": self.texts.title(variable), "required": True}
        return text | describe_variable(variable, self.texts)

    def _help(self, question: Question, note: str) -> Item:
        coding = {"system": ITEM_CONTROLS, "code": "help"}
        control = {"url": ITEM_CONTROL, "valueCodeableConcept": {"coding": [coding]}}
        link_id = self.link_id(question.name, "help")
        return {"extension": [control], "linkId": link_id, "text": note, "type": "display"}

    def _read_group(
        self, question: Question, item: ItemIn, answered: Collection[str], path: str
    ) -> dict[str, Level | NoAnswer]:
        if item.answer:
            raise ResourceError(
                f"{question.name!r} is a group. Answer its items.", code="structure", expression=path
            )
        names = {self.link_id(question.name, name): name for name in question.reveals}
        parts = _by_link_id(item.item, names, path)
        values: dict[str, Level | NoAnswer] = {}
        for link_id, name in names.items():
            if link_id in parts:
                part, place = parts[link_id]
                _refuse_nested(part, place)
                values[name] = read_value(self.schema[name], part.answer, self.texts, path=place)
            elif name not in answered:
                raise ResourceError(
                    f"{link_id!r} has no answer. If there is none, give an answer with an extension "
                    "data-absent-reason.",
                    code="required",
                    expression=path,
                )
        return values

    def _options(self, question: Question, options: Mapping[str, str]) -> list[Item]:
        """The options of a multi-select question, and the ways to select none."""
        system, none = self._option_system(question), self.texts.language.gettext("None of these")
        labels = [self.texts.option(self.schema[name], option) for name, option in options.items()]
        codings = [
            {"system": system, "code": code, "display": label}
            for code, label in zip(_option_codes(options), labels, strict=True)
        ]
        codings.append({"system": system, "code": NONE, "display": none})
        return [{"valueCoding": coding} for coding in (*codings, *no_answer_codings(self.texts))]

    def _option_system(self, question: Question) -> str:
        column = self.schema[question.reveals[0]].column
        return f"urn:eddi:options:{column}".replace(" ", "%20")

    def _read_options(
        self, question: Question, options: Mapping[str, str], item: ItemIn, path: str
    ) -> Values:
        """The variables of a multi-select question, from the codes of its answers."""
        _refuse_nested(item, path)
        codes, system = (
            dict(zip(_option_codes(options), options, strict=True)),
            self._option_system(question),
        )
        reasons = [read_reason(answer, f"{path}.answer[{n}]") for n, answer in enumerate(item.answer)]
        if len(reasons) == 1 and reasons[0] is not None:
            return reasons[0]
        chosen: list[str] = []
        for n, answer in enumerate(item.answer):
            coding = answer.value_coding
            is_known = coding is not None and coding.system in (None, system)
            code = coding.code if coding is not None and is_known else None
            if code not in (*codes, NONE) or code in chosen:
                raise ResourceError(
                    f"{question.name!r} takes different codes of {system}: "
                    f"{format_list([*codes, NONE])}.",
                    code="code-invalid",
                    expression=f"{path}.answer[{n}]",
                )
            chosen.append(str(code))
        if not chosen or (NONE in chosen and len(chosen) > 1):
            raise ResourceError(
                f"{question.name!r} needs an answer: the selected options, or {NONE!r} alone.",
                code="required",
                expression=path,
            )
        return {name: self.schema[name].levels[code in chosen] for code, name in codes.items()}


def _shorten(name: str) -> str:
    """A name as a link ID; the end of a very long name is replaced by a hash."""
    if len(name) <= MAX_LINK_ID:
        return name
    return f"{name[: MAX_LINK_ID - 33]}-{hashlib.sha256(name.encode()).hexdigest()[:32]}"


def _option_codes(options: Mapping[str, str]) -> list[str]:
    return [
        option if CODE_SHAPE.fullmatch(option) and option != NONE else f"option-{n}"
        for n, option in enumerate(options.values(), start=1)
    ]


def _by_link_id(
    items: Sequence[ItemIn], names: Mapping[str, str], path: str
) -> dict[str, tuple[ItemIn, str]]:
    """The items of a group by link ID, with their FHIRPaths."""
    found: dict[str, tuple[ItemIn, str]] = {}
    for n, item in enumerate(items):
        place = f"{path}.item[{n}]"
        if item.link_id not in names or item.link_id in found:
            raise ResourceError(
                f"{item.link_id[:80]!r} is not expected. Items are: {format_list(list(names))}, each "
                "at most once.",
                code="structure",
                expression=place,
            )
        found[item.link_id] = item, place
    return found


def _refuse_nested(item: ItemIn, path: str) -> None:
    if item.item:
        raise ResourceError(
            f"{item.link_id[:80]!r} is a question and has no items.", code="structure", expression=path
        )
