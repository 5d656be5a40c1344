"""Mutual information of an answer and a target with levels, from predictions of the answer.

Mutual information is symmetric. The reward predicts the target after each answer (`reward_context`). If
the target has levels c, the same information is

I(x_t; x_i | x_O) = sum over c of p(x_t = c | x_O) KL[p(x_i | x_t = c, x_O) || m(x_i)]
m(x_i)            = sum over c of p(x_t = c | x_O) p(x_i | x_t = c, x_O),

which takes one pass of the network for each level, however many questions are open. If all predictions
came from one joint distribution, both estimates would be equal. Learned predictions have errors, and the
two estimates have different ones. Where variables are collinear, a target may depend on small differences
between an answer and its prediction. The distribution of the answer is then a mixture of narrow
components, and this estimate integrates over each of them separately.

A target with many levels has few training rows per level, so predictions given a level are poor.
"""

from collections.abc import Iterator

import torch
from torch import Tensor

from eddi.model.inference.answer_support import N_QUADRATURE_POINTS, QuantitySupport
from eddi.model.inference.variable_head import VariableHead
from eddi.model.network.features import Features
from eddi.model.network.levels import level_mixture_kl
from eddi.reward.candidates import RevealedVariables
from eddi.reward.reward_context import EnumerationSettings, RewardContext
from eddi.table.variable import Kind

MIN_WEIGHT = 1e-30  # of a component, so that its logarithm is finite
MAX_LOG_RATIO = 80.0  # of densities, so that its exponential is finite in single precision
MAX_CELLS = 2**24  # numbers of one tensor: 64 MB; a few such tensors exist at the same time


def average_with_reverse(
    context: RewardContext, rewards: Tensor, is_enumerated: Tensor, settings: EnumerationSettings
) -> Tensor:
    """The mean of the ``rewards`` [rows, questions] and the reverse estimate of the same information.

    Questions without a reverse estimate keep their reward: see `find_reversible`. So do those that reveal
    several variables.

    Args:
        context: rows, and targets that all have levels.
        rewards: from predictions of the targets after each answer.
        is_enumerated: pairs of an open question and the only variable that it reveals [rows, pairs].
        settings: how finely answers are enumerated.
    """
    if not is_enumerated.numel():
        return rewards
    revealed = RevealedVariables.from_model(context.model, context.target)
    question = torch.from_numpy(revealed.question).to(rewards.device)
    variable = torch.from_numpy(revealed.variable).to(rewards.device)
    is_averaged = is_enumerated & find_reversible(context, settings)[:, variable]
    nats = torch.zeros_like(rewards)
    for target in context.target:
        by_variable = torch.cat(list(_compute_information(context, target, settings)))
        is_counted = is_averaged & context.is_unobserved(target)
        nats = nats.index_add(1, question, torch.where(is_counted, by_variable[:, variable], 0.0))
    n_averaged = torch.zeros_like(rewards).index_add(1, question, is_averaged.to(rewards.dtype))
    return torch.where(n_averaged > 0, 0.5 * (rewards + nats), rewards)


def find_reversible(context: RewardContext, settings: EnumerationSettings) -> Tensor:
    """Whether there is a reverse estimate for each variable [rows, variables].

    There is one for levels, and for a quantity that is about normal or predicted precisely: most of these
    predictions start from the factor model. The atoms of other quantities do not, and are learned slowly.
    """
    predictor, shape = context.predictor, context.observed.shape
    kinds = [spec.kind.has_levels for spec in predictor.marginals.specs]
    is_reversible = torch.tensor(kinds, device=context.first_layer.device).repeat(shape[0], 1)
    for part in predictor.answer_support(settings.n_points).parts:
        if isinstance(part, QuantitySupport):
            is_coarse = part.is_coarse(context.support_outputs)
            is_reversible[:, part.variables] = part.is_normal | is_coarse
    return is_reversible


def _compute_information(
    context: RewardContext, target: int, settings: EnumerationSettings
) -> Iterator[Tensor]:
    """Information between a target and every variable [rows, variables], in batches of rows.

    It is 0 for survival variables. That of skewed quantities is not used: see `find_reversible`.
    """
    predictor, n_variables = context.predictor, context.observed.shape[1]
    specs = predictor.marginals.specs
    parts = predictor.answer_support(settings.n_points).parts
    quantities = [part for part in parts if isinstance(part, QuantitySupport)]
    others = [
        place
        for place, spec in enumerate(specs)
        if place != target and spec.kind.has_levels and spec.kind is not Kind.SURVIVAL
    ]
    all_weights = context.level_probabilities(target)  # [rows, levels]
    n_levels = all_weights.shape[1]
    max_levels = max(spec.n_levels for spec in specs)
    n_by_variable = max(
        n_levels * max(N_QUADRATURE_POINTS * n_levels, max_levels), context.n_factor_cells // n_variables
    )
    n_rows = max(1, MAX_CELLS // (n_by_variable * n_variables))
    for start in range(0, len(all_weights), n_rows):
        rows = slice(start, start + n_rows)
        weights = all_weights[rows]
        features = context.features_after_levels(target, n_levels, rows=rows)
        nats = weights.new_zeros((len(weights), n_variables))
        if others:
            nats[:, others] = _discrete_information(predictor.target_head(others), features, weights)
        for part in quantities:
            outputs = predictor.target_head(part.variables)(features).view(*weights.shape, -1)
            nats[:, part.variables] = quantity_information(part, outputs, weights)
        yield nats


def _discrete_information(head: VariableHead, features: Features, weights: Tensor) -> Tensor:
    """`level_information` for the variables of a head [rows, variables]."""
    outputs = head(features).view(*weights.shape, -1)
    parts = [
        level_information(group.likelihood.probabilities(outputs[..., group.outputs]), weights)
        for group in head.groups
    ]
    return torch.cat(parts, dim=1).index_select(1, torch.argsort(head.order))


def level_information(probabilities: Tensor, weights: Tensor) -> Tensor:
    """Information between a component and a draw from it, for variables with levels [rows, variables].

    Args:
        probabilities: of the levels in each component [rows, components, variables, levels].
        weights: of the components [rows, components].
    """
    mixture = (probabilities * weights[..., None, None]).sum(1, keepdim=True)
    divergence = level_mixture_kl(probabilities - mixture, mixture)
    return (divergence * weights[..., None]).sum(1).clamp_min(0)


def quantity_information(part: QuantitySupport, outputs: Tensor, weights: Tensor) -> Tensor:
    """Information between a component and a draw from it, for quantities [rows, variables].

    The expectation over each component is that over equally likely points.

    Args:
        part: the quantities.
        outputs: of these quantities in each component [rows, components, outputs].
        weights: of the components [rows, components].
    """
    points = part.quadrature_points(outputs)  # [points, rows, components, quantities]
    log_prob = part.heads.log_prob(outputs[:, None], points[..., None, :])
    weighted = log_prob + weights.clamp_min(MIN_WEIGHT).log()[:, None, :, None]
    of_component = log_prob.diagonal(dim1=2, dim2=3).mT  # [points, rows, components, quantities]
    log_ratio = weighted - of_component[:, :, :, None]  # [..., components, other components, quantities]
    # At least MIN_WEIGHT, since the ratio of a component to itself is its weight: the logarithm is finite.
    ratio = log_ratio.clamp_max(MAX_LOG_RATIO).exp().sum(3)
    nats = -ratio.log().mean(0)
    return (nats * weights[..., None]).sum(1).clamp_min(0)
