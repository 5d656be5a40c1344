"""Mutual information of an answer and a target with levels, from predictions of the answer.

Mutual information is symmetric. The reward predicts the target after each answer (`reward_context`). If
the target has levels c, it is also

I(x_t; x_i | x_O) = sum over c of p(x_t = c | x_O) KL[p(x_i | x_t = c, x_O) || m(x_i)]
m(x_i)            = sum over c of p(x_t = c | x_O) p(x_i | x_t = c, x_O),

which takes one pass of the network for each level, however many questions are open. In a joint
distribution both are equal. Learned predictions have errors, and those of the two estimates differ. Where
variables are collinear, a target may depend on small differences between an answer and its prediction: the
distribution of the answer is then a mixture of narrow components, which this estimate integrates exactly.
Of many levels, each one is rarely observed in training, and predictions given a rare level are poor.
"""

from collections.abc import Iterator

import torch
from torch import Tensor

from eddi.model.inference.answer_support import QuantitySupport
from eddi.model.network.hazards import DiscreteHazard
from eddi.model.network.levels import level_mixture_kl
from eddi.reward.candidates import RevealedVariables
from eddi.reward.reward_context import EnumerationSettings, RewardContext

N_POINTS = 8  # of every component of a quantity's distribution
MIN_WEIGHT = 1e-30  # of a component in logarithms
MAX_CELLS = 2**24  # points, rows, pairs of components and quantities at once: 64 MB


def average_with_reverse(
    context: RewardContext, rewards: Tensor, is_enumerated: Tensor, settings: EnumerationSettings
) -> Tensor:
    """The mean of the ``rewards`` [rows, questions] and the reverse estimate of the same information.

    All targets must have levels. Other questions than those described here keep their reward.

    Args:
        context: the rows.
        rewards: from predictions of the targets after each answer.
        is_enumerated: pairs of an open question and the only variable that it reveals [rows, pairs].
        settings: how finely answers are enumerated.
    """
    revealed = RevealedVariables.from_model(context.model, context.target)
    question = torch.from_numpy(revealed.question).to(rewards.device)
    variable = torch.from_numpy(revealed.variable).to(rewards.device)
    is_averaged = is_enumerated & has_reverse(context, settings)[:, variable]
    nats = torch.zeros_like(rewards)
    for target in context.target:
        by_variable = torch.cat(list(_information(context, target, settings)))
        is_counted = is_averaged * context.is_unobserved(target)
        nats = nats.index_add(1, question, by_variable[:, variable] * is_counted)
    n_averaged = torch.zeros_like(rewards).index_add(1, question, is_averaged.to(rewards.dtype))
    return torch.where(n_averaged > 0, 0.5 * (rewards + nats), rewards)


def has_reverse(context: RewardContext, settings: EnumerationSettings) -> Tensor:
    """Whether the distribution of a variable is known well enough [rows, variables].

    It is that of levels, and that of a quantity which is about normal or predicted precisely: predictions
    of these start from the factor model. The atoms of other quantities do not. They are learned slowly.
    """
    predictor, shape = context.predictor, context.observed.shape
    kinds = [spec.kind.has_levels for spec in predictor.marginals.specs]
    is_known = torch.tensor(kinds, device=context.first_layer.device).repeat(shape[0], 1)
    for part in predictor.answer_support(settings.n_points).parts:
        if isinstance(part, QuantitySupport):
            is_known[:, part.variables] = part.is_normal | part.is_coarse(context.support_outputs)
    return is_known


def _information(context: RewardContext, target: int, settings: EnumerationSettings) -> Iterator[Tensor]:
    """Information between a target and every variable [rows, variables], in batches of rows.

    It is 0 for variables without a reverse estimate.
    """
    support = context.predictor.answer_support(settings.n_points)
    head = context.predictor.target_head(range(context.observed.shape[1]))
    quantities = [part for part in support.parts if isinstance(part, QuantitySupport)]
    n_cells = N_POINTS * int(support.count[target]) ** 2 * context.observed.shape[1]
    n_rows, batch = len(context.first_layer), max(1, MAX_CELLS // n_cells)
    for start in range(0, max(n_rows, 1), batch):
        answers, weights = context.target_answers(target, slice(start, start + batch), settings)
        outputs = head(context.features_after(answers)).view(*weights.shape, -1)
        nats = weights.new_zeros((len(weights), context.observed.shape[1]))
        for group in head.groups:
            if group.likelihood.has_levels and not isinstance(group.likelihood, DiscreteHazard):
                probabilities = group.likelihood.probabilities(outputs[..., group.outputs])
                nats[:, group.variables] = level_information(probabilities, weights)
        for part in quantities:
            nats[:, part.variables] = quantity_information(part, outputs, weights)
        yield nats


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
        outputs: of all variables in each component [rows, components, outputs].
        weights: of the components [rows, components].
    """
    own, log_weights = part.own_outputs(outputs), weights.clamp_min(MIN_WEIGHT).log()
    points = part.points(own, N_POINTS)  # [points, rows, components, quantities]
    log_prob = part.heads.log_prob(own[:, None], points[..., None, :])  # [..., components, quantities]
    of_component = log_prob.diagonal(dim1=2, dim2=3)  # [points, rows, quantities, components]
    of_mixture = torch.logsumexp(log_prob + log_weights[:, None, :, None], dim=3)
    nats = (of_component.mT - of_mixture).mean(0)  # [rows, components, quantities]
    return (nats * weights[..., None]).sum(1).clamp_min(0)
