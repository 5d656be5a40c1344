"""Schemas round-trip through TOML without loss; mistakes in a file get clear messages."""

import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eddi.errors import SchemaError
from eddi.table import schema_file
from eddi.table.cells.multi_select import OptionSource
from eddi.table.cells.number_format import NumberFormat
from eddi.table.languages.translations import QuestionTexts, VariableTexts
from eddi.table.question import Question
from eddi.table.schema import Note, Schema, SetAside
from eddi.table.variable import Kind, Variable

PEOPLE = Schema(
    variables=(
        Variable("age", Kind.REAL, low=18, high=90, unit="years"),
        Variable("smoker", Kind.BINARY, ("no", "yes")),
        Variable("ldl", Kind.REAL),
        Variable("hdl", Kind.REAL, low=0.1),
        Variable("visits", Kind.COUNT, low=0),
    ),
    explicit_questions=(
        Question("blood panel", ("ldl", "hdl"), "May we take blood?", 40),
        Question("age", ("age",), "How old are you?", 2),
    ),
    targets=("smoker",),
    set_aside=(
        SetAside("patient_id", "every value is different", "identifier"),
        SetAside("comment", "free text: 412 different values"),
    ),
)


def test_a_schema_file_has_one_line_per_variable():
    assert schema_file.write(PEOPLE) == (
        """\
# What EDDI knows about this table. Edit freely; `eddi fit --schema this.toml` reads it.
targets = ["smoker"]

# Kinds: real, count, binary (its 'no' first), ordinal (in order), category.
[variables]
age = { kind = "real", low = 18, high = 90, unit = "years" }
smoker = { kind = "binary", levels = ["no", "yes"] }
ldl = { kind = "real" }
hdl = { kind = "real", low = 0.1 }
visits = { kind = "count", low = 0 }

# What is asked at once, what it costs, how it is worded.
[questions]
"blood panel" = { reveals = ["ldl", "hdl"], cost = 40, text = "May we take blood?" }
age = { cost = 2, text = "How old are you?" }

# Columns that name a row, and how we know. Never modelled.
[identifiers]
patient_id = "every value is different"

# Columns left out, and why. To model one, move it to [variables] with a kind.
[ignored]
comment = "free text: 412 different values"
"""
    )


def test_a_string_with_line_breaks_is_read_as_toml():
    assert schema_file.read(schema_file.write(PEOPLE)) == PEOPLE


def test_a_file_is_written_and_read(tmp_path):
    text = schema_file.write(PEOPLE, tmp_path / "people.toml")
    assert (tmp_path / "people.toml").read_text(encoding="utf-8") == text
    assert schema_file.read(str(tmp_path / "people.toml")) == PEOPLE


def test_the_schema_class_reads_and_writes_itself(tmp_path):
    PEOPLE.to_toml(tmp_path / "people.toml")
    assert Schema.from_toml(tmp_path / "people.toml") == PEOPLE


def test_a_question_named_after_a_variable_reveals_it():
    text = '[variables]\nage = { kind = "real" }\n[questions]\nage = { cost = 3 }\n'
    assert schema_file.read(text).questions == (Question("age", ("age",), "age", 3.0),)


def test_all_sections_except_variables_are_optional():
    assert schema_file.read('[variables]\nage = { kind = "real" }\n').names == ("age",)


@pytest.mark.parametrize("level", [True, 1, 1.0, "1", "true"])
def test_levels_keep_their_types(level):
    schema = Schema((Variable("v", Kind.CATEGORY, ("other", level)),))
    restored = schema_file.read(schema_file.write(schema)).variables[0].levels[1]
    assert (restored, type(restored)) == (level, type(level))


def test_numpy_levels_become_python_values():
    levels = (np.int64(3), np.float64(0.5), np.bool_(True), np.str_("x"))
    schema = Schema((Variable("v", Kind.CATEGORY, levels),))
    assert 'levels = [3, 0.5, true, "x"]' in schema_file.write(schema)


names = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
numbers = st.floats(allow_nan=False, allow_infinity=False)
FORMATS = ("$1,234.56", "1.234,5 €", "1234%", "5'11\"", "1234.5 °C", "1 234")
levels = st.lists(st.booleans() | st.integers() | numbers | names, min_size=2, max_size=4, unique_by=str)


languages = st.sampled_from(["de", "pt-BR", "zh-Hans"])
question_texts = st.dictionaries(languages, st.builds(QuestionTexts, names, names))


