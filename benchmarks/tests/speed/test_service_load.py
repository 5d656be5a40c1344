"""Response times of a real server."""

import asyncio

import numpy as np
import pytest

import eddi
from eddi_benchmarks.speed.service_load import ResponseTimes, run_server, simulate_people

pytestmark = pytest.mark.slow


@pytest.fixture
def model_file(tmp_path):
    """A small model with five variables."""
    table = np.random.default_rng(0).normal(size=(80, 5))
    names = [f"x{i}" for i in range(5)]
    model = eddi.PartialVAE(target="x4", max_steps=20, random_state=0)
    model.fit(dict(zip(names, table.T, strict=True))).save(tmp_path / "model.eddi")
    return tmp_path / "model.eddi"


def test_several_people_are_interviewed_without_errors(model_file):
    with run_server(model_file, batch=8, store="memory:") as port:
        times = asyncio.run(simulate_people(port, 4, 1.0))
    assert times.n_errors == 0
    assert len(times.seconds) > 10
    assert 0 < times.percentile_ms(50) <= times.percentile_ms(99)
    assert times.cpu_ms_per_answer > 0


def test_response_times_of_two_measurements_are_combined():
    first = ResponseTimes([0.1, 0.3], 2, 1.0, 0.2)
    both = first.combine(ResponseTimes([0.2], 1, 2.0, 0.1, n_errors=1))
    assert both.percentile_ms(50) == pytest.approx(200)
    assert (both.answers_per_second, both.n_errors) == (1.0, 1)
    assert both.cpu_ms_per_answer == pytest.approx(100)
