"""Completing rows by the chain rule: what is seen stays, and what is drawn depends on what was."""

import numpy as np
import pandas as pd
import torch

from eddi import PartialVAE, Schema, Variable
from eddi.model.inference.sampling import completed
from eddi.table.variable import Kind


def correlated(n_rows=600):
    random = np.random.default_rng(0)
    x = random.normal(size=n_rows)
    columns = {"a": x, "b": x + 0.1 * random.normal(size=n_rows), "c": random.normal(size=n_rows)}
    return pd.DataFrame(columns)


def fitted():
    schema = Schema(tuple(Variable(name, Kind.REAL) for name in "abc"))
    model = PartialVAE(schema, max_steps=300, random_state=0, device="cpu")
    return model.fit(correlated())


def test_draws_keep_what_is_seen_and_go_together():
    model = fitted()
    values, observed = torch.zeros(1, 3), torch.zeros(1, 3)
    values[0, 2], observed[0, 2] = 0.7, 1.0
    level = torch.rand((2_000, 1, 3), generator=torch.Generator().manual_seed(1))
    drawn = completed(model.direct_, values, observed, level)[:, 0]
    assert torch.equal(drawn[:, 2], torch.full((2_000,), 0.7))
    assert np.corrcoef(drawn[:, 0], drawn[:, 1])[0, 1] > 0.9  # apart they would not go together at all
    assert 0.8 < drawn[:, 0].std() < 1.2


def test_many_variables_are_drawn_some_at_a_time(monkeypatch):
    monkeypatch.setattr("eddi.model.inference.sampling.MOST_STEPS", 2)
    model = fitted()
    nothing = torch.zeros(4, 3)
    level = torch.rand((50, 4, 3), generator=torch.Generator().manual_seed(1))
    assert torch.isfinite(completed(model.direct_, nothing, nothing, level)).all()
