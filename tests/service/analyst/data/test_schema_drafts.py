"""A draft shows a schema as text fields, and is parsed back into a schema or refused with an error."""

from dataclasses import replace

import pytest

from eddi import Survival
from eddi.service.analyst.data import schema_drafts
from eddi.service.analyst.data.data_warnings import find_warnings
from eddi.service.analyst.data.schema_drafts import DraftError
from eddi.table.beliefs.statements import Belief
from eddi.table.languages.translations import QuestionTexts, VariableTexts
from eddi.table.section import Section
from eddi.table.survival.in_schema import add_survival


@pytest.fixture
def rows(workshop, table):
    return workshop.tables.rows(table.digest)


@pytest.fixture
def correct(table, rows):
    """The schema after filling in fields of the draft: `correct(role_age="always")`."""

    def fill_in(**fields):
        draft = schema_drafts.make_draft(table)
        numbers = {row.name: row.number for row in draft}
        pairs = ((key.split("_", 1), text) for key, text in fields.items())
        form = {f"{field}-{numbers[column]}": text for (field, column), text in pairs}
        return schema_drafts.parse_draft(table, schema_drafts.apply_form(draft, form), rows)

    return fill_in


def errors(correct, **fields):
    with pytest.raises(DraftError) as error:
        correct(**fields)
    return {field: message for (_, field), message in error.value.errors.items()}


def test_what_the_form_does_not_show_stays(table, rows):
    schema = table.schema.with_question("age", section="person").with_question("weight", section="body")
    schema = replace(
        schema,
        sections=(Section("person", minimum=1), Section("body", share=0.5)),
        exclusive=(("visits", "weight"), ("smoker", "pain", "town")),
        exploration={"share": 0.2},
        beliefs=(Belief("age", typical=50, spread=10),),
    )
    changed = replace(table, schema=schema)
    draft = schema_drafts.make_draft(changed)
    assert schema_drafts.parse_draft(changed, draft, rows) == schema
    number = next(row.number for row in draft if row.name == "weight")
    without_weight = schema_drafts.apply_form(draft, {f"role-{number}": "out"})
    parsed = schema_drafts.parse_draft(changed, without_weight, rows)
    assert parsed.sections == (Section("person", minimum=1),)
    assert parsed.exclusive == (("smoker", "pain", "town"),)
    assert (parsed.exploration, parsed.beliefs) == (schema.exploration, schema.beliefs)


def test_an_unchanged_draft_gives_the_same_schema(table, rows):
    draft = schema_drafts.make_draft(table)
    assert schema_drafts.parse_draft(table, draft, rows) == table.schema


def test_a_schema_with_many_questions_survives_the_round_trip(table, rows):
    schema = table.schema.with_question("body", reveals=["weight", "visits"], text="Body?", cost=2.5)
    schema = schema.with_question("age", text="How old?", always=True)
    schema = schema.with_question("pain", requires={"smoker": ("yes",)}).with_question("town")
    rich = replace(table, schema=schema)
    parsed = schema_drafts.parse_draft(rich, schema_drafts.make_draft(rich), rows)
    assert {q.name: q for q in parsed.questions} == {q.name: q for q in schema.questions}
    assert (parsed.variables, parsed.targets, parsed.set_aside) == (
        schema.variables,
        schema.targets,
        schema.set_aside,
    )


def test_texts_in_other_languages_are_kept_while_they_fit(table, rows):
    texts = VariableTexts("Schmerz", ("1", "2", "3", "4"), "Heute.")
    question = {"de": QuestionTexts("Wie stark?")}
    pain = replace(table.schema["pain"], help="Today.", translations={"de": texts})
    schema = table.schema.with_variable(pain).with_question("pain", help="?", translations=question)
    rich = replace(table, schema=replace(schema, language="en"))
    draft = schema_drafts.make_draft(rich)
    assert schema_drafts.parse_draft(rich, draft, rows) == rich.schema
    position = next(row.number for row in draft if row.name == "pain")
    changed = schema_drafts.apply_form(draft, {f"levels-{position}": "worst\nstrong\nmild\nnone"})
    kept = schema_drafts.parse_draft(rich, changed, rows)["pain"].translations["de"]
    assert kept == replace(texts, labels=())


def test_roles_determine_what_is_asked_and_what_is_left_out(correct):
    schema = correct(role_age="always", role_town="never", role_colour="out", role_stage="ask")
    assert schema.question("age").always
    assert schema.question("town").never
    assert "colour" not in schema.names
    assert [column.reason for column in schema.set_aside if column.name == "colour"] == [
        "left out by hand"
    ]
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


def test_levels_that_are_not_given_are_read_from_the_table(correct):
    schema = correct(role_visits="ask", kind_visits="ordinal", levels_visits="")
    assert schema["visits"].levels == tuple(sorted(schema["visits"].levels))
    assert all(isinstance(level, int) for level in schema["visits"].levels)


def test_a_column_that_was_left_out_needs_a_kind_to_be_modelled(correct):
    found = errors(correct, role_name="ask")
    assert found["kind"].startswith("'name' needs a kind: one of real, count")
    found = errors(correct, role_name="ask", kind_name="category")
    assert "120 different values, too many to be levels" in found["levels"]


def test_columns_of_one_question_are_revealed_together(correct):
    schema = correct(
        question_age="body", question_weight="body", cost_weight="40", text_age="What about your body?"
    )
    body = schema.question("body")
    assert (body.reveals, body.cost, body.text) == (("age", "weight"), 40, "What about your body?")