@st.composite
def variables(draw, name):
    kind = draw(
        st.sampled_from([kind for kind in Kind if kind is not Kind.SURVIVAL])
    )  # see test_in_schema
    if kind.has_levels:
        chosen = draw(levels)
        return Variable(name, kind, tuple(chosen[:2] if kind is Kind.BINARY else chosen))
    bounds = sorted(draw(st.tuples(numbers, numbers)))
    low, high = (draw(st.none() | st.just(bound)) for bound in bounds)
    codes = draw(st.lists(st.integers() | names, max_size=3, unique_by=str))
    number_format = draw(st.none() | st.sampled_from(FORMATS).map(NumberFormat.from_example))
    return Variable(
        name,
        kind,
        low=low,
        high=high,
        unit=draw(names),
        format=number_format,
        missing=tuple(codes[:2]),
        declined=tuple(codes[2:]),
        help=draw(names),
        translations=draw(st.dictionaries(languages, st.builds(VariableTexts, names, help=names))),
    )


@st.composite
def schemas(draw):
    columns = draw(st.lists(names, max_size=6, unique=True))
    n_modelled = draw(st.integers(0, len(columns)))
    modelled = tuple(draw(variables(name)) for name in columns[:n_modelled])
    roles = st.sampled_from(["identifier", "ignored"])
    set_aside = tuple(SetAside(name, draw(names), draw(roles)) for name in columns[n_modelled:])
    targets = draw(st.lists(st.sampled_from(columns[:n_modelled]), unique=True)) if modelled else []
    questions = []
    if modelled:
        namesake, cost = columns[0], st.floats(1e-300, 1e300)
        questions.append(Question(namesake, (namesake,), draw(names), draw(cost)))
        revealed = draw(st.lists(st.sampled_from(columns[:n_modelled]), min_size=1, unique=True))
        name = draw(names.filter(lambda name: name not in columns))
        question = Question(name, tuple(revealed), draw(names), draw(cost), help=draw(names))
        questions.append(replace(question, translations=draw(question_texts)))
    language = draw(st.sampled_from(["", "en"]))
    return Schema(modelled, tuple(questions), tuple(targets), set_aside, language=language)


CODED = Schema(
    variables=(
        Variable(
            "pay", Kind.REAL, unit="$", format=NumberFormat.from_example("$1,234"), missing=(-99, 0)
        ),
        Variable("tools: R", Kind.BINARY, ("no", "yes"), source=OptionSource("tools", "R", "|")),
    ),
    explicit_questions=(Question("tools", ("tools: R",)),),
    missing=(-99,),
    declined=("refused",),
)


def test_formats_codes_and_options_have_keys_of_their_own():
    text = schema_file.write(CODED)
    assert 'missing = [-99]\ndeclined = ["refused"]\n' in text
    assert 'pay = { kind = "real", unit = "$", format = "$1,234", missing = [0] }' in text
    assert 'column = "tools", option = "R", separator = "|" }' in text
    assert schema_file.read(text) == CODED


def test_codes_of_the_table_apply_to_every_variable():
    restored = schema_file.read(schema_file.write(CODED))
    assert restored["pay"].missing == (0, -99)
    assert [variable.declined for variable in restored.variables] == [("refused",), ("refused",)]


def test_notes_are_comments_next_to_their_lines():
    note = Note("stage", "may be codes. If so, use:", Variable("stage", Kind.CATEGORY, (1, 2, 3)))
    schema = Schema((Variable("stage", Kind.ORDINAL, (1, 2, 3)),), notes=(note,))
    lines = schema_file.write(schema).splitlines()
    assert "# Check these guesses; the comments below say what to change: 'stage'." in lines
    position = lines.index("# Check stage: may be codes. If so, use:")
    assert lines[position + 1 : position + 3] == [
        '#   stage = { kind = "category", levels = [1, 2, 3] }',
        'stage = { kind = "ordinal", levels = [1, 2, 3] }',
    ]
    assert schema_file.read(schema_file.write(schema)) == schema


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ('{ kind = "real", format = "lots" }', "the format 'lots' is not an example of a number"),
        ('{ kind = "binary", levels = [0, 9], missing = [9] }', "9 both as a level and as a code"),
        ('{ kind = "binary", levels = [0, 1], option = "R" }', "must have both a column and an option"),
        ('{ kind = "binary", levels = [0, 1], format = "1,234" }', "cannot have a number format"),
    ],
)
def test_a_mistake_in_formats_codes_or_options_is_explained(entry, message):
    with pytest.raises(SchemaError, match=message):
        schema_file.read(f"[variables]\nx = {entry}\n")


def exact_levels(schema):
    """Return the levels in a form that distinguishes 1 from 1.0 and 0.0 from -0.0."""
    return [(v.name, [(type(level), repr(level)) for level in v.levels]) for v in schema.variables]


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(schemas())
def test_every_schema_is_read_back_exactly(schema):
    restored = schema_file.read(schema_file.write(schema))
    assert restored == schema
    assert exact_levels(restored) == exact_levels(schema)


