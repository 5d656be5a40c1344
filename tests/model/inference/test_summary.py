"""Predictions from predictive distributions, chunk by chunk."""

import numpy as np
import pytest
import torch

from eddi.model.inference.predictive import PredictiveDistribution
from eddi.model.inference.summary import insert_observed, summarise

NAMES = ["age", "town", "visits"]


@pytest.fixture
def outputs(model):
    return torch.randn((16, 5, model.network_.n_outputs), generator=torch.Generator().manual_seed(0))


def predict(model, outputs):
    return PredictiveDistribution.from_outputs(model.network_, outputs)


def summarise_outputs(model, *chunks):
    distributions = [predict(model, outputs) for outputs in chunks]
    return summarise(distributions, model.schema_, model.coding_, NAMES)


def test_chunks_are_joined_in_order(model, outputs):
    joined = summarise_outputs(model, outputs[:, :2], outputs[:, 2:])
    whole = summarise_outputs(model, outputs)
    assert list(joined) == NAMES
    assert np.allclose(joined["age"].mean, whole["age"].mean, rtol=1e-6)
    assert np.allclose(joined["age"].interval, whole["age"].interval, rtol=1e-5)
    assert np.allclose(joined["town"].probabilities, whole["town"].probabilities, atol=1e-6)
    assert np.array_equal(joined["visits"].interval, whole["visits"].interval)


def test_predictions_are_in_the_units_of_the_table(model, outputs):
    age = summarise_outputs(model, outputs)["age"]
    mean, sd = predict(model, outputs).moments()
    assert np.allclose(age.mean, mean[:, 0])
    assert np.allclose(age.sd, sd[:, 0])
    coded = predict(model, outputs).interval([0])[0][:, 0].double().numpy()
    expected = coded * model.coding_.scale[0] + model.coding_.shift[0]
    assert np.allclose(age.interval[:, 0], expected)


def test_a_category_has_no_mean_sd_or_interval(model, outputs):
    town = summarise_outputs(model, outputs)["town"]
    assert np.isnan([town.mean, town.sd]).all()
    assert np.isnan(town.interval).all()
    assert town.probabilities.shape == (5, 3)


def test_observed_values_are_predicted_with_certainty(model, outputs):
    predictions = summarise_outputs(model, outputs)
    numbers = np.array([[61.0, 2.0, 4.0]] * 5)
    observed = np.zeros((5, 3), dtype=bool)
    observed[1] = True
    inserted = insert_observed(predictions, numbers, observed)
    assert inserted["age"].mean[1] == 61
    assert inserted["age"].sd[1] == 0
    assert inserted["age"].interval[1].tolist() == [61, 61]
    assert inserted["town"].probabilities[1].tolist() == [0, 0, 1]
    assert inserted["visits"].interval[1].tolist() == [4, 4]
    for name, prediction in predictions.items():
        others = [0, 2, 3, 4]
        assert np.array_equal(inserted[name][others].sd, prediction[others].sd, equal_nan=True)
