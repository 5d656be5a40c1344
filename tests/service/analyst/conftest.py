"""A workshop over a store in memory, and a small table of people to bring to it."""

import copy
import json
import threading
import time

import pytest
import uvicorn

from eddi.model.files.archive import load
from eddi.service.analyst import evaluation
from eddi.service.analyst.workshop import Workshop
from eddi.service.app import assemble
from eddi.service.interviews.interview_service import InterviewService
from eddi.service.settings import Settings
from eddi.store.memory import MemoryStore
from eddi.table.variable import Variable

SECONDS_TO_WORK = 120  # that a job may take on a busy machine


@pytest.fixture
def workshop(tmp_path):
    """A workshop whose supervisor looks only when it is told to."""
    shop = Workshop(MemoryStore(), tmp_path / "workshop")
    yield shop
    for running in shop.supervisor._running.values():
        running.process.kill()
        running.process.communicate()


@pytest.fixture
def people_csv(tmp_path, people):
    """120 people as a CSV file; their names identify them."""
    path = tmp_path / "people.csv"
    people(120, seed=3).to_csv(path, index=False)
    return path


@pytest.fixture
def kept(workshop, people_csv):
    """The people's table, brought to the workshop; their stage is to be found out."""
    brought = workshop.tables.add("people.csv", people_csv)
    schema = brought.schema
    document = schema.to_document() | {"targets": ["stage"]}
    return workshop.tables.correct(brought.key, type(schema).from_document(document))


@pytest.fixture
def done():
    """Looks after the jobs of a workshop until one of them is over: `done(workshop, key)`."""

    def wait(shop, key):
        return until(shop, lambda: shop.jobs.get(key).state.is_over) and shop.jobs.get(key)

    return wait


def until(shop, reached):
    """Look after jobs until something is reached."""
    end = time.monotonic() + SECONDS_TO_WORK
    while time.monotonic() < end:
        shop.supervisor.look()
        if reached():
            return True
        time.sleep(0.02)
    raise AssertionError("it took too long")


@pytest.fixture(scope="session")
def gallery(tmp_path_factory, model, people):
    """A workshop with four models of 20 held-out people: ``gallery.seals`` by what is special of each.

    "stage" and "age" are judged, "twin" is the judged model of the age with another wording, and "new"
    was not judged yet.
    """
    folder = tmp_path_factory.mktemp("gallery")
    shop = Workshop(MemoryStore(), folder / "workshop")
    people(40, seed=5).to_csv(folder / "people.csv", index=False)
    kept = shop.tables.add("people.csv", folder / "people.csv")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluation, "N_IMAGINED", 8)  # what order is learned does not matter here
        shop.seals = {
            name: _made(shop, kept, _variant(model, name), "stage" if name == "stage" else "age", folder)
            for name in ("stage", "age", "twin", "new")
        }
        stage, age = (_judged(shop, kept, shop.seals[name]) for name in ("stage", "age"))
    for name, document in (("stage", stage), ("age", age), ("twin", age)):  # twins believe the same
        job = shop.jobs.start(shop.jobs.get(shop.evaluate(shop.seals[name])), {"step": 0})
        assert shop.jobs.finish(job, {"evaluation": document, "model": shop.seals[name]})
    return shop


def _variant(model, name):
    """The model of people with questions of its own."""
    variant = copy.copy(model)
    schema = model.schema_.with_question("smoker", text="Do you smoke?")
    if name == "stage":
        schema = schema.with_question("weight", text="What do you weigh?", cost=4.0)
    if name == "twin":
        schema = schema.with_question("pain", text="Does it hurt?", cost=2.0)
        schema = schema.with_variable(Variable("visits", "count", low=0, high=500))
    if name == "new":
        schema = schema.with_question("body", reveals=["weight", "visits"], text="What about the body?")
    variant.schema_ = schema
    return variant


def _made(shop, kept, model, target, folder):
    """Put a model on the shelf as if a job had made it; gives its seal."""
    model.save(folder / "model.eddi")
    seal = shop.shelf.put(folder / "model.eddi")
    held_out = shop.shelf.put(json.dumps(list(range(5, 25))).encode())
    facts = {
        "model": seal,
        "held_out": held_out,
        "rows": 20,
        "steps": 200,
        "seconds": 1.0,
        "score": None,
    }
    job = shop.jobs.start(shop.fit(kept.key, target=[target]), {"step": 0})
    assert shop.jobs.finish(job, facts)
    return seal


def _judged(shop, kept, seal):
    """Judge a model by its held-out rows; gives the seal of the findings."""
    made = shop.made(seal)
    rows = shop.tables.rows(kept.seal).take(list(made.held_out))
    document = evaluation.evaluate(load(shop.shelf.path(seal)), rows, made.target)
    return shop.shelf.put(json.dumps(document, allow_nan=False).encode())


@pytest.fixture(scope="session")
def gallery_site(gallery):
    """The address of a real server of the gallery; nobody works there."""
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
