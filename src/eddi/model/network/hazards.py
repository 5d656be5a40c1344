"""The likelihood of survival variables: discrete-time hazards with proportional and slowly changing effects.

The time is divided into bins (`table.survival.time_bins`). With the cumulative hazard L_k of bin k,

    P(no event in bin k | none before) = exp(-L_k),    log L_k = log base_k + sum over j of o_j P_j(k).

``base`` is the hazard of the training rows without covariates (Kaplan and Meier 1958). The outputs o_j
multiply Legendre polynomials of the bin: the first one is the log hazard ratio of a proportional-hazards
model for grouped times (Prentice and Gloeckler 1978), and the others let it change with time. So a few
outputs describe all bins, and few events suffice.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from eddi.model.network.levels import at_level, level_moments, level_quantile
from eddi.model.network.likelihood import UNREACHABLE, Likelihood, VariableSpec
from eddi.table.survival.time_bins import CENSORED_SHIFT, CENSORED_WIDTH

N_EFFECTS = 3  # outputs per variable: constant, linear and quadratic in the bin
LOG_HAZARD_RANGE = (-14.0, 4.0)  # of a bin; beyond, an event is impossible or certain in float32
MIN_EVENTS, MIN_EXPOSURE = 0.25, 0.25  # of a bin, so that its base hazard is positive and finite


class DiscreteHazard(Likelihood):
    """A survival variable; its levels are the bins of its time."""

    has_levels = True
    log_base: Tensor  # [n, bins - 1] log hazards without covariates
    effects: Tensor  # [n, bins - 1, N_EFFECTS] Legendre polynomials of the bins
    is_hazard: Tensor  # [n, bins - 1] False for padding: a variable may have fewer bins

    def __init__(self, specs: Sequence[VariableSpec]) -> None:
        super().__init__(len(specs), n_outputs=N_EFFECTS * len(specs))
        counts = torch.tensor([spec.n_levels - 1 for spec in specs])[:, None]
        within = torch.arange(int(counts.max()))
        position = 2 * (within + 0.5) / counts - 1  # from -1 to 1
        polynomials = [torch.ones_like(position), position, 1.5 * position.square() - 0.5]
        self.register_buffer("log_base", torch.full(position.shape, -2.0))
        self.register_buffer("effects", torch.stack(polynomials, dim=-1), persistent=False)
        self.register_buffer("is_hazard", within < counts, persistent=False)

    def init_from_data(self, values: Tensor, observed: Tensor) -> None:
        """Set the base hazards to those of a table, given numbers and a mask [rows, n]."""
        events, exposure = count_events(values, observed, self.log_base.shape[1])
        ratio = events.sum(0).clamp(min=MIN_EVENTS) / exposure.sum(0).clamp(min=MIN_EXPOSURE)
        self.log_base.copy_(torch.log(torch.log1p(ratio)))

    def copy_data(self, other: Likelihood, places: Sequence[int]) -> None:
        assert isinstance(other, DiscreteHazard)  # noqa: S101  # a head has one kind
        self.log_base.copy_(other.log_base[list(places), : self.log_base.shape[1]])

    def hazards(self, outputs: Tensor) -> Tensor:
        """Cumulative hazards of the bins but the last [..., n, bins - 1]; huge for padding."""
        by_variable = outputs.reshape(*outputs.shape[:-1], self.n_variables, N_EFFECTS)
        change = (by_variable[..., None, :] * self.effects).sum(-1)
        log_hazard = (self.log_base + change).clamp(*LOG_HAZARD_RANGE)
        return torch.where(self.is_hazard, log_hazard.exp(), UNREACHABLE)

    def log_probs(self, outputs: Tensor) -> Tensor:
        """Log probability of every bin [..., n, bins]; very small for padding."""
        hazards = self.hazards(outputs)
        before = _log_survival(hazards)
        return before + torch.nn.functional.pad(torch.log(-torch.expm1(-hazards)), (0, 1))

    def log_prob(self, outputs: Tensor, values: Tensor) -> Tensor:
        hazards = self.hazards(outputs)
        before = _log_survival(hazards)
        place, share, is_event = split_coded_times(values)
        in_bin = at_level(torch.nn.functional.pad(hazards, (0, 1)), place)
        # The last bin has no hazard: its probability is that of no event before.
        is_last = place >= self.is_hazard.sum(-1)
        event = torch.where(is_last, 0.0, torch.log(-torch.expm1(-in_bin.clamp(min=1e-12))))
        return at_level(before, place) + torch.where(is_event, event, -share * in_bin)

    def cdf(self, outputs: Tensor, values: Tensor) -> Tensor:
        below = self.probabilities(outputs).cumsum(-1)
        return torch.where(values < 0, 0.0, at_level(below, values.floor()).clamp(max=1))

    def quantile(self, outputs: Tensor, level: Tensor) -> Tensor:
        counts = self.is_hazard.sum(-1) + 1
        return level_quantile(self.probabilities(outputs).cumsum(-1), counts, level)

    def moments(self, outputs: Tensor) -> tuple[Tensor, Tensor]:
        return level_moments(self.probabilities(outputs))

    def probabilities(self, outputs: Tensor) -> Tensor:
        return self.log_probs(outputs).exp()

    def output_rows(self, places: Sequence[int]) -> list[int]:
        return [N_EFFECTS * place + effect for place in places for effect in range(N_EFFECTS)]

    def kl(self, outputs: Tensor, other: Tensor) -> Tensor:
        log_p, log_q = self.log_probs(outputs), self.log_probs(other)
        return (log_p.exp() * (log_p - log_q)).sum(-1)


def split_coded_times(values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The bin of each number, the share of it that passed without the event, and whether it happened."""
    place = (values + CENSORED_SHIFT).floor()
    share = (values - place + CENSORED_SHIFT) / CENSORED_WIDTH
    return place, share, values - place > -CENSORED_WIDTH / 4


def count_events(values: Tensor, observed: Tensor, n_bins: int) -> tuple[Tensor, Tensor]:
    """Events and exposure of every row in each bin [rows, n, bins], for numbers and a mask [rows, n].

    The exposure is 1 in a bin that passed without the event, the share that was seen in the bin of
    censoring, and 0 in the bin of the event and later.
    """
    place, share, is_event = (part[..., None] for part in split_coded_times(values))
    bins, known = torch.arange(n_bins, device=values.device), observed[..., None].to(values.dtype)
    at_place = (bins == place).to(values.dtype) * known
    passed = (bins < place).to(values.dtype) * known
    return at_place * is_event, passed + at_place * torch.where(is_event, 0.0, share)


def _log_survival(hazards: Tensor) -> Tensor:
    """Log probability of no event before each bin [..., n, bins]."""
    return torch.nn.functional.pad(-hazards.cumsum(-1), (1, 0))
