import copy

import numpy as np
import pytest
import torch

from eddi.model.network.likelihood import VariableSpec
from eddi.model.network.network import Network
from eddi.model.recipe import DEFAULT, adapt_to_rows
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind

SPECS = [
    VariableSpec(Kind.REAL),
    VariableSpec(Kind.REAL),
    VariableSpec(Kind.BINARY, n_levels=2),
    VariableSpec(Kind.CATEGORY, n_levels=3),
    VariableSpec(Kind.CATEGORY, n_levels=6),
]


def draw_rows(n_rows, seed=0):
    random = np.random.default_rng(seed)
    z = random.normal(size=n_rows)
    columns = [z, z + random.normal(size=n_rows), z > 0, random.integers(0, 3, n_rows)]
    values = np.stack([*columns, random.integers(0, 6, n_rows)], axis=1).astype(np.float32)
    return Evidence(values, np.ones_like(values, dtype=bool))


@pytest.fixture(scope="module")
def network():
    torch.manual_seed(0)
    network = Network(SPECS, "precision", adapt_to_rows(DEFAULT, 100))
    network.fit_factors(draw_rows(100))
    return network.requires_grad_(False)


def features_of(network, rows):
    values = torch.from_numpy(rows.values)
    observed = torch.ones_like(values)
    observed[:, 1:] = 0  # only the first variable
    return network.features(network.code(values * observed, observed))


def test_an_untrained_network_predicts_like_the_factor_model(network):
    features = features_of(network, draw_rows(20, seed=1))
    outputs, of_factors = network.marginal_outputs(features), network.factor_outputs(features)
    separated = [row for variable in range(4) for row in network.marginals.output_rows([variable])]
    torch.testing.assert_close(outputs[:, separated], of_factors[:, separated])


def test_a_category_with_too_many_levels_starts_from_their_shares(network):
    rows = network.marginals.output_rows([4])
    outputs = network.marginal_outputs(features_of(network, draw_rows(20, seed=1)))[:, rows]
    shares = torch.bincount(torch.from_numpy(draw_rows(100).values[:, 4]).long()) + 0.5
    torch.testing.assert_close(outputs.softmax(-1), (shares / shares.sum()).expand(20, -1))


def test_the_head_of_training_is_that_of_inference(network):
    features = features_of(network, draw_rows(20, seed=1))
    packed = network.set_encoder.encoder_weights().factors
    head = network.marginals.factor_head(packed, range(len(SPECS)))
    torch.testing.assert_close(network.factor_outputs(features), head.outputs(features.factors))


def test_a_part_that_adds_nothing_is_left_out(network):
    marginals = copy.deepcopy(network.marginals)
    marginals.factor_share.zero_()
    packed = network.set_encoder.encoder_weights().factors
    assert marginals.factor_head(packed, range(len(SPECS))).only_used() is None
