"""Inference chooses plausible kinds, levels and ranges, and gives a reason for setting columns aside."""

import datetime
import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eddi.errors import EddiError, TableError, TargetError
from eddi.table import formats
from eddi.table.columns import table_to_numbers
from eddi.table.infer import infer
from eddi.table.kinds.guess import MAX_LEVELS
from eddi.table.schema import Schema
from eddi.table.variable import Kind, Variable

RNG = np.random.default_rng(0)
FILLER = {"other": [0.5, 1.5, 2.5]}  # a column that can always be modelled


def infer_column(values, name="v", **options):
    """Return the Variable or SetAside that is inferred for one column."""
    filler = {"filler": np.arange(len(values)) % 3 + 0.5}
    schema = infer(formats.read({name: values, **filler}), **options)
    set_aside = {column.name: column for column in schema.set_aside}
    return set_aside[name] if name in set_aside else schema[name]


def infer_levels(values, name="v"):
    return list(infer_column(values, name).levels)


@pytest.mark.parametrize(
    ("values", "levels"),
    [
        ([True, False, None], [False, True]),
        (["yes", "no", "?"], ["no", "yes"]),
        (["Y", "N", ""], ["N", "Y"]),
        (["true", "false", "true"], ["false", "true"]),
        (["T", "F", "T"], ["F", "T"]),
        ([1, 0, None], [0, 1]),
        ([1.0, 0.0, np.nan], [0, 1]),
        (["1", "0", "NA"], [0, 1]),
        ([1, 2, 1], [1, 2]),
        ([7.0, 3.5, 7.0], [3.5, 7.0]),
        (["M", "F", "M"], ["F", "M"]),
        (["present", "notpresent", None], ["notpresent", "present"]),
        (["ckd", "notckd", "ckd"], ["notckd", "ckd"]),
        (["normal", "abnormal", "normal"], ["normal", "abnormal"]),
        (["Positive", "Negative", "Positive"], ["Negative", "Positive"]),
        (["good", "poor", "good"], ["poor", "good"]),
        (["high", "low", "low"], ["low", "high"]),
        (["married", "unmarried", "married"], ["unmarried", "married"]),
    ],
)
def test_two_values_are_binary_with_the_no_level_first(values, levels):
    variable = infer_column(values)
    assert variable.kind is Kind.BINARY
    assert list(variable.levels) == levels
    assert [type(level) for level in variable.levels] == [type(level) for level in levels]


def test_a_level_gets_its_most_frequent_spelling():
    assert infer_levels(["Yes", "yes", "Yes", "NO", " yes ", "NO", "no"]) == ["NO", "Yes"]


def test_a_few_whole_numbers_are_ordinal():
    variable = infer_column([3, 1, 2, None, 1, 2, 3, 0])
    assert variable.kind is Kind.ORDINAL
    assert variable.levels == (0, 1, 2, 3)


def test_whole_floats_become_integer_levels():
    assert infer_levels([3.0, 1.0, np.nan, 2.0, 1.0, 2.0]) == [1, 2, 3]


def test_numeric_text_with_missing_markers_is_numeric():
    assert infer_column(["1.5", "?", "2.25", "7"]) == Variable("v", Kind.REAL, low=0, high=9.8)


def test_twelve_whole_numbers_are_ordinal_and_thirteen_are_not():
    assert infer_column(list(range(1, 13)) * 3).kind is Kind.ORDINAL
    assert infer_column(list(range(1, 14)) * 3).kind is not Kind.ORDINAL


def test_a_few_ages_are_not_ordinal():
    assert infer_column([23, 61, 45, 38, 70]) == Variable("v", Kind.REAL, low=0, high=94)


def test_a_measurement_in_steps_of_ten_is_not_ordinal():
    assert infer_column([50, 60, 70, 80, 90, 100, 110, 180] * 5).kind is Kind.REAL


def test_percentages_near_one_hundred_are_not_ordinal():
    assert infer_column([92, 93, 95, 96, 97, 98, 99, 100] * 5).kind is Kind.REAL


def test_a_few_multiples_of_ten_are_ordinal():
    assert infer_levels([70, 80, 90, 100] * 5) == [70, 80, 90, 100]


def test_whole_numbers_near_zero_with_a_long_tail_are_counts():
    variable = infer_column(RNG.negative_binomial(1, 0.2, 500))
    assert variable == Variable("v", Kind.COUNT, low=0.0)


