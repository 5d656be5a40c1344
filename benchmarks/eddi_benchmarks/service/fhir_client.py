"""A FHIR client that fills adaptive forms: it begins one, and answers every question that is sent."""

from collections.abc import Callable
from typing import Any

import httpx

ADDRESS = "/fhir/Questionnaire/$next-question"
DATA_ABSENT = "http://hl7.org/fhir/StructureDefinition/data-absent-reason"
NUMBER = 1.5  # the answer to every question about a quantity
COUNT = 2

Resource = dict[str, Any]


def begin(canonical: str) -> Resource:
    """Return a response without items, which begins a form."""
    form = {
        "resourceType": "Questionnaire",
        "id": "form",
        "status": "active",
        "derivedFrom": [canonical],
    }
    return {
        "resourceType": "QuestionnaireResponse",
        "contained": [form],
        "questionnaire": "#form",
        "status": "in-progress",
        "subject": {"reference": "Patient/example"},
        "authored": "2026-01-01T12:00:00Z",
    }


def questions_of(response: Resource) -> list[Resource]:
    """Return the items of the contained questionnaire that are not scores."""
    return [item for item in response["contained"][0].get("item", ()) if not item.get("readOnly")]


def answer_item(item: Resource) -> Resource:
    """Return an item that answers a question: the first option, yes, or a number."""
    answered = {"linkId": item["linkId"], "text": item["text"]}
    parts = [part for part in item.get("item", ()) if part["type"] != "display"]
    if parts:
        return {**answered, "item": [answer_item(part) for part in parts]}
    values: dict[str, Callable[[], Resource]] = {
        "boolean": lambda: {"valueBoolean": True},
        "integer": lambda: {"valueInteger": COUNT},
        "decimal": lambda: {"valueDecimal": NUMBER},
        "choice": lambda: {"valueCoding": item["answerOption"][0]["valueCoding"]},
    }
    return {**answered, "answer": [values[item["type"]]()]}


def decline_item(item: Resource, code: str = "asked-declined") -> Resource:
    """Return an item that gives no value, and why."""
    reason = {"url": DATA_ABSENT, "valueCode": code}
    return {"linkId": item["linkId"], "answer": [{"extension": [reason]}]}


def reply(response: Resource, answer: Callable[[Resource], Resource] = answer_item) -> Resource:
    """Return the response with an answer to its last question."""
    return {**response, "item": [*response.get("item", ()), answer(questions_of(response)[-1])]}


def send(client: httpx.Client, resource: Resource) -> httpx.Response:
    """Ask for the next question."""
    return client.post(ADDRESS, json=resource)


def fill(
    client: httpx.Client,
    canonical: str,
    *,
    n_answers: int | None = None,
    answer: Callable[[Resource], Resource] = answer_item,
) -> list[Resource]:
    """Return all responses of the server while a form is filled.

    Args:
        client: of a server.
        canonical: the address of the questionnaire.
        n_answers: how many questions are answered; None for all.
        answer: answers an item.
    """
    responses = [_read(send(client, begin(canonical)))]
    while responses[-1]["status"] != "completed" and len(responses) - 1 != n_answers:
        responses.append(_read(send(client, reply(responses[-1], answer))))
    return responses


def _read(response: httpx.Response) -> Resource:
    response.raise_for_status()
    resource: Resource = response.json()
    return resource
