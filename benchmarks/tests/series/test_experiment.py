"""The suite on series, with a small model of simulated stays."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from eddi import PartialVAE, Schema, Series, Survival, TimeSection, Variable
from eddi.evaluate.series.logged_series import LoggedSeries
from eddi.evaluate.series.series_curves import SeriesCurves
from eddi.model.recipe import DEFAULT
from eddi_benchmarks.series import experiment
from eddi_benchmarks.series.experiment import Task

SETTINGS = {"seed": 0, "panels": [1, 2], "counts": [1], "thresholds": [0.01]}


@pytest.fixture(scope="module")
def task():
    """Forty persons whose pulse depends on the target; their noise does not."""
    random = np.random.default_rng(0)
    is_ill = random.random(40) < 0.5
    rows = [
        (person, float(hour), name, value)
        for person in range(40)
        for hour in (1, 2, 3)
        for name, value in (
            ("pulse", 70 + 15 * is_ill[person] + 5 * random.normal()),
            ("noise", random.normal()),
        )
    ]
    measurements = pd.DataFrame(rows, columns=["id", "hour", "what", "value"])
    static = pd.DataFrame(
        {"id": range(40), "age": 50 + random.normal(size=40), "ill": is_ill.astype(int)}
    )
    time = TimeSection(
        *("id", "hour"),
        windows=(0.5, 5),
        decisions=(1, 2, 3),
        repeats={"pulse": "last", "noise": "last"},
        variable="what",
        value="value",
    )
    variables = [Variable(name, "real") for name in ("age", "pulse", "noise")]
    schema = Schema((*variables, Variable("ill", "binary", (0, 1))), targets=("ill",)).with_time(time)
    first, second = (
        Series(measurements[part(measurements.id)], static[part(static.id)])
        for part in (lambda names: names < 25, lambda names: names >= 25)
    )
    return Task(schema, first, second, ("age",))


@pytest.fixture(scope="module")
def model(task):
    sizes = {"identity": 8, "offset": 8, "term": 16, "hidden": (16, 16)}
    recipe = replace(DEFAULT, **sizes, learning_rate=5e-3, average=50, folds=0)
    return PartialVAE(task.schema, "ill", recipe=recipe, max_steps=150, random_state=0).fit(task.train)


def test_every_policy_is_simulated(task, model):
    logged = LoggedSeries.read(model.fitted(), task.test)
    found = dict(experiment.simulate_policies(model, task, logged, SETTINGS))
    assert found["panel every 1 decisions"].measurements_per_person == 6
    assert found["panel every 2 decisions"].measurements_per_person == 2
    assert found["ours, 1 per decision"].measurements_per_person == 3
    assert found["static schedule, 1 per decision"].measurements_per_person == 3
    described = experiment.describe(found["everything recorded"])
    assert described["auroc"] == found["everything recorded"].auroc(-1)
    assert described["measurements_by_decision"] == [2, 4, 6]


def test_the_static_schedule_measures_what_matters(task, model):
    panels = experiment.learn_schedule(model, task, 1)
    assert [panel.order for panel in panels] == [("pulse",)] * 3


def test_survival_is_described_by_concordance_and_brier_score():
    edges, n = (1.0, 2.0), 6
    variable = Variable("death", "survival", survival=Survival("seen", "died", edges=edges))
    times, ones = np.zeros((n, 1)), np.ones((n, 1))
    seen = np.array([0.5, 0.6, 1.5, 1.6, 3, 3])[:, None]
    bins = np.eye(3)[[0, 0, 1, 1, 2, 2]][:, None]  # the bin of each time is known
    counts = ones.astype(np.int64)
    curves = SeriesCurves(
        variable, times, seen, seen, counts, ones, events=(seen < 2) * 1.0, bin_probabilities=bins
    )
    described = experiment.describe(curves)
    assert described["concordance"] > 0.9
    assert described["integrated_brier"] < 0.3
    assert described["measurements"] == 1
