"""Tables drawn from exponential and Weibull proportional-hazards models: curves against the true S(t)."""

import numpy as np
import pandas as pd
import pytest

from eddi import Interview, PartialVAE, Schema, Series, Survival

SCALE = 100.0  # days at which the cumulative hazard of a person with log hazard ratio 0 is 1
EFFECTS = {"x": 0.7, "smokes": 0.8, "noise": 0.0}  # log hazard ratios
TIMES = np.array([10.0, 30.0, 60.0, 100.0, 150.0])
PEOPLE = pd.DataFrame(
    {"x": [-1.5, 0.0, 0.0, 1.5], "smokes": ["no", "no", "yes", "yes"], "noise": [1.0, 0.0, -1.0, 0.0]}
)


def log_ratio(people):
    """The log hazard ratio of each row."""
    return EFFECTS["x"] * people.x.to_numpy() + EFFECTS["smokes"] * (people.smokes == "yes").to_numpy()


def draw_table(n_rows, shape, seed=0):
    """Times with S(t) = exp(-exp(log_ratio) (t / SCALE)^shape), of which a third is censored."""
    random = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "x": random.normal(size=n_rows),
            "smokes": np.where(random.random(n_rows) < 0.4, "yes", "no"),
            "noise": random.normal(size=n_rows),
        }
    )
    hazard = np.exp(log_ratio(table))
    death = SCALE * (random.exponential(size=n_rows) / hazard) ** (1 / shape)
    end = random.uniform(20, 350, n_rows)
    return table.assign(days=np.minimum(death, end), died=(death <= end).astype(int))


def fit(table, recipe):
    schema = Schema.infer(table, survival={"death": Survival("days", "died")})
    return PartialVAE(schema, "death", recipe=recipe, max_steps=100, random_state=0).fit(table)


@pytest.mark.parametrize("shape", [1.0, 0.6, 2.0], ids=["exponential", "falling", "rising"])
def test_curves_are_those_of_the_model_that_drew_the_table(shape, small_recipe):
    """With 600 events, S(t) has a standard error of 0.02 without covariates, and about 0.03 with them.

    Three of these bound a single value, and half of that the root mean square over people and times.
    """
    curve = fit(draw_table(800, shape), small_recipe).predict(PEOPLE, "death").curve
    times = TIMES[curve.horizon >= TIMES]
    assert len(times) >= 4
    truth = np.exp(-np.exp(log_ratio(PEOPLE))[:, None] * (times / SCALE) ** shape)
    difference = curve.at(times) - truth
    assert np.abs(difference).max() < 0.09
    assert np.sqrt((difference**2).mean()) < 0.045


def test_log_hazard_ratios_are_those_of_the_model_that_drew_the_table(small_recipe):
    """Their standard error is about 0.1; a ridge penalty and few steps shrink them."""
    people = pd.DataFrame({"x": [-1.0, 1.0, 0, 0, 0, 0], "smokes": ["no"] * 3 + ["yes"] + ["no"] * 2})
    people["noise"] = [0, 0, 0, 0, -1.0, 1.0]
    curve = fit(draw_table(800, 1.0), small_recipe).predict(people, "death").curve
    log_hazard = np.log(-np.log(curve.at(60.0)))
    differences = np.diff(log_hazard)[[0, 2, 4]]
    np.testing.assert_allclose(
        differences, [2 * EFFECTS["x"], EFFECTS["smokes"], EFFECTS["noise"]], atol=0.3
    )


SERIES_SCHEMA = """
targets = ["death"]
[variables]
marker = { kind = "real", repeats = true }
death = { kind = "survival", time = "days", event = "died", unit = "days" }
[time]
person = "id"
time = "day"
unit = "days"
windows = [0, 40]
"""


def draw_visits(n_persons, seed=0):
    """Visits every 20 days up to day 80 or the end; a person's marker is constant, and so is the hazard."""
    random = np.random.default_rng(seed)
    marker = random.normal(size=n_persons)
    death = SCALE * random.exponential(size=n_persons) / np.exp(EFFECTS["x"] * marker)
    end = random.uniform(30, 350, n_persons)
    days = np.minimum(death, end)
    visits = [
        (person, day, marker[person])
        for person in range(n_persons)
        for day in range(0, 81, 20)
        if day < days[person]
    ]
    people = pd.DataFrame({"id": range(n_persons), "days": days, "died": (death <= end).astype(int)})
    return Series(pd.DataFrame(visits, columns=["id", "day", "marker"]), people)


def test_the_time_that_remains_is_memoryless_if_the_hazard_is_constant(small_recipe):
    """At every decision time, the curve is exp(-t / mean) from then on.

    The standard error is about 0.02. Persons with an early event have fewer visits, so that curves of the
    first visit would be too low if persons rather than visits had the same weight.
    """
    schema = Schema.from_toml(SERIES_SCHEMA)
    model = PartialVAE(schema, "death", recipe=small_recipe, max_steps=100, random_state=0)
    model.fit(draw_visits(1500))
    for marker in (-1.0, 0.0, 1.0):
        mean = SCALE / np.exp(EFFECTS["x"] * marker)
        for day in (0, 40, 80):
            interview = Interview(model)
            interview.advance(to=day)
            interview.tell("marker", marker)
            np.testing.assert_allclose(
                interview.predict().curve.at(TIMES), np.exp(-TIMES / mean), atol=0.06
            )