@pytest.mark.parametrize(
    ("fields", "field", "message"),
    [
        ({"low_age": "old"}, "low", "low of 'age' must be a number, got 'old'"),
        ({"cost_age": "nan"}, "cost", "cost of 'age' must be a number, got 'nan'"),
        ({"cost_age": "-1"}, "cost", "a cost is a number above 0"),
        ({"low_age": "9", "high_age": "1"}, "kind", "has low 9 above high 1"),
        ({"kind_town": "real"}, "kind", "'town'"),
        ({"levels_smoker": "no\nyes\nmaybe"}, "levels", "is binary and needs exactly two levels"),
        ({"levels_town": "Aber\nBala"}, "levels", "Conwy"),
        ({"requires_age": "often"}, "requires", "'often' is not a condition"),
        ({"requires_age": "mood = good"}, "requires", "is not a condition"),
        ({"requires_age": "smoker = maybe"}, "", "which is not one of its levels"),
        ({"question_age": "stage"}, "question", "'stage' is a target"),
        ({"role_age": "never", "question_age": "body", "question_weight": "body"}, "question", "never"),
        (
            {"question_age": "b", "question_weight": "b", "cost_age": "1", "cost_weight": "2"},
            "cost",
            "the question 'b' has more than one cost: '1' and '2'. Keep one of them.",
        ),
    ],
)
def test_an_error_is_reported_for_its_field(correct, fields, field, message):
    assert message in errors(correct, **fields)[field]


def test_a_condition_may_name_several_levels_of_several_variables(correct):
    schema = correct(requires_age="smoker = yes; town = Aber, Bala")
    assert schema.question("age").requires == {"smoker": ("yes",), "town": ("Aber", "Bala")}


def test_text_and_cost_of_a_question_appear_once_and_are_changed_there(table, rows):
    schema = table.schema.with_question("body", reveals=["weight", "visits"], text="Body?", cost=2.5)
    grouped = replace(table, schema=schema)
    draft = schema_drafts.make_draft(grouped)
    shown = {row.name: (row.question, row.text, row.cost) for row in draft}
    assert shown["weight"] == ("body", "Body?", "2.5")
    assert shown["visits"] == ("body", "", "")
    number = next(row.number for row in draft if row.name == "weight")
    changed = schema_drafts.apply_form(draft, {f"cost-{number}": "3"})
    assert schema_drafts.parse_draft(grouped, changed, rows).question("body").cost == 3


@pytest.fixture
def messy(workshop, tmp_path):
    """A table with prices, options, and codes for missing values."""
    lines = ["price,tools,sbp"]
    tools = ["Excel", "R; Excel", "R", "Stata; R"]
    lines += [f'"${n},200",{tools[n % 4]},{-99 if n % 5 == 0 else 100 + n}' for n in range(1, 121)]
    path = tmp_path / "messy.csv"
    path.write_text("\n".join(lines))
    return workshop.tables.add("messy.csv", path)


def test_each_option_of_a_column_has_a_row_and_survives_the_round_trip(workshop, messy):
    names = [row.name for row in schema_drafts.make_draft(messy)]
    assert names == ["price", "tools: Excel", "tools: R", "tools: Stata", "sbp"]
    rows = workshop.tables.rows(messy.digest)
    assert schema_drafts.parse_draft(messy, schema_drafts.make_draft(messy), rows) == messy.schema
    assert messy.schema["price"].format.example == "$1,234"


def test_codes_for_missing_values_can_be_entered(workshop, messy):
    draft = schema_drafts.make_draft(messy)
    number = next(row.number for row in draft if row.name == "sbp")
    form = {f"missing-{number}": "-99, unknown", f"declined-{number}": "refused"}
    rows = workshop.tables.rows(messy.digest)
    schema = schema_drafts.parse_draft(messy, schema_drafts.apply_form(draft, form), rows)
    assert (schema["sbp"].missing, schema["sbp"].declined) == ((-99, "unknown"), ("refused",))
    corrected = workshop.tables.correct(messy.key, schema)
    assert schema_drafts.make_draft(corrected)[number - 1].missing == "-99, unknown"


def test_a_check_is_shown_until_the_column_is_changed(workshop, messy):
    rows = workshop.tables.rows(messy.digest)
    (check,) = [warning for warning in find_warnings(messy, rows) if warning.kind == "check"]
    assert check.column == "sbp"
    assert "-99 (24 cells) may mean that the value is missing. If so, use: sbp = {" in check.message
    changed = messy.schema.with_variable(replace(messy.schema["sbp"], missing=(-99,)))
    corrected = workshop.tables.correct(messy.key, changed)
    assert all(warning.kind != "check" for warning in find_warnings(corrected, rows))


def test_numbers_with_a_format_are_described_as_numbers(messy):
    assert (messy.profile("price")["low"], messy.profile("price")["high"]) == (1200, 120_200)


def test_a_survival_variable_is_kept(table, rows):
    survival = {"relapse": Survival("age", "smoker", occurred="yes")}
    other = replace(table, schema=add_survival(table.schema, survival))
    draft = schema_drafts.make_draft(other)
    parsed = schema_drafts.parse_draft(other, draft, rows)
    assert parsed.variables == other.schema.variables
    assert parsed.targets == other.schema.targets
    assert {row.name for row in draft if not row.is_modelled} >= {"age", "smoker"}


def test_a_survival_variable_may_have_the_name_of_a_column(table, rows):
    survival = {"smoker": Survival("age", "smoker", occurred="yes")}
    other = replace(table, schema=add_survival(table.schema, survival))
    draft = schema_drafts.make_draft(other)
    assert next(row.kind for row in draft if row.name == "smoker") == "survival"
    assert schema_drafts.parse_draft(other, draft, rows).variables == other.schema.variables
