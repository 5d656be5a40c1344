"""`$next-question`: a form grows by one question per call until it is completed with scores."""

from itertools import pairwise

import pytest
from fhir.resources.R4B.questionnaireresponse import QuestionnaireResponse

from eddi.service.fhir.vocabulary import DATA_ABSENT, INTERVIEW_KEY
from eddi_benchmarks.service.fhir_client import (
    ADDRESS,
    answer_item,
    begin,
    decline_item,
    fill,
    questions_of,
    reply,
    send,
)
from eddi_benchmarks.service.fhir_rules import check_response

PEOPLE = "http://example.org/fhir/Questionnaire/people"


@pytest.fixture(scope="module")
def form(client):
    """All responses of the server while a form is filled."""
    return fill(client, PEOPLE)


def assert_refused(response, code, message, status=422):
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/fhir+json"
    [issue] = response.json()["issue"]
    assert (issue["severity"], issue["code"]) == ("error", code)
    assert message in issue["details"]["text"]
    return issue.get("expression")


def first_question(client):
    return send(client, begin(PEOPLE)).json()


def test_every_step_keeps_the_rules_of_the_profiles(form):
    assert [check_response(response) for response in form] == [[]] * len(form)


def test_every_step_is_a_valid_resource_of_r4(form):
    for response in form:
        QuestionnaireResponse.model_validate(response)


def test_a_form_grows_by_one_question_per_call(form):
    assert [len(questions_of(response)) for response in form] == [1, 2, 3, 4, 5, 6, 7, 7]
    for before, after in pairwise(form):
        assert questions_of(after)[: len(questions_of(before))] == questions_of(before)


def test_a_form_is_in_progress_until_no_question_is_left(form):
    assert [response["status"] for response in form] == ["in-progress"] * 7 + ["completed"]


def test_the_questions_are_those_of_an_interview(form, questionnaire):
    interview = questionnaire.interview()
    for response in form[:-1]:
        assert questions_of(response)[-1]["linkId"] == interview.ask().name
        interview.tell(interview.ask(), _value(answer_item(questions_of(response)[-1])))


def _value(item):
    [value] = item["answer"][0].values()
    if isinstance(value, dict):
        return value["code"]
    return "yes" if value is True else value


def test_a_completed_form_has_the_prediction_as_read_only_items(form):
    last = form[-1]
    score = last["contained"][0]["item"][-1]
    assert (score["linkId"], score["readOnly"]) == ("prediction/stage", True)
    level, *probabilities = last["item"][-1]["item"]
    assert level["answer"][0]["valueCoding"]["code"] in ("early", "late", "last")
    total = sum(item["answer"][0]["valueDecimal"] for item in probabilities)
    assert total == pytest.approx(1, abs=1e-4)


def test_the_questionnaire_and_its_version_are_named_in_derived_from(form, client):
    canonical = f"{client.base_url}/fhir/Questionnaire/people|1.0.0"
    assert {tuple(response["contained"][0]["derivedFrom"]) for response in form} == {(canonical,)}


def test_answers_and_the_subject_are_returned_unchanged(form):
    for response in form:
        assert response["subject"] == {"reference": "Patient/example"}
    assert form[-1]["item"][:7] == [answer_item(question) for question in questions_of(form[-1])]


def test_parameters_and_a_bare_response_have_the_same_result(client):
    resource = begin(PEOPLE)
    parameter = {"name": "questionnaire-response", "resource": resource}
    wrapped = send(client, {"resourceType": "Parameters", "parameter": [parameter]}).json()
    bare = send(client, resource).json()
    assert {**wrapped, "authored": ""} == {**bare, "authored": ""}


def test_nothing_is_stored(serving):
    with serving() as client:
        assert fill(client, PEOPLE)[-1]["status"] == "completed"
        assert list(client.app.state.service.store.streams("interview/")) == []


@pytest.mark.parametrize("code", ["asked-unknown", "asked-declined"])
def test_a_question_can_be_left_without_a_value(client, code):
    second = send(client, reply(first_question(client), lambda item: decline_item(item, code))).json()
    assert len(questions_of(second)) == 2


def test_a_reason_can_be_given_in_place_of_a_primitive_value(client):
    reason = {"extension": [{"url": DATA_ABSENT, "valueCode": "asked-unknown"}]}
    answered = reply(
        first_question(client),
        lambda item: {"linkId": item["linkId"], "answer": [{"_valueDecimal": reason}]},
    )
    response = send(client, answered).json()
    assert response["item"][0]["answer"] == [{"_valueDecimal": reason}]
    QuestionnaireResponse.model_validate(response)


