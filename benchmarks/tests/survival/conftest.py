"""A small table with a survival outcome."""

import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="session")
def patients():
    """200 patients; the hazard depends on age and group."""
    random = np.random.default_rng(0)
    age, group = random.normal(size=200), random.integers(0, 3, 200)
    death = random.exponential(np.exp(-age - 0.8 * (group == 2)))
    end = random.uniform(0.2, 3, 200)
    table = pd.DataFrame(
        {
            "age": age,
            "group": np.array(["a", "b", "c"])[group],
            "noise": random.normal(size=200),
            "time": np.minimum(death, end),
            "event": (death <= end).astype(int),
        }
    )
    table.loc[:4, "age"] = np.nan
    return table
