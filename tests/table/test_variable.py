"""Variables check their levels and range, and convert answers to numbers and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eddi.errors import AnswerError, OutOfRangeError, SchemaError
from eddi.table.cells.number_format import NumberFormat
from eddi.table.variable import Kind, Variable, level_position

AGE = Variable("age", Kind.REAL, low=18, high=90)
SMOKER = Variable("smoker", Kind.BINARY, ("no", "yes"))
VISITS = Variable("visits", Kind.COUNT)


def test_a_kind_may_be_given_by_name():
    assert Variable("age", "real").kind is Kind.REAL


def test_an_unknown_kind_is_rejected_with_a_list_of_the_kinds():
    with pytest.raises(SchemaError, match="'age' has kind 'rael'; it must be one of real, count"):
        Variable("age", "rael")


def test_levels_may_be_any_sequence():
    assert Variable("a", Kind.BINARY, ["x", "y"]).levels == ("x", "y")


@pytest.mark.parametrize("kind", [Kind.BINARY, Kind.ORDINAL, Kind.CATEGORY])
def test_a_variable_needs_at_least_two_levels(kind):
    with pytest.raises(SchemaError, match=r"needs (exactly|at least) two levels, got \['x'\]"):
        Variable("a", kind, ("x",))


def test_a_binary_variable_cannot_have_a_third_level():
    with pytest.raises(SchemaError, match=r"needs exactly two levels.*Write the 'no' level first"):
        Variable("a", Kind.BINARY, ("x", "y", "z"))


def test_a_level_listed_twice_is_rejected():
    with pytest.raises(SchemaError, match="'a' lists a level twice"):
        Variable("a", Kind.CATEGORY, ("x", "y", "x"))


@pytest.mark.parametrize("kind", [Kind.REAL, Kind.COUNT])
def test_a_quantity_cannot_have_levels(kind):
    with pytest.raises(SchemaError, match=f"'a' is {kind} and cannot have levels"):
        Variable("a", kind, ("x", "y"))


def test_low_above_high_is_rejected():
    with pytest.raises(SchemaError, match=r"'a' has low 5 above high 3. Swap them"):
        Variable("a", Kind.REAL, low=5, high=3)


@pytest.mark.parametrize("raw", [61, 61.0, "61", " 61.0 "])
def test_a_quantity_may_be_a_number_or_text(raw):
    assert AGE.number(raw) == 61.0


@pytest.mark.parametrize("raw", ["old", None, "", "nan", float("inf"), [61]])
def test_a_quantity_that_is_not_a_number_is_rejected(raw):
    with pytest.raises(AnswerError, match=r"'age' must be a number, got .*eddi.UNKNOWN"):
        AGE.number(raw)


def test_a_number_out_of_range_is_rejected_with_the_range():
    with pytest.raises(AnswerError, match=r"'age' should be between 18 and 90, got 7. If the"):
        AGE.number(7)


@pytest.mark.parametrize(
    ("limits", "message"), [({"low": 3}, "at least 3, got 2"), ({"high": 1}, "at most 1, got 2")]
)
def test_a_range_may_be_open(limits, message):
    with pytest.raises(OutOfRangeError, match=f"'x' should be {message}"):
        Variable("x", Kind.REAL, **limits).number(2)


def test_a_number_out_of_range_is_accepted_if_it_is_confirmed():
    assert AGE.number(7, confirm=True) == 7


@pytest.mark.parametrize("raw", [-1, 2.5])
def test_a_count_must_be_whole_and_not_negative(raw):
    with pytest.raises(AnswerError, match=f"'visits' must be a whole number from 0 up, got {raw}"):
        VISITS.number(raw)


@pytest.mark.parametrize("raw", ["yes", " Yes", "YES "])
def test_a_level_matches_without_regard_to_case_and_spaces(raw):
    assert SMOKER.number(raw) == 1.0


def test_an_unknown_level_is_rejected_with_a_list_of_the_levels():
    with pytest.raises(AnswerError, match="'smoker' must be one of no, yes, got 'maybe'"):
        SMOKER.number("maybe")


@pytest.mark.parametrize("raw", [True, 1, 1.0, "1", "1.0", "true"])
def test_true_and_one_are_the_same_level(raw):
    assert level_position((False, True), raw) == 1
    assert level_position((0, 1), raw) == 1


def test_negative_zero_matches_zero():
    assert level_position((0, 1), -0.0) == 0


def test_an_exact_match_of_a_level_takes_precedence():
    assert level_position(("1", "01"), "01") == 1
    assert level_position(("a", "A"), "A") == 1


@pytest.mark.parametrize(
    ("variable", "number", "answer"),
    [(AGE, 61.5, 61.5), (VISITS, 2.2, 2), (SMOKER, 1.0, "yes")],
)
def test_a_number_is_converted_to_an_answer(variable, number, answer):
    assert variable.answer(number) == answer


@given(st.integers(0, 3))
def test_number_inverts_answer(position):
    variable = Variable("a", Kind.ORDINAL, (1, 2.5, "three", "3"))
    assert variable.number(variable.answer(position)) == position


def test_binary_ordinal_and_category_have_levels():
    assert [kind for kind in Kind if kind.has_levels] == ["binary", "ordinal", "category"]


def test_an_answer_is_read_in_the_number_format_of_the_variable():
    pay = Variable("pay", Kind.REAL, low=0, format=NumberFormat.from_example("1.234,5 €"))
    assert [pay.number(raw) for raw in ("1.200,5 €", "1200,5", 1200.5)] == [1200.5] * 3
    with pytest.raises(AnswerError, match="'pay' must be a number, got 'lots'"):
        pay.number("lots")
