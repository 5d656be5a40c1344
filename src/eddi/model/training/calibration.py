"""Calibration of marginal predictions on rows that training did not see.

A network trained to fit becomes overconfident, the more so the more is observed. A few parameters per
variable correct this:

- The network's part of the outputs is reduced: they become a weighted mean of all outputs and those of the
  factor model alone (`network.factors.factor_head`). The weight of a variable is chosen by the likelihood,
  as in stacking (Wolpert 1992).
- The scale s of a quantity becomes stretch * s ** power: narrow predictions can be widened without
  changing wide ones.
- The logits of levels are divided by a temperature (Guo et al. 2017).
- The 90% interval of a quantity runs between two quantiles chosen such that nine in ten of the hidden
  true values lie inside, counted as in conformal prediction (Chernozhukov et al. 2021): the coverage then
  holds for another such row whatever the shape of the distribution. Predictions are counted among others
  of similar scale, because an interview selects informative questions and therefore observes more than
  equally many random answers would reveal.
"""

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.optim.rprop import rprop

from eddi.model.network.heads import Head
from eddi.model.network.likelihood import Likelihood
from eddi.model.network.marginals import N_SCALE_GROUPS, Marginals, group_by_scale
from eddi.model.network.network import Network
from eddi.model.prediction import COVERAGE
from eddi.model.training.objective import Batch
from eddi.table.variable import Kind

N_ITERATIONS = 40  # over two numbers per variable: converges to within a hundredth on a log scale
FIRST_STEP, STEP_RANGE = 0.1, (1e-4, 1.0)  # on a log scale
MAX_LOG_PARAM = 2.0  # of stretch and power; the scale of a constant variable would become 0
MIN_HIDDEN = 20  # with fewer hidden values, a variable's prediction is not calibrated
MIN_GROUP_VALUES = 50  # hidden values needed to count a scale group separately
EQUAL_SCALE = 1e-4  # relative difference below which two scales are equal
ROWS_PER_GROUP = 10  # different rows needed per scale group: nine inside, one outside
TAIL_MARGIN = 1e-4  # relative; well above the rounding errors of quantiles
MIN_TAIL_MASS = 1e-5  # float32 cannot distinguish quantiles beyond
PRIOR_ROWS = 3.0  # rows of likelihood needed to move a parameter by one (on a log scale)
SHARE_PRIOR_ROWS = 0.25  # the same for the log odds of the factor model's share
FIRST_SHARE = -1.0  # log odds of that share before any evidence


@dataclass(frozen=True)
class CalibrationData:
    """Predictions of held-out rows, each repeated with different parts hidden.

    `stack` adds a leading dimension [networks] to all tensors.
    """

    outputs: Tensor  # [masked rows, outputs] of network and factor model, not calibrated
    factor_outputs: Tensor | None  # [masked rows, outputs] by the factor model alone
    values: Tensor  # [masked rows, variables] the true values
    hidden: Tensor  # [masked rows, variables] weight where the true value was not visible, else 0
    n_rows: Tensor  # [variables] number of different rows with a value

    @classmethod
    def from_batch(
        cls,
        network: Network,
        batch: Batch,
        n_rows: int,
        *,
        ignored: Mapping[int, Sequence[int]] | None = None,
    ) -> "CalibrationData":
        """The predictions of a batch of ``n_rows`` rows, repeated with different masks.

        Predictions of a target do not see the variables that are ``ignored`` for it.
        """
        assert network.marginals is not None  # noqa: S101  # only marginal predictions are calibrated
        outputs, factor_outputs = _predict(network, batch)
        for target, variables in (ignored or {}).items():
            observed = batch.observed.clone()
            observed[:, list(variables)] = 0
            own, own_of_factors = _predict(network, replace(batch, observed=observed))
            rows = network.marginals.output_rows([target])
            outputs[:, rows] = own[:, rows]
            if factor_outputs is not None and own_of_factors is not None:
                factor_outputs[:, rows] = own_of_factors[:, rows]
        n_observed_rows = (batch.weights[:n_rows] > 0).sum(0)
        return cls(outputs, factor_outputs, batch.values, batch.hidden_weights, n_observed_rows)

    @classmethod
    def concatenate(cls, parts: "Sequence[CalibrationData]") -> "CalibrationData":
        """The predictions of different rows, possibly by different networks, as one set."""
        factor_outputs = [part.factor_outputs for part in parts if part.factor_outputs is not None]
        return cls(
            torch.cat([part.outputs for part in parts]),
            torch.cat(factor_outputs) if factor_outputs else None,
            torch.cat([part.values for part in parts]),
            torch.cat([part.hidden for part in parts]),
            torch.stack([part.n_rows for part in parts]).sum(0),
        )

    def entry_weights(self) -> Tensor:
        """The weight of each hidden entry [masked rows, variables]; a row of the table counts once."""
        n_hidden = self.hidden.sum(-2)
        is_enough = n_hidden >= MIN_HIDDEN
        return self.hidden * (is_enough * self.n_rows / n_hidden.clamp(min=1))[..., None, :]

    @classmethod
    def stack(cls, parts: "Sequence[CalibrationData]") -> "CalibrationData":
        """The predictions of several networks [networks, ...]; rows of padding are not hidden."""
        n_rows = max(len(part.values) for part in parts)

        def pad(tensors: Sequence[Tensor]) -> Tensor:
            return torch.stack([F.pad(tensor, (0, 0, 0, n_rows - len(tensor))) for tensor in tensors])

        factor_outputs = [part.factor_outputs for part in parts if part.factor_outputs is not None]
        return cls(
            pad([part.outputs for part in parts]),
            pad(factor_outputs) if factor_outputs else None,
            pad([part.values for part in parts]),
            pad([part.hidden for part in parts]),
            torch.stack([part.n_rows for part in parts]),
        )


