"""The load of a real server by simulated people."""

import numpy as np
import pytest

import eddi
from eddi_benchmarks.service.server import run_server
from eddi_benchmarks.speed.service_load import measure

pytestmark = pytest.mark.slow


@pytest.fixture
def model_file(tmp_path):
    """A small model with five variables."""
    table = np.random.default_rng(0).normal(size=(80, 5))
    names = [f"x{i}" for i in range(5)]
    model = eddi.PartialVAE(target="x4", max_steps=20, random_state=0)
    model.fit(dict(zip(names, table.T, strict=True))).save(tmp_path / "model.eddi")
    return tmp_path / "model.eddi"


@pytest.mark.parametrize("options", [[], ["--workers", "2"]])
def test_several_people_are_interviewed_without_errors(model_file, tmp_path, options):
    store = f"sqlite:///{tmp_path}/answers.db"
    with run_server(model_file, store=store, options=options) as server:
        result = measure(server, "this", n_people=4, seconds=1.0)
    assert result.n_errors == 0
    assert result.answers_per_s > 5
    assert 0 < result.p50_ms <= result.p99_ms
    assert result.cpu_ms > 0
    assert result.memory_mb > 10
