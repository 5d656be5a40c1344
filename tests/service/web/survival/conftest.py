"""An interview about a survival target."""

import pytest

import eddi


@pytest.fixture(scope="session")
def predictions(survival_model):
    """The predictions before any answer, and for a person in a late stage."""
    interview = eddi.Interview(survival_model, "death")
    before = interview.predict()
    interview.tell("age", 64)
    interview.tell("stage", "III")
    return before, interview.predict()
