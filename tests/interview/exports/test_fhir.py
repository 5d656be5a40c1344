"""Answers are exported as QuestionnaireResponses."""

from eddi.interview.exports.fhir import DATA_ABSENT, to_bundle, to_questionnaire_response


def test_a_response_has_an_item_for_each_answer_in_order(people, schema):
    response = to_questionnaire_response(people[0], schema, questionnaire="heart check")
    assert response["resourceType"] == "QuestionnaireResponse"
    assert response["questionnaire"] == "urn:eddi:questionnaire:heart%20check"
    assert (response["status"], response["authored"]) == ("completed", people[0].ended_at)
    names = [item["linkId"] for item in response["item"]]
    assert names == ["sex", "smoke", "ready", "weight", "births", "panel", "s", "tool"]


def test_an_answer_has_the_type_of_its_variable(people, schema):
    items = {item["linkId"]: item for item in to_questionnaire_response(people[0], schema)["item"]}
    assert items["sex"]["answer"] == [{"valueCoding": {"code": "2", "display": "Female"}}]
    assert items["ready"]["answer"] == [{"valueBoolean": True}]
    assert items["weight"]["answer"] == [{"valueDecimal": 70.5}]
    assert items["births"]["answer"] == [{"valueInteger": 2}]
    assert items["s"]["answer"] == [{"valueCoding": {"code": "1", "display": "Cough"}}]
    assert [answer["valueCoding"]["code"] for answer in items["tool"]["answer"]] == ["a", "b"]


def test_a_question_about_several_variables_is_a_group(people, schema):
    items = {item["linkId"]: item for item in to_questionnaire_response(people[0], schema)["item"]}
    first, second = items["panel"]["item"]
    assert (first["linkId"], first["answer"]) == ("panel/ldl", [{"valueDecimal": 3.5}])
    assert second["linkId"] == "panel/hdl"
    assert "answer" not in items["panel"]


def test_a_missing_answer_has_its_reason(people, schema):
    items = {item["linkId"]: item for item in to_questionnaire_response(people[0], schema)["item"]}
    reason = {"url": DATA_ABSENT, "valueCode": "asked-declined"}
    assert items["smoke"]["answer"] == [{"extension": [reason]}]


def test_no_selected_option_is_an_answer(people, schema):
    items = {item["linkId"]: item for item in to_questionnaire_response(people[1], schema)["item"]}
    assert items["s"]["answer"][0]["valueCoding"]["code"] == "none"
    assert items["tool"]["answer"][0]["extension"][0]["valueCode"] == "asked-declined"


def test_a_bundle_has_all_responses(people, schema):
    bundle = to_bundle(people, schema)
    assert [entry["resource"]["status"] for entry in bundle["entry"]] == ["completed", "in-progress"]
    assert to_bundle([], schema) == {"resourceType": "Bundle", "type": "collection"}
