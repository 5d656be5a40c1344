"""Factor analyses of several networks at once, compared with separate ones."""

import copy

import numpy as np
import torch

from eddi.model.network.likelihood import VariableSpec
from eddi.model.network.network import Network
from eddi.model.recipe import DEFAULT
from eddi.model.training.batched.batched_factors import fit_factors_batched
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind

SPECS = [VariableSpec(Kind.REAL), VariableSpec(Kind.REAL), VariableSpec(Kind.CATEGORY, n_levels=3)]


def make_rows(n_rows: int, seed: int) -> Evidence:
    random = np.random.default_rng(seed)
    values = random.normal(size=(n_rows, 3))
    values[:, 1] += values[:, 0]
    values[:, 2] = np.digitize(values[:, 0], [-0.5, 0.5])
    return Evidence(values.astype(np.float32), random.random(values.shape) < 0.8)


def test_each_network_has_the_factors_it_would_have_alone() -> None:
    tables = [make_rows(n_rows, seed) for seed, n_rows in enumerate((80, 95, 90))]
    together = [Network(SPECS, "precision", DEFAULT) for _ in tables]
    alone = copy.deepcopy(together)
    for network, rows in zip(alone, tables, strict=True):
        network.fit_factors(rows)
    fit_factors_batched(together, tables, torch.device("cpu"))
    for network, other in zip(together, alone, strict=True):
        for (name, weight), expected in zip(network.named_parameters(), other.parameters(), strict=True):
            torch.testing.assert_close(weight, expected, atol=1e-5, rtol=1e-4, msg=name)


def test_networks_without_factors_do_not_change() -> None:
    network = Network(SPECS, "pnp", DEFAULT)
    before = copy.deepcopy(network.state_dict())
    fit_factors_batched([network], [make_rows(50, 0)], torch.device("cpu"))
    assert all(torch.equal(part, before[name]) for name, part in network.state_dict().items())
