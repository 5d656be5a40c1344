import torch

from eddi.model.network.factors.factor_model import FactorPosterior
from eddi.model.network.features import Features


def test_the_first_rows_have_their_own_factors():
    posterior = FactorPosterior(torch.arange(6.0).view(3, 2), torch.eye(2).expand(3, 2, 2))
    first = Features(torch.arange(12.0).view(3, 4), posterior).first(2)
    assert first.inputs.tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert first.factors.mean.tolist() == [[0, 1], [2, 3]]
    assert first.factors.covariance.shape == (2, 2, 2)


def test_features_without_factors_stay_without():
    assert Features(torch.zeros(3, 4), None).first(2).factors is None