@given(schemas())
def test_writing_a_schema_that_was_read_gives_the_same_text(schema):
    text = schema_file.write(schema)
    assert schema_file.write(schema_file.read(text)) == text


def test_negative_zero_keeps_its_sign():
    schema = Schema((Variable("v", Kind.REAL, low=-0.0),))
    assert "low = -0.0" in schema_file.write(schema)


def test_an_unbounded_range_may_be_written_as_infinite():
    schema = Schema((Variable("v", Kind.REAL, low=float("-inf"), high=float("inf")),))
    assert schema_file.read(schema_file.write(schema)) == schema


def test_five_thousand_variables_take_less_than_five_seconds():
    many = Schema(tuple(Variable(f"v {n}", "category", ("a", "b", "c")) for n in range(5_000)))
    start = time.perf_counter()
    assert schema_file.read(schema_file.write(many)) == many
    assert time.perf_counter() - start < 5  # 0.4 s on the development machine


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("age = {", r"not valid TOML: .*line 2.*Correct that line"),
        ("age = 5", r"variable 'age' must be a table such as \{ kind = \"real\".*got 5"),
        ("age = {}", "variable 'age' has no kind. Give it one of real, count, binary, ordinal"),
        ('age = { kind = "rael" }', "'age' has kind 'rael'; it must be one of real, count"),
        ("age = { kind = 5 }", "variable 'age': kind must be text in quotes.*got 5"),
        ('age = { kind = "real", hgih = 5 }', "'age' has the unknown key 'hgih'. Keys are: kind"),
        ('age = { kind = "real", low = "5" }', "variable 'age': low must be a number, got '5'"),
        ('age = { kind = "real", low = true }', "low must be a number, got True"),
        ('age = { kind = "binary", levels = "ab" }', r"levels must be a list such as .*got 'ab'"),
        (
            'age = { kind = "binary", levels = [[1], 2] }',
            r"levels: each level must be text, a number, true or false, got \[1\]",
        ),
        ('age = { kind = "binary", levels = [1] }', "'age' is binary and needs exactly two levels"),
        ('age = { kind = "real", low = 2, high = 1 }', "'age' has low 2 above high 1"),
    ],
)
def test_a_mistake_in_a_variable_is_explained(body, message):
    with pytest.raises(SchemaError, match=message):
        schema_file.read(f"[variables]\n{body}\n")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("[questions]\npanel = {}", "question 'panel' has no reveals, and there is no variable"),
        ("[questions]\nage = 5", "question 'age' must be a table such as"),
        ("[questions]\nage = { price = 5 }", "unknown key 'price'. Keys are: reveals, cost, text"),
        ('[questions]\nage = { cost = "5" }', "question 'age': cost must be a number, got '5'"),
        ("[questions]\nage = { cost = 0 }", "question 'age' costs 0; a cost is a number above 0"),
        ("[questions]\nage = { text = 5 }", "question 'age': text must be text in quotes"),
        ('[questions]\np = { reveals = "age" }', r"reveals must be a list of names .*got 'age'"),
        ('[questions]\np = { reveals = ["agee"] }', "reveals 'agee', which is not a variable"),
        ("[ignored]\nnote = 5", "ignored: 'note' must be text in quotes.*got 5"),
        ('[ignored]\nage = "twice"', "the variable name 'age' is used twice"),
        ("[variable]\nage = 5", "the schema has the unknown key 'variable'. Keys are: targets"),
    ],
)
def test_a_mistake_in_another_section_is_explained(body, message):
    with pytest.raises(SchemaError, match=message):
        schema_file.read(f'[variables]\nage = {{ kind = "real" }}\n{body}\n')


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('targets = "age"', r"targets must be a list of names.*got 'age'"),
        ('targets = ["risk"]', "targets contain 'risk', which is not a variable of this schema"),
        ("variables = 5", r"variables must be a section headed \[variables\], got 5"),
    ],
)
def test_a_mistake_at_the_top_level_is_explained(line, message):
    with pytest.raises(SchemaError, match=message):
        schema_file.read(f"{line}\n")


def test_the_message_about_a_file_names_the_file(tmp_path):
    (tmp_path / "people.toml").write_text("[variables]\nage = {}\n")
    with pytest.raises(SchemaError, match=r"people.toml: variable 'age' has no kind"):
        schema_file.read(tmp_path / "people.toml")


def test_a_file_that_does_not_exist_is_rejected_by_name():
    with pytest.raises(SchemaError, match=r"cannot read the schema file 'nowhere.toml'.*No such"):
        schema_file.read("nowhere.toml")


def test_a_file_that_is_not_text_is_rejected(tmp_path):
    (tmp_path / "people.toml").write_bytes(b"\xff\x00\x01")
    with pytest.raises(SchemaError, match=r"is not UTF-8 text. Save it as UTF-8"):
        schema_file.read(tmp_path / "people.toml")


