"""One layer gives the outputs of all variables and the logits of all atoms."""

import numpy as np
import pytest
import torch

import eddi
from eddi.table.evidence import Evidence


@pytest.fixture(scope="module")
def fitted(people_model):
    return people_model(set_encoder="precision").fitted()


@pytest.fixture(scope="module")
def features(fitted, people):
    with torch.inference_mode():
        return fitted.frozen.features(fitted.code(fitted.evidence(people(6, seed=2))))


def test_outputs_are_those_of_the_heads_of_all_variables(fitted, features):
    predictor = fitted.marginal_predictor
    head = predictor.target_head(range(len(fitted.schema.variables)))
    torch.testing.assert_close(predictor.support_head(features).by_output, head(features))


def test_rows_of_a_head_select_its_outputs(fitted, features):
    predictor = fitted.marginal_predictor
    head = predictor.target_head([5, 0])
    outputs = predictor.support_head(features).by_output
    torch.testing.assert_close(outputs[:, head.rows], head(features))


def test_logits_give_the_probabilities_of_the_atoms(fitted, features):
    logits = fitted.marginal_predictor.support_head(features).atom_logits
    expected = fitted.network.marginals.atoms.log_probabilities(features.inputs)
    torch.testing.assert_close(logits.log_softmax(-1), expected)


def test_a_table_without_quantities_has_no_atoms():
    schema = eddi.Schema(
        tuple(eddi.Variable(name, "binary", levels=(0, 1)) for name in ("x0", "x1", "x2"))
    )
    table = np.random.default_rng(0).integers(0, 2, size=(30, 3))
    fitted = eddi.PartialVAE(schema, max_steps=1, random_state=0).fit(table).fitted()
    with torch.inference_mode():
        features = fitted.frozen.features(fitted.code(Evidence.empty(2, 3)))
        outputs = fitted.marginal_predictor.support_head(features)
    assert outputs.atom_logits.numel() == 0
    assert outputs.by_output.shape == (2, 3)
