"""Peers of the suite on series."""

import numpy as np
import pandas as pd

from eddi import Schema, Series, Survival, TimeSection, Variable
from eddi_benchmarks.series.peers import BOOSTING, COX, measure_peer


def make_series(n_persons, seed):
    """Three visits of each person; the marker tells the outcome."""
    random = np.random.default_rng(seed)
    marker = random.normal(size=n_persons)
    death = 3 + random.exponential(10 / np.exp(2 * marker))
    visits = pd.DataFrame(
        {
            "id": np.repeat(np.arange(n_persons), 3),
            "day": np.tile([0.0, 1.0, 2.0], n_persons),
            "marker": np.repeat(marker, 3) + 0.1 * random.normal(size=3 * n_persons),
        }
    )
    static = {"id": range(n_persons), "seen": death, "died": 1, "early": (marker > 0).astype(int)}
    return Series(visits, pd.DataFrame(static))


def make_schema(target):
    time = TimeSection("id", "day", windows=(0, 2), decisions=(0, 1, 2), repeats={"marker": "last"})
    return Schema((Variable("marker", "real"), target), targets=(target.name,)).with_time(time)


def test_cox_regression_orders_survival_times():
    schema = make_schema(Variable("death", "survival", survival=Survival("seen", "died")))
    found = measure_peer(schema, make_series(100, 0), make_series(50, 1))
    assert found["name"] == COX
    assert found["concordance"] > 0.8


def test_boosting_predicts_other_targets():
    schema = make_schema(Variable("early", "binary", (0, 1)))
    found = measure_peer(schema, make_series(100, 0), make_series(50, 1))
    assert found["name"] == BOOSTING
    assert found["auroc"] > 0.9
