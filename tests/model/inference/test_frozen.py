"""A network at rest believes what the network believes."""

import numpy as np
import pytest
import torch


@pytest.mark.parametrize("set_encoder", ["zi", "zi-m", "pn", "pnp"])
@pytest.mark.parametrize("recipe", ["paper", "default"])
def test_a_network_at_rest_passes_as_it_did_in_motion(people_model, people, set_encoder, recipe):
    model = people_model(set_encoder=set_encoder, recipe=recipe)
    network, settled = model.network_, model.settled_
    rows = model.evidence(people(9, 1))
    values, observed = torch.from_numpy(rows.values), torch.from_numpy(rows.observed).float()
    code = network.code(values, observed)
    torch.testing.assert_close(settled.code(values, observed), code)
    before, after = network.posterior(code), settled.posterior(code)
    torch.testing.assert_close(after.mean, before.mean, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(after.log_var, before.log_var, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(settled.decode(after.mean), network.decode(after.mean))
    variables = torch.arange(rows.n_variables)
    torch.testing.assert_close(
        settled.term(values, variables), network.set_encoder.term(values, variables)
    )


def test_any_leading_shape_is_believed_row_by_row(people_model, people):
    model = people_model()
    code = model.code(model.evidence(people(6, 1)))
    whole, parts = model.posterior(code), model.posterior(code.view(2, 3, -1))
    assert parts.mean.shape == (2, 3, whole.mean.shape[-1])
    assert np.allclose(parts.mean.flatten(0, 1), whole.mean, atol=1e-6)
    assert np.allclose(parts.log_var.flatten(0, 1), whole.log_var, atol=1e-6)


@pytest.mark.parametrize("set_encoder", ["zi", "pnp"])
@pytest.mark.parametrize("recipe", ["paper", "default"])
def test_terms_add_up_in_a_code_that_has_entered(people_model, set_encoder, recipe):
    settled = people_model(set_encoder=set_encoder, recipe=recipe).settled_
    code = torch.randn(4, settled.lines.offset.shape[-1])
    terms = torch.randn_like(code)
    entered = settled.entered(code)
    before = entered.clone()
    together = settled.remaining_layers(entered + settled.added(terms))
    torch.testing.assert_close(together, settled.hidden(code + terms), rtol=1e-4, atol=1e-4)
    settled.remaining_layers(entered)
    assert torch.equal(entered, before)
