"""From beliefs to predictions, chunk by chunk."""

import numpy as np
import torch

from eddi.model.inference.predictive import PredictiveDistribution
from eddi.model.inference.summary import summarise


def beliefs(model, n_rows):
    torch.manual_seed(0)
    outputs = torch.randn(16, n_rows, model.network_.n_outputs)
    return outputs, lambda part: PredictiveDistribution(
        model.network_, part, model.network_.interval_tail_mass(part)
    )


def test_chunks_are_joined_in_order(model):
    outputs, belief = beliefs(model, 5)
    names = ["age", "town", "visits"]
    chunks = [belief(outputs[:, :2]), belief(outputs[:, 2:])]
    joined = summarise(chunks, model.schema_, model.coding_, names)
    whole = summarise([belief(outputs)], model.schema_, model.coding_, names)
    assert list(joined) == names
    assert np.allclose(joined["age"].mean, whole["age"].mean, rtol=1e-6)
    assert np.allclose(joined["age"].interval, whole["age"].interval, rtol=1e-5)
    assert np.allclose(joined["town"].probabilities, whole["town"].probabilities, atol=1e-6)
    assert np.array_equal(joined["visits"].interval, whole["visits"].interval)


def test_numbers_are_the_tables_own(model):
    outputs, belief = beliefs(model, 3)
    age = summarise([belief(outputs)], model.schema_, model.coding_, ["age"])["age"]
    mean, sd = belief(outputs).moments()
    assert np.allclose(age.mean, mean[:, 0])
    assert np.allclose(age.sd, sd[:, 0])
    coded = belief(outputs).interval([0])[0][:, 0].double().numpy()
    expected = coded * model.coding_.scale[0] + model.coding_.shift[0]
    assert np.allclose(age.interval[:, 0], expected)


def test_a_category_has_no_mean_sd_or_interval(model):
    outputs, belief = beliefs(model, 2)
    town = summarise([belief(outputs)], model.schema_, model.coding_, ["town"])["town"]
    assert np.isnan([town.mean, town.sd]).all()
    assert np.isnan(town.interval).all()
    assert town.probabilities.shape == (2, 3)
