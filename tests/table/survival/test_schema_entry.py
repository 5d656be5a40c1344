"""The keys of a survival variable in a schema file."""

import pytest

from eddi import Survival
from eddi.errors import SchemaError
from eddi.table.survival.schema_entry import parse_survival, survival_to_values


def test_values_are_written_and_read():
    survival = Survival("days", "died", occurred="yes", entry="start", edges=[1, 2.5])
    values = survival_to_values(survival)
    assert values["edges"] == (1, 2.5)
    entry = {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}
    assert parse_survival("variable 'death'", entry) == survival


def test_what_has_no_value_is_not_written():
    assert survival_to_values(Survival("days", "died")) == {"time": "days", "event": "died"}
    assert survival_to_values(None) == {}


def test_other_variables_have_none():
    assert parse_survival("variable 'age'", {"kind": "real"}) is None


def test_edges_must_be_a_list():
    with pytest.raises(SchemaError, match="edges must be a list of times"):
        parse_survival("variable 'death'", {"time": "days", "event": "died", "edges": 3})
