"""Interviews about people, under any questions one likes."""

import copy

import pytest

from eddi import Interview


@pytest.fixture(scope="session")
def worded(model):
    """The model of people with other questions: `worded(schema)`; weights stay as they are."""

    def reworded(schema):
        other = copy.copy(model)
        other.schema_ = schema
        return other

    return reworded


@pytest.fixture(scope="session")
def body_model(worded, people_schema):
    """People whose age and weight are told by one question."""
    return worded(people_schema.with_question("body", reveals=["age", "weight"], cost=3))


@pytest.fixture
def interview(model):
    return Interview(model, "stage")