def test_ages_from_zero_are_not_counts():
    assert infer_column(RNG.integers(0, 81, 500)).kind is Kind.REAL


def test_whole_numbers_in_the_hundreds_are_not_counts():
    assert infer_column(RNG.negative_binomial(1, 0.005, 500)).kind is Kind.REAL


def test_negative_whole_numbers_are_not_counts():
    assert infer_column(np.append(RNG.negative_binomial(1, 0.2, 500), -1)).kind is Kind.REAL


def test_the_range_of_a_real_variable_is_widened_by_half_its_width_on_both_sides():
    variable = infer_column([-1.5, 80.25, None, 3.0])
    assert (variable.low, variable.high) == (-43.0, 122.0)


def test_the_range_of_a_variable_without_negative_values_stops_at_zero():
    assert infer_column([20.5, 80.25, None, 33.0]).low == 0.0


@pytest.mark.parametrize(
    "values",
    [
        [1e-300, 2e-300, 3.5e-300],
        [5e-324, 1e-323, 2e-323],
        [1e300, 2e300, 9e305],
        [-1.2e308, 0.5, 1.0],
        [-1.7e308, 0.5, 1.7e308],
        [0.1, 0.3, 0.2],
    ],
)
def test_the_range_includes_the_observed_values_even_if_they_are_extreme(values):
    variable = infer_column(values)
    assert variable.low <= min(values)
    assert variable.high >= max(values)


def test_numeric_codes_for_missing_values_are_not_guessed():
    assert infer_levels([1, 2, 9, 1, 2, 9]) == [1, 2, 9]


def test_an_infinite_value_is_rejected():
    with pytest.raises(TableError, match="'v' holds an infinite value"):
        infer_column([1.5, np.inf, 2.5])


def test_a_few_texts_are_a_category_in_natural_order():
    variable = infer_column(["week 10", "week 2", "arm b", "week 2", "arm b"])
    assert variable.kind is Kind.CATEGORY
    assert variable.levels == ("arm b", "week 2", "week 10")


@pytest.mark.parametrize(
    "scale",
    [
        ["low", "medium", "high"],
        ["never", "rarely", "sometimes", "often", "always"],
        ["poor", "fair", "good", "very good", "excellent"],
        ["none", "mild", "moderate", "severe"],
        ["Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree"],
        ["not at all", "several days", "more than half the days", "nearly every day"],
        ["primary", "secondary", "tertiary"],
        ["S", "M", "L", "XL"],
        ["I", "II", "III", "IV"],
        ["very_low", "low", "very-high"],
        ["<18", "18-24", "25-34", "65+"],
        ["under 5 years", "5 to 9 years", "10 to 14 years"],
        ["(0, 10]", "(10, 20]", "(20, 100]"],
        ["1999-2000", "2001-2002", "2003-2004"],
        ["0-1", ">1", ">10"],
    ],
)
def test_the_words_of_a_scale_are_ordinal_in_its_order(scale):
    variable = infer_column([*reversed(scale), *scale, None])
    assert variable.kind is Kind.ORDINAL
    assert list(variable.levels) == scale


def test_a_word_that_is_not_on_the_scale_makes_the_column_a_category():
    assert infer_column(["low", "medium", "high", "unknown"] * 3).kind is Kind.CATEGORY


def test_codes_of_digits_and_letters_are_a_category():
    assert infer_column(["1a", "2b", "3c"] * 3).kind is Kind.CATEGORY


def test_ranges_with_the_same_start_are_a_category():
    assert infer_column(["1-2", "1-3", "2-3"] * 3).kind is Kind.CATEGORY


def test_the_word_none_is_missing_as_in_pandas_and_proposed_as_a_level():
    schema = infer(formats.read({"eyes": ["None", "To Speech", "To Pain", "Open"] * 2}))
    assert schema["eyes"].levels == ("Open", "To Pain", "To Speech")
    (note,) = schema.notes
    assert "'None' (2 cells) is read as missing, as in pandas. If it is a level, use:" in note.message
    assert note.alternative.levels == ("None", "Open", "To Pain", "To Speech")


def test_codes_that_differ_by_a_leading_zero_are_different_levels():
    assert infer_levels(["1", "01", "x"] * 3) == ["1", "01", "x"]


def test_an_ordered_categorical_keeps_its_order_and_its_unused_levels():
    values = pd.Categorical(["b", "a", "b"], categories=["b", "unused", "a"], ordered=True)
    variable = infer_column(values)
    assert variable.kind is Kind.ORDINAL
    assert variable.levels == ("b", "unused", "a")


