"""Questions as items: single variables, groups and multi-select questions."""

import pytest

from eddi import UNKNOWN, Question
from eddi.service.fhir.operation_outcome import ResourceError
from eddi.service.fhir.question_items import QuestionItems
from eddi.service.fhir.schemas import ItemIn
from eddi_benchmarks.service.fhir_client import decline_item


@pytest.fixture
def body_items(make_items, body_model):
    return make_items(body_model)


def read(items, document, answered=()):
    return items.read(ItemIn.model_validate(document), answered=answered, path="item[0]")


def body_item(**values):
    parts = [
        {"linkId": f"body/{name}", "answer": [{"valueDecimal": value}]} for name, value in values.items()
    ]
    return {"linkId": "body", "item": parts}


def selected(items, *codes):
    system = items._option_system(items.schema.question("tools"))
    answers = [{"valueCoding": {"system": system, "code": code}} for code in codes]
    return {"linkId": "tools", "answer": answers}


def test_an_item_has_the_name_and_text_of_its_question(make_items):
    items = make_items(questions={"pain": "How strong is it? (At its worst.)"}, help={"pain": "Guess."})
    item = items.build(items.schema.question("pain"))
    assert (item["linkId"], item["text"], item["required"]) == ("pain", "How strong is it?", True)
    [note] = item["item"]
    assert (note["linkId"], note["type"]) == ("pain/help", "display")
    assert note["text"] == "At its worst. Guess."


def test_a_question_that_reveals_the_target_is_no_item(make_items):
    assert "stage" not in make_items().by_link_id


def test_an_unknown_item_is_refused_with_a_suggestion(make_items):
    with pytest.raises(ResourceError, match=r"no question 'pian'. Did you mean 'pain'\?"):
        read(make_items(), {"linkId": "pian"})


def test_a_question_about_several_variables_is_a_group(body_items):
    item = body_items.build(body_items.schema.question("body"))
    assert item["type"] == "group"
    assert [part["linkId"] for part in item["item"]] == ["body/age", "body/weight"]
    assert read(body_items, body_item(age=61, weight=80))[1] == {"age": 61.0, "weight": 80.0}


def test_variables_that_were_answered_before_are_left_out(body_items):
    item = body_items.build(body_items.schema.question("body"), answered={"age"})
    assert [part["linkId"] for part in item["item"]] == ["body/weight"]
    assert read(body_items, body_item(weight=80), answered={"age"})[1] == {"weight": 80.0}


def test_every_part_of_a_group_needs_an_answer(body_items):
    with pytest.raises(ResourceError, match="'body/age' has no answer"):
        read(body_items, body_item(weight=80))


def test_a_part_of_a_group_can_be_unknown(body_items):
    item = body_item(weight=80)
    item["item"].append(decline_item({"linkId": "body/age"}, "asked-unknown"))
    assert read(body_items, item)[1] == {"age": UNKNOWN, "weight": 80.0}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answer": [{"valueInteger": 1}]}, "is a group"),
        ({"item": [{"linkId": "age"}]}, "'age' is not expected"),
        ({"item": body_item(age=1)["item"] * 2}, "at most once"),
        ({"item": [{"linkId": "body/age", "item": [{"linkId": "x"}]}]}, "has no items"),
    ],
)
def test_a_group_of_another_shape_is_refused(body_items, change, message):
    with pytest.raises(ResourceError, match=message):
        read(body_items, {**body_item(age=61, weight=80), **change})


def test_a_multi_select_question_is_a_choice_that_repeats(tools_items):
    item = tools_items.build(tools_items.schema.question("tools"))
    assert (item["type"], item["repeats"]) == ("choice", True)
    codes = [option["valueCoding"]["code"] for option in item["answerOption"]]
    assert codes == ["Excel", "R", "Stata", "none", "asked-unknown", "asked-declined"]


def test_the_selected_options_are_read(tools_items):
    _, values = read(tools_items, selected(tools_items, "R", "Excel"))
    levels = [tools_items.schema[name].levels.index(value) for name, value in values.items()]
    assert levels == [1, 1, 0]


def test_no_option_can_be_selected(tools_items):
    _, values = read(tools_items, selected(tools_items, "none"))
    assert all(tools_items.schema[name].levels.index(value) == 0 for name, value in values.items())


def test_a_multi_select_question_can_be_unknown(tools_items):
    assert read(tools_items, decline_item({"linkId": "tools"}, "asked-unknown"))[1] is UNKNOWN


@pytest.mark.parametrize("codes", [("Word",), ("R", "R"), ("R", "none")])
def test_options_that_contradict_each_other_are_refused(tools_items, codes):
    with pytest.raises(ResourceError, match=r"'tools' (takes|needs)"):
        read(tools_items, selected(tools_items, *codes))


def test_link_ids_are_unique_and_not_too_long(make_items, with_schema, people_schema):
    schema = people_schema.with_question("body", reveals=["age", "weight"])
    schema = schema.with_question("body/age", reveals=["town"])
    items = make_items(with_schema(schema.with_question("x" * 300, reveals=["pain"])))
    assert items.link_id("body", "age") == "body/age'"
    assert all(len(link_id) <= 255 for link_id in items.by_link_id)


def test_items_are_built_for_any_question(make_items):
    items = make_items()
    assert isinstance(items, QuestionItems)
    assert items.build(Question("age", ("age",), "How old are you?"))["text"] == "How old are you?"