@torch.no_grad()
def _predict(network: Network, batch: Batch) -> tuple[Tensor, Tensor | None]:
    """Outputs [rows, outputs] of network and factor model, and of the factor model alone."""
    features = network.features(network.code(batch.visible_values, batch.observed))
    return network.marginal_outputs(features), network.factor_outputs(features)


def calibrate(marginals: Marginals, data: CalibrationData) -> Tensor:
    """Set the calibration parameters from predictions of rows that training did not see.

    Returns these predictions, calibrated [masked rows, outputs].
    """
    return calibrate_batched([marginals], [data])[0]


def calibrate_batched(models: Sequence[Marginals], parts: Sequence[CalibrationData]) -> Tensor:
    """`calibrate` of several networks with the same variables at once, equal up to rounding.

    Returns the predictions [networks, masked rows, outputs]; networks with fewer rows have padding.
    """
    data = CalibrationData.stack(parts)
    weights, outputs = data.entry_weights(), data.outputs.clone()  # [networks, masked rows, ...]
    for heads in zip(*(marginals.heads() for marginals in models), strict=True):
        if data.factor_outputs is not None:
            _fit_share(models, heads, outputs, data.factor_outputs, data.values, weights)
        if heads[0].likelihood.has_levels:
            _fit_temperature(models, heads, outputs, data.values, weights)
        else:
            _fit_scale(heads, outputs, data.values, weights)
    with torch.no_grad():
        for marginals, *own in zip(models, outputs, data.values, weights, data.n_rows, strict=True):
            set_tail_masses(marginals, *own)
    return outputs


def _stack_likelihoods(heads: Sequence[Head]) -> Likelihood:
    """A likelihood of all networks [networks, rows, ...], without calibration parameters."""
    stacked = copy.deepcopy(heads[0].likelihood)
    for name, buffer in heads[0].likelihood.named_buffers():
        if name == "calibration_params":
            continue
        buffers = torch.stack([getattr(head.likelihood, name) for head in heads])
        if (buffers != buffer).any():
            setattr(stacked, name, buffers[:, None])
    return stacked


def _fit_scale(heads: Sequence[Head], outputs: Tensor, values: Tensor, hidden: Tensor) -> None:
    """Fit stretch and power of the scale of the heads' quantities."""
    likelihood = _stack_likelihoods(heads)
    own, truth, weights = _columns(heads[0], outputs, values, hidden)

    def negative_log_likelihood(log_params: Tensor) -> Tensor:
        likelihood.calibration_params = log_params.exp()
        return -(likelihood.log_prob(own, truth) * weights).sum()

    params = [head.likelihood.calibration_params for head in heads]
    start = torch.stack([p for p in params if p is not None], dim=1)[:, :, None].log()
    log_params = _minimise(negative_log_likelihood, start).clamp(-MAX_LOG_PARAM, MAX_LOG_PARAM)
    fitted = log_params.exp()  # [2, networks, 1, n]
    for head, own_params in zip(heads, fitted[:, :, 0].unbind(1), strict=True):
        head.likelihood.calibration_params = own_params.contiguous()


