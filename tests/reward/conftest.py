"""Fixtures shared by the tests of the rewards."""

import pytest


@pytest.fixture(scope="session")
def fitted(model):
    """The fitted model of people, which the rewards are computed from."""
    return model.fitted()