def test_an_unordered_categorical_has_only_the_levels_that_occur():
    values = pd.Categorical(["x", "y", "z", "x"], categories=["x", "y", "z", "unused"])
    assert infer_levels(values) == ["x", "y", "z"]


def test_a_categorical_of_numbers_is_numeric():
    assert infer_levels(pd.Categorical([3, 1, 2, 1])) == [1, 2, 3]


def infer_reason(values, name="v"):
    return infer_column(values, name).reason


def test_a_constant_column_is_set_aside():
    assert infer_reason([5, 5, 5]) == "constant: every value is '5'"
    assert infer_reason(["a", "A ", None]) == "constant: every value is 'a' or missing"
    assert infer_reason([True, None, True]) == "constant: every value is 'True' or missing"


def test_an_empty_column_is_set_aside():
    assert infer_reason([None, None, None]) == "every value is missing"
    assert infer_reason(["?", "", "NA"]) == "every value is missing"


def test_prose_is_set_aside_as_free_text():
    values = [f"the patient said thing {n} today" for n in range(100)]
    assert infer_reason(values) == "free text: 100 different values"


def test_text_with_too_many_values_is_set_aside_as_free_text():
    values = [f"w{n % (MAX_LEVELS + 1)}" for n in range(1000)]
    assert infer_reason(values) == f"free text: {MAX_LEVELS + 1} different values"


def test_nearly_unique_text_is_set_aside_as_free_text():
    assert infer_reason([f"w{n}" for n in range(30)] + ["w1"]) == "free text: 30 different values"


@pytest.mark.parametrize(
    "values",
    [
        [datetime.date(2020, 1, day) for day in (1, 2, 3)],
        [datetime.datetime(2020, 1, day) for day in (1, 2, 3)],
        [datetime.timedelta(day) for day in (1, 2, 3)],
        ["2020-01-05", "2020-01-06", "2020-02-06"],
        ["2020-01-05T10:00:00Z", "2020-01-06 11:30", None, "2021-01-01"],
        ["1/5/2020", "2/5/2020", "13/5/20"],
        ["5.1.2020", "6.1.2020", "7.1.2020"],
        ["10:30", "11:15", "23:59:59"],
    ],
)
def test_dates_and_times_are_set_aside(values):
    assert infer_reason(values) == "dates and times are not modelled"


def test_nested_and_binary_values_are_set_aside():
    assert infer_reason([[1], [2], [3]]) == "values of type list<item: int64> are not modelled"
    assert infer_reason([b"a", b"b", b"c"]) == "values of type binary are not modelled"


def test_short_unique_text_is_an_identifier():
    column = infer_column([f"P{n:03}" for n in range(50)])
    assert (column.reason, column.role) == ("every value is different", "identifier")


@pytest.mark.parametrize(
    "name",
    [
        *["id", "ID", "patient_id", "PatientID", "patientId", "RecordID", "subject id", "id_number"],
        *["SEQN", "uuid", "index", "pidnum", "case_no", "mrn", "Unnamed: 0"],
    ],
)
def test_unique_whole_numbers_named_like_an_identifier_are_an_identifier(name):
    column = infer_column([10, 57, 23, 99], name)
    assert column.role == "identifier"
    assert column.reason == "named like an identifier; every value is different"


@pytest.mark.parametrize("name", ["paid", "acid", "lipid", "body mass index", "idle", "width"])
def test_a_name_that_merely_contains_id_is_not_that_of_an_identifier(name):
    assert isinstance(infer_column([10, 57, 23, 99], name), Variable)


def test_an_identifier_may_have_repeated_values():
    assert infer_column([*range(100, 200), 100], "subject_id").role == "identifier"


def test_a_column_named_like_an_identifier_with_few_values_is_a_category():
    variable = infer_column([3, 7, 12] * 10, "ward_id")
    assert variable == Variable("ward_id", Kind.CATEGORY, (3, 7, 12))


def test_row_numbers_in_any_order_are_an_identifier():
    column = infer_column(RNG.permutation(np.arange(1, 41)))
    assert (column.role, column.reason) == ("identifier", "numbers the rows from 1 to 40")


def test_three_consecutive_numbers_are_not_an_identifier():
    assert infer_column([1, 2, 3]).levels == (1, 2, 3)


def test_columns_that_are_set_aside_are_listed_in_the_schema():
    schema = infer(formats.read({**FILLER, "id": [4, 9, 2], "note": [None, None, None]}))
    assert schema.names == ("other",)
    assert [column.name for column in schema.set_aside] == ["id", "note"]


