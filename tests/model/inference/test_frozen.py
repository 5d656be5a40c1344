"""A frozen network computes what the network computes."""

import pytest
import torch

from eddi.model.inference.frozen import MAX_TRACED_ROWS, freeze_weights
from eddi.model.inference.traced import N_CHECKED_CALLS, N_PLAIN_CALLS
from eddi.model.network.likelihood import VariableSpec
from eddi.model.network.network import Network
from eddi.model.recipe import PAPER
from eddi.table.variable import Kind

ENCODERS = ("zi", "zi-m", "pn", "pnp")
RECIPES = ("paper", "default")


@pytest.mark.parametrize("n_rows", [1, 9])
@pytest.mark.parametrize("set_encoder", ENCODERS)
@pytest.mark.parametrize("recipe", RECIPES)
def test_packed_weights_do_not_change_the_results(people_model, people, set_encoder, recipe, n_rows):
    model = people_model(set_encoder=set_encoder, recipe=recipe).fitted()
    network, frozen = model.network, model.frozen
    rows = model.evidence(people(n_rows, 1))
    values, observed = torch.from_numpy(rows.values), torch.from_numpy(rows.observed).float()
    code = network.code(values, observed)
    torch.testing.assert_close(frozen.code(values, observed), code, rtol=1e-5, atol=1e-5)
    expected, posterior = network.posterior(code), frozen.posterior(code)
    torch.testing.assert_close(posterior.mean, expected.mean, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(posterior.log_var, expected.log_var, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(
        frozen.features(code).inputs, network.features(code).inputs, rtol=1e-4, atol=1e-5
    )
    torch.testing.assert_close(frozen.decode(posterior.mean), network.decode(posterior.mean))
    variables = torch.arange(rows.n_variables)
    torch.testing.assert_close(
        frozen.term(values, variables), network.set_encoder.term(values, variables)
    )


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_few_rows_are_encoded_by_a_trace_for_their_number(people_model, people, recipe):
    frozen, rows = (model := people_model(recipe=recipe).fitted()).frozen, people(MAX_TRACED_ROWS + 1, 1)
    inputs = model.inputs(model.evidence(rows))
    counts = (1, 3, MAX_TRACED_ROWS)
    with torch.inference_mode():
        for n_rows in counts * (N_PLAIN_CALLS + N_CHECKED_CALLS + 1):
            frozen.encode_inputs(*(part[:n_rows] for part in inputs))
        assert all(frozen._encode_rows(n_rows).is_traced for n_rows in counts)
        for n_rows in (*counts, MAX_TRACED_ROWS + 1):
            some = [part[:n_rows] for part in inputs]
            found, expected = frozen.encode_inputs(*some), frozen.encode(frozen.code(*some))
            for tensor, own in zip(expected.tensors(), found.tensors(), strict=True):
                torch.testing.assert_close(own, tensor)


@pytest.mark.parametrize("recipe", RECIPES)
def test_posteriors_take_any_leading_shape(people_model, people, recipe):
    model = people_model(recipe=recipe).fitted()
    code = model.code(model.evidence(people(6, 1)))
    flat, shaped = model.posterior(code), model.posterior(code.view(2, 3, -1))
    assert shaped.mean.shape == (2, 3, flat.mean.shape[-1])
    torch.testing.assert_close(shaped.mean.flatten(0, 1), flat.mean, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(shaped.log_var.flatten(0, 1), flat.log_var, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("set_encoder", ENCODERS)
@pytest.mark.parametrize("recipe", RECIPES)
def test_terms_are_additive_in_the_output_of_the_first_layer(people_model, set_encoder, recipe):
    frozen = people_model(set_encoder=set_encoder, recipe=recipe).fitted().frozen
    code = torch.randn(4, frozen.encoder.offset.shape[-1])
    terms = torch.randn_like(code)
    first = frozen.first_layer(code)
    before = first.clone()
    factors = frozen.factor_posterior(code + terms)
    features = frozen.features_from(first + frozen.first_layer_delta(terms), factors)
    torch.testing.assert_close(
        features.inputs, frozen.features(code + terms).inputs, rtol=1e-4, atol=1e-4
    )
    frozen.features_from(first, factors)
    assert torch.equal(first, before)


def test_frozen_weights_have_no_gradient_and_memory_of_their_own():
    network = Network([VariableSpec(Kind.REAL)], "pnp", PAPER)
    shared = torch.zeros(10_000)
    for weight in network.parameters():
        weight.data = shared[: weight.numel()].view_as(weight)
    freeze_weights(network)
    for weight in network.parameters():
        assert not weight.requires_grad
        assert weight.untyped_storage().nbytes() == weight.numel() * weight.element_size()
