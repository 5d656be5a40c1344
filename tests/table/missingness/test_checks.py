"""Indicators of a schema are checked."""

from typing import Any

import pytest

from eddi.errors import SchemaError
from eddi.table.missingness.checks import check_indicators
from eddi.table.variable import Kind, Variable

INCOME = Variable("income", Kind.REAL)


def make_indicator(name: str = "told", **changes: Any) -> Variable:
    return Variable(
        **{"name": name, "kind": Kind.BINARY, "levels": ("no", "yes"), "indicates": "income"} | changes
    )


def test_an_indicator_of_a_variable_is_accepted() -> None:
    check_indicators([INCOME, make_indicator()])


def test_an_indicator_must_be_binary() -> None:
    with pytest.raises(SchemaError, match="'told' indicates 'income' and must be binary"):
        check_indicators([INCOME, make_indicator(kind=Kind.REAL, levels=())])


@pytest.mark.parametrize("name", ["wealth", "told"])
def test_an_indicator_needs_a_variable_with_values(name: str) -> None:
    with pytest.raises(SchemaError, match="which is not a variable with values of its own"):
        check_indicators([INCOME, make_indicator(indicates=name)])


def test_a_variable_has_one_indicator() -> None:
    with pytest.raises(SchemaError, match=r"'income' has two indicators. Remove 'again'"):
        check_indicators([INCOME, make_indicator(), make_indicator("again")])