def test_targets_are_stored_in_the_schema():
    assert infer(formats.read(FILLER), targets=("other",)).targets == ("other",)


def test_a_target_that_looks_like_an_identifier_is_modelled():
    assert isinstance(infer_column([4, 9, 25, 7], "id", targets=("id",)), Variable)
    assert isinstance(infer_column(range(1, 41), targets=("v",)), Variable)
    assert infer_column(["p", "q", "r"], targets=("v",)).kind is Kind.CATEGORY


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([1, 1, 1], "constant: every value is '1'"),
        ([None, None, None], "every value is missing"),
        ([f"some words about {n}" for n in range(MAX_LEVELS + 1)], "free text"),
        ([datetime.date(2020, 1, day) for day in (1, 2, 3)], "dates and times are not modelled"),
    ],
)
def test_a_target_that_cannot_be_modelled_is_rejected_with_the_reason(values, reason):
    with pytest.raises(TargetError, match=f"the target 'v' cannot be modelled: {reason}"):
        infer_column(values, targets=("v",))


def test_an_unknown_target_is_rejected_with_a_list_of_the_columns():
    with pytest.raises(TargetError, match=r"'risk' is not a column.*Columns are: 'other'"):
        infer(formats.read(FILLER), targets=("risk",))


def test_a_table_without_columns_is_rejected():
    with pytest.raises(TableError, match="the table has no columns"):
        infer(pa.table({}))


def test_a_table_without_rows_is_rejected():
    with pytest.raises(TableError, match="the table has no rows"):
        infer(pa.table({"a": pa.array([], pa.float64())}))


def test_a_table_with_one_row_is_rejected():
    with pytest.raises(TableError, match="one row, so every column is constant"):
        infer(formats.read({"a": [1], "b": ["x"]}))


def test_a_table_with_nothing_to_model_is_rejected_with_the_reasons():
    with pytest.raises(TableError, match=r"nothing is left to model.*'a': constant: every value"):
        infer(formats.read({"a": [1, 1], "b": [None, None]}))


def test_a_schema_is_inferred_from_a_file(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age;smoker\n61,5;yes\n40,2;?\n22,25;no\n")
    schema = Schema.infer(path, targets=["smoker"])
    assert [variable.kind for variable in schema.variables] == [Kind.REAL, Kind.BINARY]
    assert schema.targets == ("smoker",)


def test_a_path_and_pandas_give_the_same_schema_for_the_word_none(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("alley,n\nNone,1.5\nGrvl,None\nPave,3\nGrvl,2.25\nother,7\n")
    schema = Schema.infer(path)
    assert Schema.infer(pd.read_csv(path)) == schema
    assert schema["n"].kind is Kind.REAL
    assert schema["alley"].levels == ("Grvl", "other", "Pave")


def test_a_file_with_the_index_of_pandas_has_the_same_schema_as_its_data_frame(tmp_path):
    frame = pd.DataFrame({"age": RNG.normal(40, 9, 30), "smoker": ["no", "yes", None] * 10})
    frame.to_csv(tmp_path / "t.csv")
    schema = Schema.infer(tmp_path / "t.csv")
    assert Schema.infer(pd.read_csv(tmp_path / "t.csv")) == schema
    assert [column.name for column in schema.set_aside] == ["Unnamed: 0"]


mixed_values = st.lists(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_infinity=False)
    | st.text(max_size=5)
    | st.dates(),
    min_size=1,
    max_size=8,
)


@given(mixed_values)
def test_every_column_fits_its_inferred_variable_or_is_rejected_with_a_message(values):
    table = formats.read({"v": values})
    try:
        schema = infer(table)
    except EddiError:
        return
    numbers = table_to_numbers(table, schema)
    for variable, column in zip(schema.variables, numbers.T, strict=True):
        for number in column[~np.isnan(column)]:
            assert variable.number(variable.answer(number)) == number


@pytest.mark.slow
def test_ten_million_cells_and_five_thousand_columns_take_less_than_ten_seconds():
    wide = pa.table({f"v{n}": RNG.integers(0, 9, 100) for n in range(5_000)})
    long = pa.table({f"v{n}": RNG.normal(size=1_000_000) for n in range(10)})
    start = time.perf_counter()
    infer(wide)
    infer(long)
    assert time.perf_counter() - start < 10  # 1.3 s on the development machine
