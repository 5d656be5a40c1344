"""Conditions of REDCap and XLSForm are parsed, never evaluated."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eddi.table.codebooks.condition import All, AnyOf, Constant, Opaque, Test
from eddi.table.codebooks.expression import ExpressionError, parse_redcap, parse_xpath

A, B, C = Test("a", "=", "1"), Test("b", "=", "2"), Test("c", ">", "3")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[a] = '1'", A),
        ('[a]="1"', A),
        ("[a] = 1", A),
        ("[A] = 1", A),
        ("'1' = [a]", A),
        ("([a]) = ('1')", A),
        ("3 < [c]", C),
        ("[a] = \u20181\u2019", A),
        ("[a]='1' and [b]='2'", All((A, B))),
        ("[a]='1' AND [b]='2' or [c] > 3", AnyOf((All((A, B)), C))),
        ("[a]='1' and ([b]='2' or [c]>3)", All((A, AnyOf((B, C))))),
        ("[a] <> ''", Test("a", "!=", "")),
        ('[a] != ""', Test("a", "!=", "")),
        ("[a(2)] = '1'", Test("a", "=", "1", "2")),
        ("[a(-9)] = 1", Test("a", "=", "1", "-9")),
        ("[a] > -5", Test("a", ">", "-5")),
        ("not([a] = '1')", Test("a", "!=", "1")),
        ("not([a]='1' and [b]='2')", AnyOf((Test("a", "!=", "1"), Test("b", "!=", "2")))),
        ("[a] = '1'\n\tand\n[b] = '2'", All((A, B))),
        ("1 = 1", Constant(True)),
        ("[a]", Test("a", "!=", "")),
    ],
)
def test_branching_logic_is_parsed(text, expected):
    assert parse_redcap(text) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[visit_1_arm_1][a] = '1'", "another event"),
        ("[user-role] = 'x'", "smart variable"),
        ("[a] + [b] > 3", "arithmetic"),
        ("([a] * 2) > 3", "arithmetic"),
        ("[a] = [b]", "compares two answers"),
        ("datediff([a], 'today', 'y') > 18", r"datediff\(\)"),
        ("sum([a], [b], 3) >= 2", r"sum\(\)"),
        ("contains([a], 'x')", r"contains\(\)"),
    ],
)
def test_what_a_schema_cannot_represent_is_kept_as_text(text, reason):
    condition = parse_redcap(text)
    assert isinstance(condition, Opaque)
    assert condition.text == text
    assert re.search(reason, condition.reason)


def test_a_part_that_cannot_be_represented_leaves_the_other_parts():
    condition = parse_redcap("[a] = '1' and round([b]) = 2")
    assert condition == All(
        (A, Opaque("round([b]) = 2", "it uses round(), which a schema does not have"))
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("${a} = '1'", A),
        ("${a}='1' and ${b}='2'", All((A, B))),
        ("../a = '1'", A),
        ("/data/group/a = '1'", A),
        ("selected(${a}, 'x')", Test("a", "=", "1", "x")),
        ("not(selected(${a}, 'x'))", Test("a", "!=", "1", "x")),
        ("selected (${a}, 'x') = true()", Test("a", "=", "1", "x")),
        ("${a} != ''", Test("a", "!=", "")),
        ("string-length(${a}) > 0", Test("a", "!=", "")),
        ("count-selected(${a}) = 0", Test("a", "=", "")),
        ("${a} >= 18 and ${a} <= 65", All((Test("a", ">=", "18"), Test("a", "<=", "65")))),
        ("true()", Constant(True)),
        ("int(${a}) > 3", Test("a", ">", "3")),
    ],
)
def test_an_xpath_expression_is_parsed(text, expected):
    assert parse_xpath(text) == expected


def test_a_dot_is_the_answer_itself():
    assert parse_xpath(". > 10.5 and . < 18", current="x") == All(
        (Test("x", ">", "10.5"), Test("x", "<", "18"))
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[a] =", "ends too early"),
        ("[a] = '1' [b]", "not expected"),
        ("([a] = '1'", "missing"),
        ("[a] = '1", "is not part of a condition"),
        ("(" * 60 + "[a]" + ")" * 60, "nested"),
        ("[a] = '1' and " * 2000 + "[a] = '1'", "characters"),
    ],
)
def test_a_text_that_is_not_a_condition_is_an_error(text, message):
    with pytest.raises(ExpressionError, match=message):
        parse_redcap(text)


PARTS = st.sampled_from(
    [
        *(
            "[a]",
            "[b(1)]",
            "[e][a]",
            "${a}",
            ".",
            "..",
            "/",
            "'x'",
            '"',
            "'",
            "1",
            "-",
            ".5",
            "=",
            "<>",
            "<=",
        ),
        *(
            "and",
            "or",
            "not",
            "(",
            ")",
            ",",
            "selected",
            "if",
            "+",
            "*",
            "div",
            " ",
            "\u2019",
            "\x00",
            "[",
            "]",
        ),
    ]
)


@settings(max_examples=80, deadline=None)
@given(st.lists(PARTS, max_size=20).map(" ".join) | st.text(max_size=60), st.booleans())
def test_any_text_is_a_condition_or_the_declared_error(text, is_redcap):
    try:
        condition = parse_redcap(text) if is_redcap else parse_xpath(text)
    except ExpressionError:
        return
    assert isinstance(condition, All | AnyOf | Constant | Opaque | Test)
    assert str(condition)