def _fit_share(
    models: Sequence[Marginals],
    heads: Sequence[Head],
    outputs: Tensor,
    factor_outputs: Tensor,
    values: Tensor,
    hidden: Tensor,
) -> None:
    """Fit the factor model's share of the outputs; changes output layers and ``outputs`` in place.

    The other parameters of calibration are fitted at the same time, and again afterwards.
    """
    likelihood, head = _stack_likelihoods(heads), heads[0]
    own, truth, weights = _columns(head, outputs, values, hidden)
    other, owner = factor_outputs[..., head.outputs], _output_owners(likelihood).to(own.device)

    def negative_log_likelihood(params: Tensor) -> Tensor:
        mixed = own + torch.sigmoid(params[0])[..., owner] * (other - own)
        if likelihood.has_levels:
            mixed = torch.exp(params[1])[..., owner] * mixed
        else:
            likelihood.calibration_params = params[1:].exp()
        return -(likelihood.log_prob(mixed, truth) * weights).sum()

    n_others = 1 if likelihood.has_levels else 2
    shape = (1 + n_others, len(heads), 1, likelihood.n_variables)
    start = own.new_tensor([FIRST_SHARE, *[0.0] * n_others]).view(-1, 1, 1, 1).expand(shape)
    prior_rows = own.new_tensor([SHARE_PRIOR_ROWS, *[PRIOR_ROWS] * n_others]).view(-1, 1, 1, 1)
    share = torch.sigmoid(_minimise(negative_log_likelihood, start, prior_rows)[0])
    share = torch.where(weights.sum(-2, keepdim=True) > 0, share, 0.0)[
        ..., owner
    ]  # [networks, 1, outputs]
    with torch.no_grad():
        outputs[..., head.outputs] += share * (other - own)
        for marginals, own_share in zip(models, share[:, 0], strict=True):
            assert marginals.factor_share is not None  # noqa: S101  # it comes with the factor model
            marginals.layer.weight[head.outputs] *= 1 - own_share[:, None]
            marginals.layer.bias[head.outputs] *= 1 - own_share
            marginals.factor_share[head.outputs] += own_share * (
                1 - marginals.factor_share[head.outputs]
            )


def _fit_temperature(
    models: Sequence[Marginals],
    heads: Sequence[Head],
    outputs: Tensor,
    values: Tensor,
    hidden: Tensor,
) -> None:
    """Fit a temperature per variable with levels; scales output layers and ``outputs`` in place."""
    likelihood, head = _stack_likelihoods(heads), heads[0]
    own, truth, weights = _columns(head, outputs, values, hidden)
    owner = _output_owners(likelihood).to(own.device)

    def negative_log_likelihood(log_factor: Tensor) -> Tensor:
        return -(likelihood.log_prob(own * torch.exp(log_factor[..., owner]), truth) * weights).sum()

    start = own.new_zeros((len(heads), 1, likelihood.n_variables))
    factor = torch.exp(_minimise(negative_log_likelihood, start))[..., owner]
    with torch.no_grad():
        outputs[..., head.outputs] *= factor
        for marginals, own_factor in zip(models, factor[:, 0], strict=True):
            marginals.layer.weight[head.outputs] *= own_factor[:, None]
            marginals.layer.bias[head.outputs] *= own_factor
            if marginals.factor_share is not None:
                marginals.factor_share[head.outputs] *= own_factor


