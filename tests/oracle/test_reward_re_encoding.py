"""Both rewards equal those computed by encoding the evidence again for every possible answer."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.distributions import Normal, kl_divergence

from eddi.model.cache import Cache
from eddi.model.inference.answer_support import (
    MAX_RATIO_WITH_TIES,
    MAX_VARIANCE_RATIO,
    N_POINTS,
    normal_levels,
)
from eddi.model.network.heteroscedastic import HeteroscedasticGaussian
from eddi.reward.paper.latent_information import latent_information
from eddi.reward.paper.options import MAX_LEVELS
from eddi.reward.reward_context import EnumerationSettings, RewardContext
from eddi.table.evidence import Evidence

N_DRAWS = 6
SEED = 4
ENCODERS = ("zi", "zi-m", "pn", "pnp", "precision")
TARGETS = [["weight"], ["smoker"], ["pain", "age", "town"]]


class WithoutLevelProbabilities:
    """A model without level probabilities, so that every answer is drawn."""

    marginal_predictor = None

    def __init__(self, model):
        self.schema, self.network, self.frozen = model.schema, model.network, model.frozen
        self.cache = Cache()
        self.code, self.term, self.posterior = model.code, model.term, model.posterior
        self.draw, self.find_ignored = model.draw, model.find_ignored
        self.relevant_evidence = model.relevant_evidence

    def level_probabilities(self, *_, **__):
        return {}


def reveal(row, answer):
    """The row with more observed values, by position."""
    values, observed = row.values.copy(), row.observed.copy()
    for variable, value in answer.items():
        values[0, variable], observed[0, variable] = value, True
    return Evidence(values, observed)


def encode(model, row, answer):
    """q(z | x_O and the answer), from scratch."""
    return model.posterior(model.code(reveal(row, answer)))


def possible_values(variables, draw, probabilities):
    """The values that these variables may have in one draw, with their probabilities."""
    if len(variables) == 1 and variables[0] in probabilities:
        return [({variables[0]: level}, p) for level, p in enumerate(probabilities[variables[0]])]
    return [({variable: draw[variable] for variable in variables}, 1.0)]


def naive_latent_reward(model, row, target, question):
    """Equation 8 of the paper as a loop over draws and possible answers."""
    before = encode(model, row, {})
    draws = model.draw(before, N_DRAWS, seed=SEED)[:, 0].numpy()
    by_variable = model.level_probabilities(before, N_DRAWS, seed=SEED)
    few = {place: p for place, p in by_variable.items() if p.shape[-1] <= MAX_LEVELS}
    open_target = [place for place in target if not row.observed[0, place]]
    total = 0.0
    for number, draw in enumerate(draws):
        probabilities = {place: p[number, 0].tolist() for place, p in few.items()}
        enumerated = probabilities if len(target) == 1 else {}
        for answer, p_answer in possible_values(question, draw, probabilities):
            total += p_answer * float(encode(model, row, answer).kl(before))
            for values, p_target in possible_values(open_target, draw, enumerated):
                after = encode(model, row, {**values, **answer})
                total -= p_answer * p_target * float(after.kl(encode(model, row, values)))
    return total / N_DRAWS


def naive_target_reward(model, row, target, question):
    """The mutual information of the answer and the marginal predictions, as a loop over possible answers."""
    marginals = model.network.marginals

    def predict(evidence):
        values, observed = torch.from_numpy(evidence.values), torch.from_numpy(evidence.observed)
        code = model.network.code(values, observed.float())
        return predicted_outputs(model.network, model.network.features(code))

    before = predict(row)
    answers = possible_answers(model, row, question)
    weights = torch.tensor([probability for _, probability in answers])
    after = torch.cat([predict(reveal(row, answer)) for answer, _ in answers])
    total = 0.0
    for variable in target:
        if not row.observed[0, variable]:
            head, place = marginals.head_of(variable)
            own, own_before = after[:, head.outputs], before[:, head.outputs]
            nats = weights @ head.likelihood.kl(own, own_before)[:, place]
            if len(question) == 1:
                nats -= naive_mixture_kl(head.likelihood, own, own_before, weights)[place]
            total += float(nats)
    return total


def naive_mixture_kl(likelihood, after, before, weights):
    """KL(mixture of predictions || present one) of each variable."""
    if likelihood.has_levels:
        mean = (weights[:, None, None] * likelihood.probabilities(after)).sum(0)  # [variables, levels]
        present = likelihood.probabilities(before)[0]
        return torch.where(present > 1e-9, mean * (mean / present).log(), 0.0).sum(-1)
    if not isinstance(likelihood, HeteroscedasticGaussian):  # of counts, it is taken to be 0
        return torch.zeros(likelihood.n_variables)
    (means, sds), (mean, sd) = likelihood.mean_and_sd(after), likelihood.mean_and_sd(before)
    mixed = weights @ means
    mixed_sd = (weights @ (sds.square() + (means - mixed).square())).sqrt()
    return kl_divergence(Normal(mixed, mixed_sd), Normal(mean[0], sd[0]))


def predicted_outputs(network, features):
    """Outputs of the marginal heads, with the share of the factor model."""
    outputs = network.marginals(features.inputs)
    logits = network.factor_outputs(features)
    return outputs if logits is None else outputs + network.marginals.factor_share * logits


def possible_answers(model, row, question):
    """All levels or atoms of one variable; joint draws of several variables."""
    code = model.network.code(torch.from_numpy(row.values), torch.from_numpy(row.observed).float())
    if len(question) > 1:
        draws = model.draw(model.posterior(code), N_DRAWS, seed=SEED)[:, 0]
        return [
            ({variable: float(draw[variable]) for variable in question}, 1 / N_DRAWS) for draw in draws
        ]
    (variable,) = question
    features = model.network.features(code)
    marginals = model.network.marginals
    if variable in (quantities := marginals.quantities.tolist()):
        nothing = torch.zeros((1, len(model.network.specs)))
        without_evidence = model.network.features(model.network.code(nothing, nothing))
        values, probabilities = possible_quantities(
            marginals, features.inputs, quantities.index(variable), without_evidence.inputs
        )
    else:
        head, place = marginals.head_of(variable)
        outputs = predicted_outputs(model.network, features)[:, head.outputs]
        probabilities = head.likelihood.probabilities(outputs)[0, place].tolist()
        values = range(len(probabilities))
    return [({variable: value}, p) for value, p in zip(values, probabilities, strict=True) if p > 0]


def variance_ratio(marginals, features, place):
    """The variance of the atoms' distribution divided by the predicted variance."""
    atoms = marginals.atoms
    values, spread = atoms.values[place].numpy(), atoms.spread[place].numpy()
    probabilities = atoms.log_probabilities(features)[0, place].exp().numpy()
    mean = probabilities @ values
    variance = probabilities @ ((values - mean) ** 2 + spread**2)
    head, place_in_head = marginals.head_of(int(marginals.quantities[place]))
    outputs = marginals(features)[:, head.outputs]
    return variance / head.likelihood.predictive_scale(outputs)[0, place_in_head].item() ** 2


