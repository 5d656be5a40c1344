"""Interviews about people."""

import pytest

from eddi import Interview


@pytest.fixture
def interview(model):
    return Interview(model, "stage")
