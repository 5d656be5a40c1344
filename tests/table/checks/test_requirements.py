"""Prerequisites must be values that their variables can have."""

import pytest

from eddi import Variable
from eddi.errors import SchemaError
from eddi.table.checks.requirements import check_requirement


def test_a_level_of_the_variable_is_accepted():
    check_requirement("packs", Variable("smoker", "binary", ("no", "yes")), "yes")


def test_another_level_is_an_error():
    with pytest.raises(SchemaError, match=r"'often', which is not one of its levels \(no, yes\)"):
        check_requirement("packs", Variable("smoker", "binary", ("no", "yes")), "often")


def test_a_word_is_no_value_of_a_quantity():
    with pytest.raises(SchemaError, match="it is real and has none"):
        check_requirement("packs", Variable("age", "real"), "old")
