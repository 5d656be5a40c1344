"""FHIR Questionnaires: types of items, value sets, units, ranges, conditions and translations."""

import pytest

from eddi.table.codebooks.codebook import Choice, CodebookError, EntryType, Translation
from eddi.table.codebooks.condition import All, AnyOf, Test
from eddi.table.codebooks.read_codebook import read_codebook

FHIR = "http://hl7.org/fhir/StructureDefinition/"
SDC = "http://hl7.org/fhir/uv/sdc/StructureDefinition/"


def make_extension(name, **value):
    return {"url": f"{FHIR}{name}", **value}


def translate(**texts):
    return {
        "extension": [
            make_extension(
                "translation",
                extension=[{"url": "lang", "valueCode": code}, {"url": "content", "valueString": text}],
            )
            for code, text in texts.items()
        ]
    }


@pytest.fixture
def read_items(write_json):
    """A function that reads a questionnaire with these items."""

    def read(*items, **properties):
        return read_codebook(write_json({"resourceType": "Questionnaire", "item": items, **properties}))

    return read


@pytest.fixture
def read_item(read_items):
    """A function that reads a questionnaire with one item, and returns its entry and what was lost."""

    def read(kind, **properties):
        codebook = read_items({"linkId": "x", "type": kind, "text": "X", **properties})
        return codebook.entries[0], [loss.reason for loss in codebook.losses]

    return read


def test_a_boolean_is_a_choice(read_item):
    entry, _ = read_item("boolean")
    assert entry.choices == (Choice("false", "No"), Choice("true", "Yes"))


@pytest.mark.parametrize(
    ("options", "choices"),
    [
        ([{"valueCoding": {"code": "a", "display": "A"}}], [("a", "A")]),
        ([{"valueString": "a"}, {"valueInteger": 3}], [("a", "a"), ("3", "3")]),
        ([{"valueCoding": {"display": "A"}}], [("A", "A")]),
    ],
)
def test_answer_options_are_choices(read_item, options, choices):
    entry, _ = read_item("choice", answerOption=options)
    assert entry.choices == tuple(Choice(*choice) for choice in choices)


def test_a_choice_that_repeats_takes_several_answers(read_item):
    entry, _ = read_item(
        "choice", repeats=True, answerOption=[{"valueString": "a"}, {"valueString": "b"}]
    )
    assert entry.type is EntryType.CHOICES


def test_options_with_scores_are_ordered(read_item):
    options = [
        {"valueCoding": {"code": code, "extension": [make_extension("ordinalValue", valueDecimal=n)]}}
        for n, code in enumerate("abc")
    ]
    assert read_item("choice", answerOption=options)[0].is_ordered


def test_a_value_set_inside_the_questionnaire_gives_the_choices(read_items):
    values = {
        "resourceType": "ValueSet",
        "id": "v",
        "compose": {
            "include": [{"concept": [{"code": "a", "display": "A"}, {"code": "b", "display": "B"}]}]
        },
    }
    codebook = read_items({"linkId": "x", "type": "choice", "answerValueSet": "#v"}, contained=[values])
    assert codebook.entries[0].choices == (Choice("a", "A"), Choice("b", "B"))


def test_a_value_set_elsewhere_is_listed(read_item):
    entry, losses = read_item("choice", answerValueSet="http://example.org/vs")
    assert entry.type is EntryType.TEXT
    assert "'http://example.org/vs' is not part of the file" in losses[0]


@pytest.mark.parametrize(
    ("kind", "entry_type"),
    [("integer", EntryType.INTEGER), ("decimal", EntryType.DECIMAL), ("quantity", EntryType.DECIMAL)],
)
def test_a_number_has_a_range_and_a_unit(read_item, kind, entry_type):
    extensions = [
        make_extension("minValue", valueInteger=18),
        make_extension("maxValue", valueDecimal=90.5),
        make_extension("questionnaire-unit", valueCoding={"code": "a", "display": "years"}),
    ]
    entry, _ = read_item(kind, extension=extensions)
    assert (entry.type, entry.low, entry.high, entry.unit) == (entry_type, 18, 90.5, "years")


