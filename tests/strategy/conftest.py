"""Fixtures shared by the tests of the strategies."""

import pytest

from eddi.table.evidence import Evidence


@pytest.fixture(scope="session")
def fitted(model):
    """The fitted model of people, which strategies score questions with."""
    return model.fitted()


@pytest.fixture(scope="session")
def no_answers(fitted):
    """Builds rows without any answer: `no_answers(n_rows)`."""

    def build(n_rows=3):
        return Evidence.empty(n_rows, len(fitted.schema.variables))

    return build
