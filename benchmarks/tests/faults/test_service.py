"""A small part of each harness of the service, against real servers."""

import httpx
import numpy as np
import pytest

import eddi
from eddi_benchmarks.faults import disk_full, http_fuzz, overload, service
from eddi_benchmarks.service.server import run_server


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    """A small model with five variables."""
    path = tmp_path_factory.mktemp("model") / "model.eddi"
    table = np.random.default_rng(0).normal(size=(80, 5))
    names = [f"x{i}" for i in range(5)]
    model = eddi.PartialVAE(target="x4", recipe="paper", max_steps=20, random_state=0)
    model.fit(dict(zip(names, table.T, strict=True))).save(path)
    return path


@pytest.fixture(scope="module")
def server(model_file, tmp_path_factory):
    """A server that may open few files, and gives clients little time."""
    store = f"sqlite:///{tmp_path_factory.mktemp('store')}/answers.db"
    settings = {"EDDI_HEAD_SECONDS": "1", "EDDI_BODY_SECONDS": "1", "EDDI_LOG": "error"}
    with run_server(model_file, store=store, settings=settings, max_files=256) as running:
        yield running


def test_malformed_requests_are_refused(server):
    key = httpx.post(f"http://127.0.0.1:{server.port}/interviews", timeout=30).json()["id"]
    result = http_fuzz.run(server.port, key, count=150, seed=1)
    assert result.failures == []
    assert result.statuses.total() == 150
    assert len(result.statuses) > 5
    assert "Traceback" not in server.messages


def test_half_sent_requests_do_not_occupy_a_server_that_may_open_few_files(server):
    result = overload.run(server, n_connections=300, n_people=4, seconds=1, wait_s=20)
    assert result.is_handled, result
    assert result.n_characters < 5_000


def test_requests_are_the_same_for_the_same_seed():
    makers = [http_fuzz.RequestMaker(3, "k") for _ in range(2)]
    assert [makers[0].make() for _ in range(50)] == [makers[1].make() for _ in range(50)]


@pytest.mark.slow
def test_a_full_disk_is_explained_and_nothing_is_lost(model_file):
    if not disk_full.can_mount():
        pytest.skip("only the superuser can mount a small disk")
    result = disk_full.run(model_file)
    assert result.is_handled, result


@pytest.mark.slow
def test_killed_workers_and_servers_lose_nothing(model_file):
    result = service.run_kills(model_file, count=3, seed=2)
    assert result.is_handled, result
    assert result.kills.total() == 3


@pytest.mark.slow
def test_a_killed_database_loses_nothing(model_file):
    result = service.run_postgresql_kills(model_file, count=2, seed=1)
    assert result.is_handled, result


@pytest.mark.slow
def test_a_server_that_is_killed_loses_no_change_of_an_analyst(model_file):
    result = service.run_workshop_kills(model_file, count=3, seed=1)
    assert result.is_handled, (str(result), result.lost)
    assert result.n_kills == 3
    assert set(result.acknowledged) == {"published", "edited", "deleted", "imported", "forgotten"}


@pytest.mark.slow
def test_a_run_that_is_killed_learns_the_same_and_loses_no_outcome(model_file):
    result = service.run_learning_kills(model_file, count=2, seed=1)
    assert result.is_handled, (str(result), result.lost)
    assert (result.n_import_kills, len(result.outcomes)) == (2, 60)
    assert result.n_learning_kills > 0
