"""A table with a survival outcome."""

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def patients():
    """Sixty patients with a time in days, half of whom died."""
    random = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": random.normal(60, 8, 60).round(1),
            "days": random.exponential(100, 60).round(1),
            "died": np.arange(60) % 2,
        }
    )
