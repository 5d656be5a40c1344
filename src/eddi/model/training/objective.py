"""What training maximises: the paper's partial bound, or what is hidden, told directly."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from eddi.model.network.network import Network

JOINT_SHARE = 4  # one row in so many teaches z, by `direct_bound`: enough for it, and a third less work


@dataclass(frozen=True)
class Batch:
    """Rows of one step: what they know, what of it the encoder may see, and latent noise."""

    values: Tensor  # [rows, variables] coded, zero where not known
    known: Tensor  # [rows, variables] how much an entry counts, 0 where the table has none
    observed: Tensor  # [rows, variables] 1 where the encoder sees it, which the table then has
    noise: Tensor  # [draws, rows, latent] standard normal
    worth: Tensor | float = 1.0  # [variables] how much a hidden entry counts, by `direct_bound`

    def seen(self) -> Tensor:
        return self.values * self.observed


def observed_bound(network: Network, batch: Batch) -> Tensor:
    """The paper's partial bound: E_q(z|x_O)[log p(x_O | z)] - KL(q(z|x_O) || p(z)), summed over rows.

    Only what the encoder saw is scored (Ma et al. 2019, equation 3).
    """
    posterior = network.posterior(network.code(batch.seen(), batch.observed))
    outputs = network.decode(posterior.draw(batch.noise))
    log_prob = network.log_prob(outputs, batch.values)  # [draws, rows, variables]
    return (log_prob * batch.observed).sum() / len(batch.noise) - posterior.kl_from_prior().sum()


def direct_bound(network: Network, batch: Batch) -> Tensor:
    """The likelihood of hidden entries by the direct beliefs, and of rows as a whole through z.

    First, what a user will ask for: log p(x_d | x_O) of every hidden entry, as `Marginals` says it, and
    beside it the chances of the answers that a reward goes through.
    Second, for z, as neural processes do (Garnelo et al. 2018), on some of the rows: explain everything
    known from the posterior that saw it, and keep that posterior close to the one that saw only part,
    E_q(z|x_K)[log p(x_K | z)] - KL(q(z|x_K) || q(z|x_O)).
    """
    marginals = network.marginals
    assert marginals is not None  # noqa: S101  # this objective always builds them
    n = -(-len(batch.values) // JOINT_SHARE)
    values = torch.cat([batch.seen(), batch.values[:n]])
    shown = torch.cat([batch.observed, (batch.known[:n] > 0).to(batch.observed.dtype)])
    hidden = network.hidden(network.code(values, shown))
    part, full = network.posterior_of(hidden[:n]), network.posterior_of(hidden[-n:])
    joint = network.log_prob(network.decode(full.draw(batch.noise[:1, :n])), batch.values[:n])[0]
    bound = (joint * batch.known[:n]).sum() - full.kl(part).sum()
    told, unseen = hidden[: len(batch.values)], batch.known * (1 - batch.observed)
    direct = (marginals.fit_score(marginals(told), batch.values) * unseen * batch.worth).sum()
    return bound + direct + marginals.answer_score(told, batch.values, unseen)


def mean_exp(log_prob: Tensor) -> Tensor:
    """log of the mean over draws (the first axis) of exp(log_prob)."""
    return torch.logsumexp(log_prob, dim=0) - math.log(len(log_prob))


OBJECTIVES: dict[str, Callable[[Network, Batch], Tensor]] = {
    "observed": observed_bound,
    "direct": direct_bound,
}


def loss(network: Network, objective: str, batch: Batch) -> Tensor:
    """The negative bound, nats a row and variable."""
    return OBJECTIVES[objective](network, batch) * (-1.0 / batch.values.numel())