@pytest.mark.parametrize(
    ("kind", "reason"),
    [("display", "without an answer"), ("date", "dates"), ("attachment", "file"), ("odd", "'odd'")],
)
def test_other_items_are_not_modelled(read_item, kind, reason):
    assert reason in read_item(kind)[0].reason


def test_a_calculated_item_is_not_modelled(read_item):
    extension = {"url": f"{SDC}sdc-questionnaire-calculatedExpression", "valueExpression": {}}
    assert "calculated" in read_item("decimal", extension=[extension])[0].reason


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ({"operator": "=", "answerCoding": {"code": "a"}}, Test("q", "=", "a")),
        ({"operator": "!=", "answerString": "b"}, Test("q", "!=", "b")),
        ({"operator": ">", "answerInteger": 3}, Test("q", ">", "3")),
        ({"operator": "<=", "answerQuantity": {"value": 2.5}}, Test("q", "<=", "2.5")),
        ({"operator": "=", "answerBoolean": True}, Test("q", "=", "true")),
        ({"operator": "exists", "answerBoolean": True}, Test("q", "!=", "")),
        ({"operator": "exists", "answerBoolean": False}, Test("q", "=", "")),
    ],
)
def test_a_condition_is_read(read_item, test, expected):
    entry, _ = read_item("integer", enableWhen=[{"question": "q", **test}])
    assert entry.condition == expected


def test_conditions_hold_together_or_one_of_them(read_item):
    tests = [{"question": name, "operator": "=", "answerInteger": 1} for name in "ab"]
    parts = (Test("a", "=", "1"), Test("b", "=", "1"))
    assert read_item("integer", enableWhen=tests)[0].condition == All(parts)
    entry, _ = read_item("integer", enableWhen=tests, enableBehavior="any")
    assert entry.condition == AnyOf(parts)


def test_items_of_a_group_have_its_section_and_its_condition(read_items):
    test = {"question": "q", "operator": "=", "answerBoolean": True}
    item = {"linkId": "x", "type": "integer"}
    group = {"linkId": "g", "type": "group", "text": "Lab", "enableWhen": [test], "item": [item]}
    (entry,) = read_items(group).entries
    assert (entry.section, entry.condition) == ("Lab", Test("q", "=", "true"))


def test_texts_and_labels_are_translated(read_item):
    coding = {"code": "a", "display": "Never", "_display": translate(de="Nie")}
    entry, _ = read_item(
        "choice", _text=translate(de="Wie oft?", fr="Combien ?"), answerOption=[{"valueCoding": coding}]
    )
    assert entry.translations == {"de": Translation("Wie oft?"), "fr": Translation("Combien ?")}
    assert entry.choices[0].translations == {"de": "Nie"}


def test_a_text_below_an_item_is_its_help(read_item):
    entry, _ = read_item(
        "integer", item=[{"linkId": "x.h", "type": "display", "text": "In full years."}]
    )
    assert entry.help == "In full years."


@pytest.mark.parametrize(
    ("properties", "loss"),
    [
        ({"required": True}, "required items"),
        ({"initial": [{"valueInteger": 3}]}, "initial answers"),
        ({"prefix": "1."}, "prefixes"),
    ],
)
def test_what_has_no_equivalent_is_listed(read_item, properties, loss):
    _, losses = read_item("integer", **properties)
    assert any(loss in text for text in losses), losses


def test_an_open_choice_loses_the_answers_in_one_s_own_words(read_item):
    _, losses = read_item("open-choice", answerOption=[{"valueString": "a"}, {"valueString": "b"}])
    assert losses == ["answers in one's own words are not modelled"]


def test_items_that_are_nested_too_deeply_are_an_error(read_items):
    item = {"linkId": "x", "type": "integer"}
    for n in range(60):
        item = {"linkId": f"g{n}", "type": "group", "item": [item]}
    with pytest.raises(CodebookError, match="nested more than 50 times"):
        read_items(item)


def test_a_questionnaire_without_items_is_an_error(read_items):
    with pytest.raises(CodebookError, match="describes no variables"):
        read_items()