CONDITIONAL = Schema(
    (
        Variable("smoker", Kind.BINARY, ("no", "yes")),
        Variable("grade", Kind.ORDINAL, (1, 2, 3)),
        Variable("packs a day", Kind.REAL),
        Variable("ill", Kind.BINARY, (False, True)),
    ),
    (
        Question("smoker", ("smoker",), always=True),
        Question(
            "packs a day", ("packs a day",), requires={"smoker": "yes", "grade": (2, 3), "ill": True}
        ),
    ),
)


def test_mandatory_and_conditional_questions_round_trip_through_toml_and_json():
    text = schema_file.write(CONDITIONAL)
    assert "smoker = { always = true }" in text
    requires = '{ smoker = ["yes"], grade = [2, 3], ill = [true] }'
    assert f'"packs a day" = {{ requires = {requires} }}' in text
    assert schema_file.read(text) == CONDITIONAL
    assert Schema.from_document(CONDITIONAL.to_document()) == CONDITIONAL


def test_a_single_required_level_needs_no_brackets():
    text = schema_file.write(CONDITIONAL).replace('["yes"]', '"yes"').replace("[true]", "true")
    assert schema_file.read(text) == CONDITIONAL


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ('always = "yes"', "question 'age': always must be true or false, got 'yes'"),
        ('requires = "smoker"', "question 'age': requires: 'smoker' is not a condition"),
        ("requires = 3", "question 'age': requires must be a text such as \"years > 3\", a table such"),
        ('requires = "smoker > yes, no"', "'yes, no' is not one of its levels"),
        ('requires = "pipe was answered"', "question 'age' requires 'pipe', which is not a variable"),
        (
            "requires = { smoker = { a = 1 } }",
            "requires: 'smoker': each level must be text, a number, true or",
        ),
        ('requires = { smoker = "often" }', "'smoker' to be 'often', which is not one of its levels"),
        ('requires = { pipe = "yes" }', "question 'age' requires 'pipe', which is not a variable"),
        ('requires = { age = "yes" }', "'age' requires 'age', which it itself reveals"),
    ],
)
def test_a_mistake_in_always_or_requires_is_explained(entry, message):
    text = f"""
[variables]
age = {{ kind = "real" }}
smoker = {{ kind = "binary", levels = ["no", "yes"] }}
[questions]
age = {{ {entry} }}
"""
    with pytest.raises(SchemaError, match=message):
        schema_file.read(text)


def test_a_question_that_is_never_asked_round_trips_through_toml():
    questions = (Question("age", ("age",), never=True),)
    schema = Schema((Variable("age", "real"),), questions)
    assert "age = { never = true }" in schema.to_toml()
    assert Schema.from_toml(schema.to_toml()) == schema


def test_comparisons_are_written_and_read():
    schema = Schema(
        (Variable("years", "real"), Variable("smoker", "binary", ("no", "yes")), Variable("x", "real"))
    )
    schema = schema.with_question("x", requires=["years > 3", "years <= 9.5", "smoker = yes"])
    text = schema_file.write(schema)
    assert 'x = { requires = ["years > 3", "years <= 9.5", { smoker = ["yes"] }] }' in text
    assert schema_file.read(text) == schema
    short = text.replace('["years > 3", "years <= 9.5", { smoker = ["yes"] }]', '"years > 3"')
    assert schema_file.read(short) == schema.with_question("x", requires="years > 3")


def test_the_stopping_rule_is_written_and_read():
    schema = Schema((Variable("age", "real"),), stop={"after": 5, "sd_below": 0.25})
    text = schema_file.write(schema)
    assert "[stop]\nafter = 5\nsd_below = 0.25\n" in text
    assert schema_file.read(text) == schema
    with pytest.raises(SchemaError, match="stop: after must be a number, got 'soon'"):
        schema_file.read('[variables]\nage = { kind = "real" }\n[stop]\nafter = "soon"\n')


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_file_with_a_byte_order_mark_is_read(tmp_path, encoding):
    """Notepad writes the first, and `>` of Windows PowerShell the second."""
    path = tmp_path / "people.toml"
    text = '[variables]\r\n"größe" = { kind = "real", unit = "cm" }\r\n'
    path.write_bytes(text.encode(encoding))
    assert Schema.from_toml(path)["größe"].unit == "cm"


def test_exploration_is_written_and_read():
    schema = Schema((Variable("age", "real"),), exploration={"share": 0.25, "sharpness": 4})
    text = schema_file.write(schema)
    assert "[exploration]\nshare = 0.25\nsharpness = 4\n" in text
    assert schema_file.read(text) == schema