def test_a_question_without_an_answer_is_refused(client):
    assert_refused(send(client, first_question(client)), "required", "is not answered")


def test_a_value_outside_its_range_is_refused(client):
    first = first_question(client)
    link_id = questions_of(first)[0]["linkId"]
    wrong = reply(first, lambda _: {"linkId": link_id, "answer": [{"valueDecimal": 1e9}]})
    expression = assert_refused(send(client, wrong), "business-rule", f"{link_id!r} should be between")
    assert expression == ["QuestionnaireResponse.item[0]"]


@pytest.mark.parametrize("status", ["completed", "amended", "stopped", "entered-in-error"])
def test_only_a_response_in_progress_has_a_next_question(client, status):
    refused = send(client, {**begin(PEOPLE), "status": status})
    assert assert_refused(refused, "business-rule", status) == ["QuestionnaireResponse.status"]


@pytest.mark.parametrize("name", ["url", "version"])
def test_a_contained_questionnaire_with_its_own_identity_is_refused(client, name):
    resource = begin(PEOPLE)
    resource["contained"][0][name] = "x"
    expression = assert_refused(send(client, resource), "business-rule", f"has no {name}")
    assert expression == [f"QuestionnaireResponse.contained[0].{name}"]


def test_a_contained_questionnaire_needs_one_derived_from(client):
    resource = begin(PEOPLE)
    resource["contained"][0]["derivedFrom"] *= 2
    expression = assert_refused(send(client, resource), "structure", "one derivedFrom", status=400)
    assert expression == ["QuestionnaireResponse.contained[0].derivedFrom"]


def test_a_reference_that_leads_nowhere_is_refused(client):
    assert_refused(send(client, {**begin(PEOPLE), "questionnaire": "#other"}), "not-found", "'#other'")


@pytest.mark.parametrize(
    ("canonical", "status"),
    [
        ("http://example.org/fhir/Questionnaire/nobody", 404),
        ("http://example.org/Patient/1", 422),
        (f"{PEOPLE}|2.0.0", 422),
        (f"{PEOPLE}|latest", 422),
    ],
)
def test_an_unknown_questionnaire_is_refused(client, canonical, status):
    assert_refused(send(client, begin(canonical)), "not-found", "GET /fhir/Questionnaire", status=status)


def test_other_contained_resources_are_kept(client):
    resource = begin(PEOPLE)
    patient = {"resourceType": "Patient", "id": "p"}
    resource["contained"].append(patient)
    assert send(client, resource).json()["contained"][1] == patient


def test_an_interview_is_stored_if_the_server_is_configured_so(storing):
    responses = fill(storing, PEOPLE)
    [extension] = responses[0]["extension"]
    assert extension["url"] == INTERVIEW_KEY
    stored = storing.get(f"/interviews/{extension['valueString']}").json()
    questions = [question["linkId"] for question in questions_of(responses[-1])]
    assert [answer["question"] for answer in stored["answers"]] == questions
    assert stored["question"] is None


def test_a_completed_response_no_longer_has_the_secret_key(storing):
    assert "extension" not in fill(storing, PEOPLE)[-1]


def test_a_repeated_request_stores_nothing_twice(storing):
    answered = reply(first_question(storing))
    first, second = (send(storing, answered).json() for _ in range(2))
    assert questions_of(first) == questions_of(second)


def test_an_answer_that_changed_is_changed_in_the_store(storing):
    answered = reply(first_question(storing))
    key = answered["extension"][0]["valueString"]
    send(storing, answered)
    answered["item"][0]["answer"][0]["valueDecimal"] = 40
    assert send(storing, answered).status_code == 200
    [answer] = storing.get(f"/interviews/{key}").json()["answers"]
    assert answer["values"] == {answer["question"]: 40.0}


def test_an_answer_that_is_missing_is_a_conflict(storing):
    first = first_question(storing)
    send(storing, reply(first))
    empty = begin(PEOPLE) | {"extension": first["extension"]}
    assert_refused(send(storing, empty), "conflict", "was answered before", status=409)


def test_the_key_of_no_interview_is_refused(storing):
    extension = [{"url": INTERVIEW_KEY, "valueString": "0" * 32}]
    refused = send(storing, begin(PEOPLE) | {"extension": extension})
    assert_refused(refused, "not-found", "there is no such interview", status=404)


def test_the_address_is_that_of_the_specification():
    assert ADDRESS == "/fhir/Questionnaire/$next-question"
