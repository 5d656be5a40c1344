"""The name of a column says whether whole numbers are codes, steps, counts or quantities."""

import pytest

from eddi.table.kinds.names import NameHint, is_ambiguous, is_item_name, read_name, split_name


def test_a_name_is_split_into_words():
    assert split_name("MaritalStatus_2 (code)") == ["marital", "status", "2", "code"]
    assert split_name("YrSold") == ["yr", "sold"]
    assert split_name("selfLR") == ["self", "lr"]


@pytest.mark.parametrize(
    ("hint", "names"),
    [
        (NameHint.NOMINAL, ["race", "MARITAL_STATUS", "ZIP", "region code", "SoilType", "arms"]),
        (NameHint.ORDERED, ["OverallQual", "JobLevel", "age_group", "pain score", "Month", "educ"]),
        (NameHint.COUNT, ["NumCompaniesWorked", "n_visits", "number of reviews", "children"]),
        (NameHint.QUANTITY, ["age", "MonthlyIncome", "YearsAtCompany", "loan_amnt (amount)"]),
        (NameHint.NONE, ["x", "cp", "num", "favourite"]),
    ],
)
def test_the_last_word_with_a_meaning_decides(hint, names):
    assert {name: read_name(name) for name in names} == dict.fromkeys(names, hint)


def test_a_name_that_says_two_things_is_ambiguous():
    assert is_ambiguous("rate_marriage")
    assert not is_ambiguous("job level")


def test_numbered_items_of_a_questionnaire():
    assert all(map(is_item_name, ["q1", "Q12", "item_3", "DPQ020", "phq9"]))
    assert not any(map(is_item_name, ["age", "visits", "q", "2020"]))
