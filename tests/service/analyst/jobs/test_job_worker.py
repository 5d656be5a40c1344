"""What the process of a job does: it trains or evaluates a model, and stores the results."""

import json

import pytest

from eddi.errors import TableError
from eddi.interview.risk_control import certify
from eddi.model.certificate import CertificateKey
from eddi.model.files.archive import load
from eddi.service.analyst.jobs import job_worker
from eddi.service.analyst.jobs.job_queue import JobKind, read_json
from eddi.service.analyst.models import evaluation
from eddi.service.analyst.models.trained_model import ModelNotFoundError
from eddi.strategy.information import Information

STEPS = 100


@pytest.fixture
def job(workshop, table):
    return workshop.fit(table.key, recipe="paper", steps=STEPS, held_out=0.25, seed=5)


@pytest.fixture
def spec(workshop, job):
    """The content of the job's ``order.json``."""
    return workshop.supervisor._worker_spec(job)


def test_values_that_do_not_fit_the_schema_are_reported(spec, tmp_path):
    with pytest.raises(TableError, match="Aber"):
        job_worker.fit(tmp_path, {**spec, "schema": spec["schema"].replace("Aber", "Xber")})


def test_too_few_training_rows_are_refused(spec, tmp_path):
    with pytest.raises(TableError, match="0 rows are left for training; at least 10 are needed"):
        job_worker.fit(tmp_path, {**spec, "held_out": 1.0})


@pytest.mark.slow
def test_a_trained_model_is_certified_on_its_held_out_rows(workshop, table, tmp_path):
    job = workshop.fit(table.key, steps=STEPS, held_out=0.25, seed=5)
    result = job_worker.fit(tmp_path, workshop.supervisor._worker_spec(job))
    trained = load(workshop.blobs.path(result["model"]))
    [key] = trained.certificates
    assert key == CertificateKey.create(("stage",), Information(), None)
    held_out = job_worker.choose_held_out(120, 0.25, seed=5)
    rows = workshop.tables.rows(table.digest).take(held_out)
    assert trained.certificates[key] == certify(trained, rows, "stage")
    assert 0 < trained.certificates[key].n_rows <= 30


def test_a_model_is_evaluated_on_its_held_out_rows(workshop, job, spec, monkeypatch, tmp_path):
    result = job_worker.fit(tmp_path, spec)
    quality = load(workshop.blobs.path(result["model"])).quality["stage"]
    assert (quality.source, quality.n_questions) == ("test rows", 7)
    workshop.supervisor._record_result(workshop.jobs.start(job, {"step": 0}), result)
    [evaluation_job] = [job for job in workshop.jobs.all() if job.kind is JobKind.EVALUATE]
    assert workshop.get_model(result["model"]).evaluation is None
    arguments = {}

    def evaluate(model, rows, target, *, on_progress):
        on_progress(0.5)
        arguments.update(n_rows=rows.num_rows, target=target, n_trained=model.training.n_rows)
        return {"auic": 1.0}

    monkeypatch.setattr(evaluation, "evaluate", evaluate)
    evaluated = job_worker.evaluate(tmp_path, workshop.supervisor._worker_spec(evaluation_job))
    assert arguments == {"n_rows": 30, "target": "stage", "n_trained": 90}
    assert json.loads(workshop.blobs.path(evaluated["evaluation"]).read_bytes()) == {"auic": 1.0}
    assert read_json(tmp_path / "progress.json") == {"share": 0.5}
    workshop.jobs.finish(workshop.jobs.start(evaluation_job, {"step": 0}), evaluated)
    assert workshop.get_model(result["model"]).evaluation == evaluated["evaluation"]


def test_a_model_that_no_job_trained_cannot_be_evaluated(workshop):
    with pytest.raises(ModelNotFoundError, match="no job trained a model"):
        workshop.evaluate("0" * 64)