def possible_quantities(marginals, features, place, without_evidence):
    """The atoms of a quantity, or points of its predicted distribution if that is much narrower."""
    atoms = marginals.atoms
    values, spread = atoms.values[place].numpy(), atoms.spread[place].numpy()
    probabilities = atoms.log_probabilities(features)[0, place].exp().numpy()
    max_ratio = MAX_VARIANCE_RATIO if spread.all() else MAX_RATIO_WITH_TIES
    max_ratio *= max(1.0, variance_ratio(marginals, without_evidence, place))
    if not spread.any() or variance_ratio(marginals, features, place) <= max_ratio:
        return values.tolist(), probabilities.tolist()
    head, place_in_head = marginals.head_of(int(marginals.quantities[place]))
    outputs = marginals(features)[:, head.outputs]
    points = [
        head.likelihood.quantile(outputs, torch.full((1, head.likelihood.n_variables), level))
        for level in normal_levels(N_POINTS).tolist()
    ]
    return [point[0, place_in_head].item() for point in points], [1 / N_POINTS] * N_POINTS


def naive_rewards(naive_reward, model, rows, target):
    """The rewards of all rows and questions, one by one."""
    positions = model.schema.positions(target)

    def reward(row, question):
        unobserved = [place for place in question if not row.observed[0, place]]
        is_open = unobserved and not set(unobserved) & set(positions)
        is_done = row.observed[0, positions].all()
        return naive_reward(model, row, positions, unobserved) if is_open and not is_done else 0.0

    questions = [model.schema.positions(question.reveals) for question in model.schema.questions]
    return torch.tensor(
        [[reward(rows[[place]], question) for question in questions] for place in range(len(rows))]
    )


@pytest.fixture(scope="module", params=ENCODERS)
def fitted(request, people_model, people_schema):
    """A model with one question that reveals two variables."""
    schema = people_schema.with_question("body", reveals=["age", "weight"])
    fitted = people_model(request.param).fitted()
    network = copy.deepcopy(fitted.network)
    if network.n_factors:  # give the factor model a share, whatever calibration found
        for head in network.marginals.heads():
            network.marginals.factor_share[head.outputs] = 0.4 * head.likelihood.has_levels
    return replace(fitted, schema=schema, network=network)


@pytest.fixture(scope="module")
def rows(model, people):
    hidden = np.random.default_rng(0).random((3, 8)) < [[1.0], [0.5], [0.6]]
    return model.evidence(people(3, 9)).hide(hidden)


@pytest.mark.parametrize("target", TARGETS, ids="-".join)
@pytest.mark.parametrize(
    "view", [lambda model: model, WithoutLevelProbabilities], ids=["enumerated", "drawn"]
)
def test_the_latent_reward_is_that_of_full_re_encoding(fitted, rows, target, view):
    model = view(fitted)
    rewards = latent_information(model, rows, target, n_draws=N_DRAWS, seed=SEED)
    expected = naive_rewards(naive_latent_reward, model, rows, target)
    assert (rewards != 0).any()
    torch.testing.assert_close(rewards, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("target", TARGETS, ids="-".join)
def test_the_target_reward_is_that_of_full_re_encoding(fitted, rows, target):
    with torch.inference_mode():
        context = RewardContext.from_evidence(fitted, rows, fitted.schema.positions(target))
        rewards = context.rewards(EnumerationSettings(n_draws=N_DRAWS, seed=SEED))
    expected = naive_rewards(naive_target_reward, fitted, rows, target)
    assert (rewards != 0).any()
    torch.testing.assert_close(rewards, expected, rtol=1e-4, atol=1e-5)
