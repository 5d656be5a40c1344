"""The operation `$next-question`: a response with one more question, or a completed one with scores.

The client keeps the response, so the server needs no state: the answers determine the interview. A server
with `EDDI_FHIR_STORE` also stores it, as an ordinary interview of the store.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError

from eddi.errors import AnswerError, OutOfRangeError
from eddi.interview.interview import Interview
from eddi.interview.record import Answer
from eddi.service.errors import InterviewConflictError
from eddi.service.fhir.discovery import (
    Resource,
    canonical_url,
    resolve_canonical,
    version_text,
)
from eddi.service.fhir.operation_outcome import MalformedResourceError, ResourceError
from eddi.service.fhir.question_items import QuestionItems
from eddi.service.fhir.schemas import ContainedQuestionnaireIn, ItemIn, ResponseIn
from eddi.service.fhir.scores import build_scores
from eddi.service.fhir.vocabulary import (
    ADAPTIVE_QUESTIONNAIRE,
    ADAPTIVE_RESPONSE,
    INTERVIEW_KEY,
    IS_ADAPTIVE,
)
from eddi.service.interviews.interview_service import InterviewService
from eddi.service.interviews.interview_view import InterviewView
from eddi.service.interviews.questionnaire import Questionnaire
from eddi.service.web.page_context import questionnaire_title
from eddi.table.variable import describe_range

ROOT = "QuestionnaireResponse"
REPLACED = {
    "resourceType",
    "meta",
    "contained",
    "extension",
    "questionnaire",
    "status",
    "authored",
    "item",
}


class AdaptiveForms:
    """Answers `$next-question`.

    Args:
        service: computes the next steps, and stores interviews.
        is_stored: whether interviews are stored.
    """

    def __init__(self, service: InterviewService, *, is_stored: bool) -> None:
        self.service, self.is_stored = service, is_stored

    def next_question(self, response: ResponseIn, base_url: str) -> Resource:
        """Return the response with the next question, or completed.

        Args:
            response: what the client sent: all questions so far, with their answers.
            base_url: the FHIR address of the server.

        Raises:
            ResourceError: the response breaks a rule of its profile or of the questionnaire.
        """
        if response.status != "in-progress":
            raise ResourceError(
                f"the status must be 'in-progress', got {response.status!r}: only a response that is not "
                "completed can have another question.",
                expression=f"{ROOT}.status",
            )
        contained = _find_contained(response)
        questionnaire = self._find_questionnaire(response, contained)
        items = QuestionItems(questionnaire)
        _check_same_items(response.item, contained)
        interview = tell_answers(items, response.item)
        view = self._view(response, questionnaire, interview)
        return _build_response(response, view, items, base_url=base_url, contained_id=contained.id)

    def _find_questionnaire(
        self, response: ResponseIn, contained: ContainedQuestionnaireIn
    ) -> Questionnaire:
        is_start = not response.item
        questionnaire = resolve_canonical(
            self.service.catalogue, contained.derived_from[0], is_start=is_start
        )
        if is_start and not self.is_stored:
            self.service.admission.check(questionnaire)
        language = (response.language or "").partition("-")[0].lower()
        is_offered = language in questionnaire.settings.languages
        return questionnaire.in_language(language) if is_offered else questionnaire

    def _view(
        self, response: ResponseIn, questionnaire: Questionnaire, interview: Interview
    ) -> InterviewView:
        if not self.is_stored:
            return self.service.next_step(questionnaire, interview)
        key = _read_key(response)
        view = self.service.resume(key) if key else self.service.start(questionnaire=questionnaire.name)
        started, given = view.questionnaire, questionnaire
        if (started.name, started.version) != (given.name, given.version):
            raise InterviewConflictError(
                f"this interview started with version {started.version} of {started.name!r}, not with "
                f"version {given.version} of {given.name!r}. Keep derivedFrom as the server sent it."
            )
        return self._store_answers(view, interview.record.answers)

    def _store_answers(self, view: InterviewView, answers: Sequence[Answer]) -> InterviewView:
        """Add the answers that are not stored yet, and change those that differ."""
        stored = {answer.question: answer for answer in view.interview.record.answers}
        if removed := stored.keys() - {answer.question for answer in answers}:
            raise InterviewConflictError(
                f"{removed.pop()!r} was answered before, and the response no longer has it. Send all "
                "answers, or change them."
            )
        for answer in answers:
            if answer == stored.get(answer.question):
                continue
            save = self.service.change_answer if answer.question in stored else self.service.add_answer
            values = {
                **answer.values,
                **{name: {"without": why} for name, why in answer.without.items()},
            }
            view = save(view.key, answer.question, values, confirm=True)
        return view


def tell_answers(items: QuestionItems, given: Sequence[ItemIn]) -> Interview:
    """Return the interview with the answers of a response.

    Raises:
        ResourceError: an answer is not valid.
    """
    interview = items.questionnaire.interview()
    for place, item in enumerate(given):
        path = f"{ROOT}.item[{place}]"
        answered = interview.record.answered_variables()
        question, values = items.read(item, answered=answered, path=path)
        try:
            interview.tell(question, values)
        except OutOfRangeError as error:
            raise _out_of_range(error, path) from None
        except AnswerError as error:
            raise ResourceError(str(error), code="value", expression=path) from None
    return interview


def _find_contained(response: ResponseIn) -> ContainedQuestionnaireIn:
    """The contained questionnaire that a response answers."""
    path = f"{ROOT}.contained"
    for place, document in enumerate(response.contained):
        if response.questionnaire == f"#{document.get('id', '')}":
            return _parse_contained(document, f"{path}[{place}]")
    raise ResourceError(
        f"'questionnaire' must refer to a contained questionnaire, such as '#form', got "
        f"{response.questionnaire[:80]!r}.",
        code="not-found",
        expression=f"{ROOT}.questionnaire",
    )


def _parse_contained(document: Any, path: str) -> ContainedQuestionnaireIn:
    try:
        contained = ContainedQuestionnaireIn.model_validate(document)
    except ValidationError as error:
        details = error.errors()[0]
        place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in details["loc"])
        raise MalformedResourceError(
            f"{path}{place} is not valid: {details['msg'][:1].lower()}{details['msg'][1:]}. A contained "
            "questionnaire needs an id, a status and one derivedFrom.",
            code="structure",
            expression=f"{path}{place}",
        ) from None
    for name in ("url", "version"):
        if name in document:
            raise ResourceError(
                f"a contained adaptive questionnaire has no {name}. Name the questionnaire in derivedFrom.",
                expression=f"{path}.{name}",
            )
    return contained


def _check_same_items(items: Sequence[ItemIn], contained: ContainedQuestionnaireIn) -> None:
    """Check that every question of the contained questionnaire is answered, and no other."""
    asked = [item.link_id for item in contained.item]
    answered = [item.link_id for item in items]
    for place, link_id in enumerate(answered):
        if link_id not in asked or link_id in answered[:place]:
            raise ResourceError(
                f"{link_id[:80]!r} must be an item of the contained questionnaire, and have one item.",
                code="structure",
                expression=f"{ROOT}.item[{place}]",
            )
    for place, link_id in enumerate(asked):
        if link_id not in answered or link_id in asked[:place]:
            raise ResourceError(
                f"{link_id[:80]!r} is not answered, or it is asked twice. Answer every question of the "
                "contained questionnaire once. If there is no answer, give one with an extension "
                "data-absent-reason.",
                code="required",
                expression=f"{ROOT}.item",
            )


def _out_of_range(error: OutOfRangeError, path: str) -> ResourceError:
    ranges = [f"{name!r} should be {describe_range(*ends)}" for name, ends in error.ranges.items()]
    return ResourceError(
        f"a value is outside its range: {', '.join(ranges)}. Correct it, or give an extension "
        "data-absent-reason.",
        code="business-rule",
        expression=path,
    )


def _read_key(response: ResponseIn) -> str:
    """The key of the stored interview; empty at the start."""
    keys = [item.value_string or "" for item in response.extension if item.url == INTERVIEW_KEY]
    return keys[0] if keys else ""


def _build_response(
    response: ResponseIn,
    view: InterviewView,
    items: QuestionItems,
    *,
    base_url: str,
    contained_id: str,
) -> Resource:
    """Return the response with a questionnaire that has all questions so far, and the next one."""
    form, answered = _asked_items(view, items), [item.to_json() for item in response.item]
    is_over = view.question is None
    for form_item, response_item in build_scores(view, items) if is_over else ():
        form.append(form_item)
        answered.append(response_item)
    others = [document for document in response.contained if document.get("id") != contained_id]
    extensions = [item.to_json() for item in response.extension if item.url != INTERVIEW_KEY]
    if view.key and not is_over:  # a completed form may be archived, and the key is a secret
        extensions.append({"url": INTERVIEW_KEY, "valueString": view.key})
    kept = {name: value for name, value in response.to_json().items() if name not in REPLACED}
    contained = _build_questionnaire(items.questionnaire, base_url, contained_id=contained_id)
    return {
        "resourceType": ROOT,
        "meta": {"profile": [ADAPTIVE_RESPONSE]},
        "contained": [contained | ({"item": form} if form else {}), *others],
        **({"extension": extensions} if extensions else {}),
        **kept,
        "questionnaire": f"#{contained_id}",
        "status": "completed" if is_over else "in-progress",
        "authored": datetime.now(UTC).isoformat(timespec="seconds"),
        **({"item": answered} if answered else {}),
    }


def _asked_items(view: InterviewView, items: QuestionItems) -> list[Any]:
    """The items of the questions so far, in the order of the answers, and of the next question."""
    by_name = {question.name: question for question in items.by_link_id.values()}
    form, variables = [], set[str]()
    for answer in view.interview.record.answers:
        form.append(items.build(by_name[answer.question], answered=variables))
        variables |= answer.values.keys()
    if view.question is not None:
        form.append(items.build(view.question, answered=variables))
    return form


def _build_questionnaire(questionnaire: Questionnaire, base_url: str, *, contained_id: str) -> Resource:
    canonical = f"{canonical_url(questionnaire, base_url)}|{version_text(questionnaire)}"
    return {
        "resourceType": "Questionnaire",
        "id": contained_id,
        "meta": {"profile": [ADAPTIVE_QUESTIONNAIRE]},
        "extension": [{"url": IS_ADAPTIVE, "valueUrl": base_url}],
        "title": questionnaire_title(questionnaire),
        "derivedFrom": [canonical],
        "status": "active",
        "subjectType": ["Patient"],
    }
