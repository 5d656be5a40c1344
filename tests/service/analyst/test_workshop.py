"""The workshop checks parameters, keeps its files private, and leaves nothing of a deleted table."""

import stat
import zipfile

import pytest

from eddi.durable_file import create_private_folder
from eddi.service.analyst.accounts.sign_in import NotSignedInError
from eddi.service.analyst.data.blob_store import BlobNotFoundError
from eddi.service.analyst.data.schema_drafts import DraftError
from eddi.service.analyst.data.tables import TableMovedError
from eddi.service.analyst.jobs import job_worker
from eddi.service.analyst.jobs.job_queue import JobConflictError, JobKind, write_json
from eddi.service.analyst.workshop import JobSpecError, Workshop
from eddi.store.factory import open_store

LEVEL = "Quetzaltenango"  # of a column that is not the target


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"recipe": "cake"}, "recipe must be one of default, paper, got 'cake'"),
        ({"steps": 0}, "steps must be between 1 and 100,000, got 0"),
        ({"held_out": 0.9}, "the share of held-out rows must be between 0 and 0.5, got 0.9"),
    ],
)
def test_invalid_parameters_of_a_job_are_refused(workshop, table, parameters, message):
    with pytest.raises(JobSpecError, match=message):
        workshop.fit(table.key, **parameters)
    assert workshop.jobs.all() == []


def test_a_tolerance_is_for_quantities(workshop, table):
    assert "within" not in workshop.fit(table.key, within=2.5).spec  # the target has levels
    assert workshop.fit(table.key, target=["age"], within=2.5).spec["within"] == 2.5
    with pytest.raises(JobSpecError, match="must be above 0, got -1"):
        workshop.fit(table.key, target=["age"], within=-1)


def test_a_model_without_held_out_rows_cannot_be_evaluated(workshop, table):
    job = workshop.jobs.start(workshop.fit(table.key, held_out=0), {"step": 0})
    workshop.jobs.finish(job, {"model": "0" * 64, "held_out": "1" * 64})
    with pytest.raises(JobConflictError, match="no rows were held out for an evaluation"):
        workshop.evaluate("0" * 64)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (NotSignedInError, 401),
        (BlobNotFoundError, 404),
        (TableMovedError, 412),
        (JobSpecError, 422),
        (DraftError, 422),
    ],
)
def test_errors_have_an_http_status_and_a_title(error, status):
    assert error.status == status
    assert "title" in vars(error)


@pytest.fixture
def shop(tmp_path, people):
    """A workshop over SQLite with a table that has an unmistakable level: ``shop.key``."""
    store = open_store(f"sqlite:///{tmp_path}/answers.db")
    shop = Workshop(store, tmp_path / "workshop")
    rows = people(60, seed=3)
    rows["city"] = [LEVEL if number % 2 else "Bern" for number in range(60)]
    rows.to_csv(tmp_path / "upload.csv", index=False)
    shop.key = shop.tables.add("people.csv", tmp_path / "upload.csv").key
    (tmp_path / "upload.csv").unlink()
    yield shop
    for running in shop.supervisor._running.values():
        running.process.kill()
        running.process.communicate()
    store.close()


