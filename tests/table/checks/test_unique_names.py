"""Names of a schema are unique."""

import pytest

from eddi.errors import SchemaError
from eddi.table.checks.unique_names import check_unique


def test_a_name_that_is_used_twice_is_refused():
    check_unique("variable", ["age", "weight"])
    with pytest.raises(SchemaError, match="the variable name 'age' is used twice"):
        check_unique("variable", ["age", "weight", "age"])
