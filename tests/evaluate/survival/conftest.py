"""Simulated interviews about a survival target."""

import pytest

import eddi


@pytest.fixture(scope="session")
def survival_curves(survival_model, patients):
    """Interviews with 150 patients."""
    return eddi.simulate(survival_model, patients(150, seed=3), "death")
