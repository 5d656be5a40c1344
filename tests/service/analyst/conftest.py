"""A workshop over a store in memory, a small table of people, and a workshop with trained models."""

import copy
import json
import threading
import time
from dataclasses import replace

import pytest
import uvicorn

from eddi.model.files.archive import load
from eddi.service.analyst.models import evaluation
from eddi.service.analyst.workshop import Workshop
from eddi.service.app import assemble
from eddi.service.interviews.interview_service import InterviewService
from eddi.service.settings import Settings
from eddi.store.memory import MemoryStore
from eddi.table.variable import Variable

SECONDS_TO_WORK = 120  # that a job may take on a busy machine


@pytest.fixture
def workshop(tmp_path):
    """A workshop whose supervisor checks jobs only when a test calls it."""
    shop = Workshop(MemoryStore(), tmp_path / "workshop")
    yield shop
    for running in shop.supervisor._running.values():
        running.process.kill()
        running.process.communicate()


@pytest.fixture
def people_csv(tmp_path, people):
    """120 people as a CSV file; the column "name" identifies them."""
    path = tmp_path / "people.csv"
    people(120, seed=3).to_csv(path, index=False)
    return path


@pytest.fixture
def table(workshop, people_csv):
    """The table of people, uploaded to the workshop, with the target "stage"."""
    uploaded = workshop.tables.add("people.csv", people_csv)
    schema = uploaded.schema
    document = schema.to_document() | {"targets": ["stage"]}
    return workshop.tables.correct(uploaded.key, type(schema).from_document(document))


@pytest.fixture
def wait_until():
    """Checks jobs until a condition holds: `wait_until(workshop, condition)`."""

    def wait(shop, condition):
        end = time.monotonic() + SECONDS_TO_WORK
        while time.monotonic() < end:
            shop.supervisor.check_jobs()
            if condition():
                return
            time.sleep(0.02)
        raise AssertionError("it took too long")

    return wait


@pytest.fixture(scope="session")
def gallery(tmp_path_factory, model, people):
    """A workshop with four models and 20 held-out people: ``gallery.digests`` by name.

    "stage" and "age" are evaluated, "twin" is the evaluated model of the age with another schema, and
    "new" is not evaluated yet.
    """
    folder = tmp_path_factory.mktemp("gallery")
    shop = Workshop(MemoryStore(), folder / "workshop")
    people(40, seed=5).to_csv(folder / "people.csv", index=False)
    table = shop.tables.add("people.csv", folder / "people.csv")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "eddi.strategy.fixed_order.N_DRAWN_ROWS", 8
        )  # which order is learned does not matter here
        shop.digests = {
            name: _add_model(
                shop, table, _variant(model, name, people), "stage" if name == "stage" else "age", folder
            )
            for name in ("stage", "age", "twin", "new")
        }
        stage, age = (_evaluate(shop, table, shop.digests[name]) for name in ("stage", "age"))
    for name, document in (("stage", stage), ("age", age), ("twin", age)):  # twins predict the same
        job = shop.jobs.start(shop.jobs.get(shop.evaluate(shop.digests[name])), {"step": 0})
        assert shop.jobs.finish(job, {"evaluation": document, "model": shop.digests[name]})
    return shop


def _variant(model, name, people):
    """The model of people with other questions."""
    schema = model.schema_.with_question("smoker", text="Do you smoke?")
    if name == "stage":
        schema = schema.with_question("weight", text="What do you weigh?", cost=4.0)
        measured = copy.copy(model)
        measured.model_ = replace(model.model_, schema=schema, target=("stage",))
        measured.measure_quality(people(40, seed=5)[5:25])
        return measured
    if name == "twin":
        schema = schema.with_question("pain", text="Does it hurt?", cost=2.0)
        schema = schema.with_variable(Variable("visits", "count", low=0, high=500))
    if name == "new":
        schema = schema.with_question("body", reveals=["weight", "visits"], text="What about the body?")
    variant = copy.copy(model)
    variant.model_ = replace(model.model_, schema=schema)
    return variant


def _add_model(shop, table, model, target, folder):
    """Store a model as if a job had trained it; returns its digest."""
    model.save(folder / "model.eddi")
    digest = shop.blobs.put(folder / "model.eddi")
    held_out = shop.blobs.put(json.dumps(list(range(5, 25))).encode())
    facts = {
        "model": digest,
        "held_out": held_out,
        "rows": 20,
        "steps": 200,
        "seconds": 1.0,
        "score": None,
    }
    job = shop.jobs.start(shop.fit(table.key, target=[target]), {"step": 0})
    assert shop.jobs.finish(job, facts)
    return digest


def _evaluate(shop, table, digest):
    """Evaluate a model on its held-out rows; returns the digest of the document."""
    model = shop.get_model(digest)
    rows = shop.tables.rows(table.digest).take(list(model.held_out))
    document = evaluation.evaluate(load(shop.blobs.path(digest)), rows, model.target)
    return shop.blobs.put(json.dumps(document, allow_nan=False).encode())


@pytest.fixture(scope="session")
def gallery_site(gallery):
    """The address of a real server of the gallery, which runs no jobs."""
    app = assemble(InterviewService(gallery.jobs.store, gallery.catalogue), gallery, Settings(rate=0.0))
    config = uvicorn.Config(app, port=0, log_config=None, access_log=False, lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()
