"""The grid shows what the schema says; what is typed into it is understood, or refused in words."""

from dataclasses import replace

import pytest

from eddi.service.analyst import schema_drafts
from eddi.service.analyst.schema_drafts import DraftError


@pytest.fixture
def rows(workshop, kept):
    return workshop.tables.rows(kept.seal)


@pytest.fixture
def correct(kept, rows):
    """The schema after typing into the grid: `correct(role_age="always")`."""

    def typed(**said):
        grid = schema_drafts.lines(kept)
        places = {line.name: line.place for line in grid}
        form = {f"{what}-{places[name]}": text for (what, name), text in _pairs(said)}
        return schema_drafts.understood(kept, schema_drafts.typed(grid, form), rows)

    return typed


def _pairs(said):
    return ((key.split("_", 1), text) for key, text in said.items())


def faults(correct, **said):
    with pytest.raises(DraftError) as error:
        correct(**said)
    return {what: words for (_, what), words in error.value.faults.items()}


def test_a_grid_left_alone_is_the_same_schema(kept, rows):
    assert schema_drafts.understood(kept, schema_drafts.lines(kept), rows) == kept.schema


def test_a_rich_schema_comes_back_from_its_grid(kept, rows):
    schema = kept.schema.with_question("body", reveals=["weight", "visits"], text="Body?", cost=2.5)
    schema = schema.with_question("age", text="How old?", always=True)
    schema = schema.with_question("pain", requires={"smoker": ("yes",)}).with_question("town")
    rich = replace(kept, schema=schema)
    back = schema_drafts.understood(rich, schema_drafts.lines(rich), rows)
    assert {one.name: one for one in back.questions} == {one.name: one for one in schema.questions}
    assert (back.variables, back.targets, back.set_aside) == (
        schema.variables,
        schema.targets,
        schema.set_aside,
    )


def test_roles_say_what_is_asked_and_what_is_left_out(correct):
    schema = correct(role_age="always", role_town="never", role_colour="out", role_stage="ask")
    assert schema.question("age").always
    assert schema.question("town").never
    assert "colour" not in schema.names
    assert [one.reason for one in schema.set_aside if one.name == "colour"] == ["left out by hand"]
    assert schema.targets == ()
    assert correct(role_weight="target").targets == ("weight", "stage")


def test_kinds_levels_and_ranges_are_corrected(correct):
    schema = correct(
        kind_pain="ordinal",
        levels_pain="none\nmild\nstrong\nworst",
        low_age="18",
        high_age="120,5",
        unit_age="years",
    )
    assert schema["pain"].kind == "ordinal"
    assert schema["pain"].levels == ("none", "mild", "strong", "worst")
    assert (schema["age"].low, schema["age"].high, schema["age"].unit) == (18, 120.5, "years")


def test_levels_that_are_not_given_are_read_off_the_table(correct):
    schema = correct(role_visits="ask", kind_visits="ordinal", levels_visits="")
    assert schema["visits"].levels == tuple(sorted(schema["visits"].levels))
    assert all(isinstance(level, int) for level in schema["visits"].levels)


def test_a_column_that_was_left_out_can_be_modelled_after_all(correct):
    words = faults(correct, role_name="ask")
    assert words["kind"].startswith("'name' needs a kind: one of real, count")
    words = faults(correct, role_name="ask", kind_name="category")
    assert "120 different values, too many to be levels" in words["levels"]


def test_columns_of_one_question_are_revealed_together(correct):
    schema = correct(
        question_age="body", question_weight="body", cost_weight="40", text_age="What about your body?"
    )
    body = schema.question("body")
    assert (body.reveals, body.cost, body.text) == (("age", "weight"), 40, "What about your body?")


@pytest.mark.parametrize(
    ("said", "what", "words"),
    [
        ({"low_age": "old"}, "low", "low of 'age' must be a number, got 'old'"),
        ({"cost_age": "nan"}, "cost", "cost of 'age' must be a number, got 'nan'"),
        ({"cost_age": "-1"}, "cost", "a cost is a number above 0"),
        ({"low_age": "9", "high_age": "1"}, "kind", "has low 9 above high 1"),
        ({"kind_town": "real"}, "kind", "'town'"),
        ({"levels_smoker": "no\nyes\nmaybe"}, "levels", "is binary and needs exactly two levels"),
        ({"levels_town": "Aber\nBala"}, "levels", "Conwy"),
        ({"requires_age": "often"}, "requires", "'often' is no prerequisite"),
        ({"requires_age": "mood = good"}, "requires", "is no prerequisite"),
        ({"requires_age": "smoker = maybe"}, "", "which is not one of its levels"),
        ({"question_age": "stage"}, "question", "'stage' is what interviews find out"),
        ({"role_age": "never", "question_age": "body", "question_weight": "body"}, "question", "never"),
        (
            {"question_age": "b", "question_weight": "b", "cost_age": "1", "cost_weight": "2"},
            "cost",
            "the question 'b' is given the cost '1' and '2'. Leave one of them.",
        ),
    ],
)
def test_what_cannot_be_is_told_at_its_box(correct, said, what, words):
    assert words in faults(correct, **said)[what]


def test_prerequisites_are_several_levels_of_several_variables(correct):
    schema = correct(requires_age="smoker = yes; town = Aber, Bala")
    assert schema.question("age").requires == {"smoker": ("yes",), "town": ("Aber", "Bala")}


def test_what_is_said_of_a_question_is_said_once(kept, rows):
    schema = kept.schema.with_question("body", reveals=["weight", "visits"], text="Body?", cost=2.5)
    grouped = replace(kept, schema=schema)
    said = {line.name: (line.question, line.text, line.cost) for line in schema_drafts.lines(grouped)}
    assert said["weight"] == ("body", "Body?", "2.5")
    assert said["visits"] == ("body", "", "")
    place = next(line.place for line in schema_drafts.lines(grouped) if line.name == "weight")
    typed = schema_drafts.typed(schema_drafts.lines(grouped), {f"cost-{place}": "3"})
    assert schema_drafts.understood(grouped, typed, rows).question("body").cost == 3
