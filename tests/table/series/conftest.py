"""Small series: two persons with heart rates and temperatures."""

import pyarrow as pa
import pytest

from eddi.table.schema import Schema

LONG_SCHEMA = """
targets = ["death"]
[variables]
age = { kind = "real" }
hr = { kind = "real", repeats = true }
temp = { kind = "real", repeats = "mean" }
death = { kind = "binary", levels = ["no", "yes"] }
[time]
person = "id"
time = "hour"
unit = "h"
windows = [1, 4, 12]
decisions = [4, 8]
variable = "what"
value = "value"
next = ["hr"]
"""

LONG = {
    "id": ["a", "a", "a", "a", "b", "b"],
    "hour": [0.5, 3.0, 3.5, 7.5, 2.0, 9.0],
    "what": ["hr", "temp", "temp", "hr", "hr", "hr"],
    "value": [80.0, 36.0, 38.0, 90.0, 70.0, 75.0],
}
STATIC = {"id": ["b", "a"], "age": [30, 60], "death": ["no", "yes"]}


@pytest.fixture
def long_schema():
    return Schema.from_toml(LONG_SCHEMA)


@pytest.fixture
def long_table():
    return pa.table(LONG)


@pytest.fixture
def static_table():
    return pa.table(STATIC)


@pytest.fixture
def visit_schema():
    """A schema for a table of visits, with a decision at every visit."""
    text = LONG_SCHEMA.replace('variable = "what"\nvalue = "value"\n', "")
    return Schema.from_toml(text.replace("decisions = [4, 8]", 'decisions = "visits"'))