def _columns(
    head: Head, outputs: Tensor, values: Tensor, hidden: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Outputs, true values and weights of the head's variables."""
    return outputs[..., head.outputs], values[..., head.variables], hidden[..., head.variables]


def _output_owners(likelihood: Likelihood) -> Tensor:
    """The variable (its place in the head) that each output belongs to."""
    rows = [likelihood.output_rows([place]) for place in range(likelihood.n_variables)]
    owner = torch.zeros(sum(map(len, rows)), dtype=torch.long)
    for place, own_rows in enumerate(rows):
        owner[own_rows] = place
    return owner


def _minimise(
    objective: Callable[[Tensor], Tensor], start: Tensor, prior_rows: Tensor | float = PRIOR_ROWS
) -> Tensor:
    """The minimum of an objective plus ``prior_rows`` times the squared distance from ``start``.

    Each parameter has a step size of its own (Rprop; Riedmiller and Braun 1993), because the objective is a
    sum over variables.
    """
    result, last = start.detach().clone(), torch.zeros_like(start)
    sizes, steps = torch.full_like(start, FIRST_STEP), torch.zeros(())
    for _ in range(N_ITERATIONS):
        params = result.clone().requires_grad_(True)
        with torch.enable_grad():
            total = objective(params) + (prior_rows * (params - start).square()).sum()
        (gradient,) = torch.autograd.grad(total, params)
        # The function behind torch.optim.Rprop: the class loads torch's compiler, which takes seconds.
        rprop(
            *([result], [gradient], [last], [sizes], [steps]),
            step_size_min=STEP_RANGE[0],
            step_size_max=STEP_RANGE[1],
            etaminus=0.5,
            etaplus=1.2,
        )
    return torch.where(torch.isfinite(result), result, start)  # an extreme value changes nothing


def set_tail_masses(
    marginals: Marginals, outputs: Tensor, values: Tensor, hidden: Tensor, n_rows: Tensor
) -> None:
    """Set the tail mass of 90% intervals such that nine in ten true values lie inside, by scale group.

    ``n_rows`` [variables] is the number of different rows with a value of each variable.
    """
    beyond, scale = _mass_beyond(marginals, outputs, values), marginals.predictive_scale(outputs)
    # On a CPU: the many small steps that follow would take longer to launch on a GPU.
    beyond, scale, hidden, n_rows = (tensor.cpu() for tensor in (beyond, scale, hidden, n_rows))
    all_edges, all_masses = marginals.group_edges.cpu(), marginals.tail_mass.cpu()
    for variable, spec in enumerate(marginals.specs):
        if spec.kind.is_discrete or not (is_hidden := hidden[:, variable] > 0).any():
            continue  # the interval of ordered levels is not calibrated: it contains whole levels
        edges, tail_mass = all_edges[:, variable], all_masses[:, variable]
        n_groups = min(max(int(n_rows[variable]) // ROWS_PER_GROUP, 1), N_SCALE_GROUPS)
        levels = torch.linspace(0, 1, n_groups + 1)[1:-1]
        own_scale, own_beyond = scale[is_hidden, variable], beyond[is_hidden, variable]
        edges.fill_(torch.inf)
        # Many rows may have the same scale, as all rows without evidence do; rounding must not
        # separate them.
        edges[: n_groups - 1] = torch.quantile(own_scale, levels) * (1 + EQUAL_SCALE)
        groups = group_by_scale(own_scale[:, None], edges[:, None])[:, 0]
        tail_mass.fill_(_conformal_tail(own_beyond))
        for group in range(n_groups):
            if (in_group := groups == group).sum() >= MIN_GROUP_VALUES:
                tail_mass[group] = _conformal_tail(own_beyond[in_group])
        tail_mass.clamp_(MIN_TAIL_MASS, 0.5 - MIN_TAIL_MASS)
    marginals.group_edges.copy_(all_edges)
    marginals.tail_mass.copy_(all_masses)


def _mass_beyond(marginals: Marginals, outputs: Tensor, values: Tensor) -> Tensor:
    """Predicted probability beyond the true value, on the side with less of it [rows, variables]."""
    cdf = marginals.cdf(outputs, values)
    is_count = torch.tensor([spec.kind is Kind.COUNT for spec in marginals.specs], device=values.device)
    # The density of a constant real variable may be infinite.
    at_value = torch.where(is_count, marginals.log_prob(outputs, values).exp(), 0.0)
    return torch.minimum(cdf, 1 - cdf + at_value)


def _conformal_tail(beyond: Tensor) -> float:
    """The largest tail mass that excludes at most one in ten true values, with one more to come."""
    rank = math.floor((1 - COVERAGE) * (len(beyond) + 1))
    if not rank:
        return (1 - COVERAGE) / 2
    # The true value of this rank is the end of the interval, and many counts may equal it; rounding must
    # not exclude them.
    return float(beyond.sort().values[rank - 1]) * (1 - TAIL_MARGIN)