def files_with(folder, text):
    """The files below a folder whose bytes contain a text, also inside zip archives such as models."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return sorted(path.name for path in files if text.encode() in read_content(path))


def read_content(path):
    if not zipfile.is_zipfile(path):
        return path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        return b"".join(archive.read(name) for name in archive.namelist())


def finish_training(shop, key, *, schema=None):
    """Train a small model in this process, as a job would; returns its job."""
    job = shop.fit(key, target=["stage"], recipe="paper", steps=2)
    if schema is not None:  # as earlier versions stored it
        shop.jobs.forget(job)
        spec = {name: value for name, value in job.spec.items() if name != "table_version"}
        job = shop.jobs.submit(JobKind.FIT, {**spec, "schema": schema})
    folder = shop.jobs.job_folder(job.key)
    create_private_folder(folder)
    write_json(folder / "order.json", shop.supervisor._worker_spec(job))
    write_json(folder / "progress.json", {})
    started = shop.jobs.start(job, {"step": 0})
    result = job_worker.fit(folder, shop.supervisor._worker_spec(job))
    shop.supervisor._record_result(started, result)
    [evaluation] = [job for job in shop.jobs.all() if job.kind is JobKind.EVALUATE]
    shop.jobs.forget(evaluation)
    return shop.jobs.get(job.key)


def test_a_deleted_table_leaves_no_bytes_in_the_store_and_the_workshop(shop, tmp_path):
    assert files_with(tmp_path, LEVEL)
    key = shop.fit(shop.key, target=["stage"], steps=1000).key
    shop.supervisor.check_jobs()  # starts its process
    process = shop.supervisor._running[key].process
    assert "order.json" in files_with(tmp_path, LEVEL)
    shop.forget_table(shop.key)
    shop.supervisor.check_jobs()
    assert process.poll() is not None
    assert not shop.jobs.job_folder(key).exists()
    assert files_with(tmp_path, LEVEL) == []


def test_a_finished_job_keeps_only_its_training_history(shop):
    job = finish_training(shop, shop.key)
    names = {path.name for path in shop.jobs.job_folder(job.key).iterdir()}
    assert names <= {"lock", "progress.json"}


def test_working_files_of_earlier_versions_are_deleted_at_the_next_check(shop):
    job = finish_training(shop, shop.key)
    file = shop.jobs.job_folder(job.key) / "order.json"
    write_json(file, {"schema": LEVEL})
    shop.supervisor.check_jobs()
    assert not file.exists()


def test_a_model_outlives_its_table_unless_it_is_deleted_with_it(shop, tmp_path):
    job = finish_training(shop, shop.key)
    model = job.result["model"]
    shop.forget_table(shop.key)
    assert [found.digest for found in shop.models()] == [model]
    assert files_with(tmp_path, LEVEL) == [model]


def test_unpublished_models_are_deleted_with_their_table_if_requested(shop, tmp_path):
    job = finish_training(shop, shop.key)
    shop.forget_table(shop.key, with_models=True)
    shop.supervisor.check_jobs()
    assert shop.models() == []
    assert not shop.blobs.has(job.result["model"])
    assert files_with(tmp_path, LEVEL) == []


def test_a_published_model_is_never_deleted_with_its_table(shop):
    model = finish_training(shop, shop.key).result["model"]
    shop.publish("people", model)
    shop.forget_table(shop.key, with_models=True)
    assert [found.digest for found in shop.models()] == [model]
    assert shop.catalogue.current("people").model_sha256 == model


def test_the_schema_that_earlier_versions_stored_with_a_job_is_erased(shop, tmp_path):
    schema = shop.tables.get(shop.key).schema.to_toml()
    assert LEVEL in schema
    model = finish_training(shop, shop.key, schema=schema).result["model"]
    shop.forget_table(shop.key)
    assert [found.digest for found in shop.models()] == [model]
    assert files_with(tmp_path, LEVEL) == [model]


def test_only_the_owner_can_read_the_workshop(shop, tmp_path):
    finish_training(shop, shop.key)
    shop.fit(shop.key, target=["stage"], steps=1000)
    shop.supervisor.check_jobs()
    folder = tmp_path / "workshop"
    for path in (folder, *folder.rglob("*")):
        expected = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == expected, path


def test_files_of_earlier_versions_become_private_when_the_workshop_opens(shop):
    blob = shop.blobs.path(shop.tables.get(shop.key).digest)
    blob.chmod(0o644)
    blob.parent.chmod(0o755)
    shop.open()
    shop.close()
    assert stat.S_IMODE(blob.stat().st_mode) == 0o600
    assert stat.S_IMODE(blob.parent.stat().st_mode) == 0o700
