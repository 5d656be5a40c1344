"""What training maximises: the paper's partial bound, and one that also scores what is hidden."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from eddi.model.network import Network
from eddi.model.posterior import Posterior


@dataclass(frozen=True)
class Batch:
    """Rows of one step: what they know, what of it the encoder may see, and latent noise."""

    values: Tensor  # [rows, variables] coded, zero where not known
    known: Tensor  # [rows, variables] 1 where the table has a value
    observed: Tensor  # [rows, variables] 1 where the encoder sees it; never more than known
    noise: Tensor  # [draws, rows, latent] standard normal

    def seen(self) -> Tensor:
        return self.values * self.observed


def observed_bound(network: Network, batch: Batch) -> Tensor:
    """The paper's partial bound, a row: E_q(z|x_O)[log p(x_O | z)] - KL(q(z|x_O) || p(z)).

    Only what the encoder saw is scored (Ma et al. 2019, equation 3).
    """
    posterior = network.posterior(network.code(batch.seen(), batch.observed))
    outputs = network.decode(posterior.draw(batch.noise))
    fit = (network.log_prob(outputs, batch.values) * batch.observed).sum(-1).mean(0)
    return fit - posterior.kl(Posterior.prior_like(posterior))  # [rows]


def hidden_bound(network: Network, batch: Batch) -> Tensor:
    """A bound on log p(x_K | x_O), plus the hidden entries' own predictive likelihood.

    First, as neural processes do (Garnelo et al. 2018), explain everything known from the posterior
    that saw it, and keep that posterior close to the one that saw only part:
    E_q(z|x_K)[log p(x_K | z)] - KL(q(z|x_K) || q(z|x_O)). Second, what a user will ask for: the
    marginal log p(x_d | x_O) of every known entry, hidden or not, over draws from q(z|x_O).
    """
    n_rows = len(batch.values)
    code = network.code(
        torch.cat([batch.values, batch.seen()]), torch.cat([batch.known, batch.observed])
    )
    both = network.posterior(code)
    full = Posterior(both.mean[:n_rows], both.log_var[:n_rows])
    part = Posterior(both.mean[n_rows:], both.log_var[n_rows:])
    z = torch.cat([full.draw(batch.noise[:1]), part.draw(batch.noise[1:])])
    log_prob = network.log_prob(network.decode(z), batch.values)  # [draws, rows, variables]
    explained = (log_prob[0] * batch.known).sum(-1) - full.kl(part)
    return explained + (mean_exp(log_prob[1:]) * batch.known).sum(-1)  # [rows]


def mean_exp(log_prob: Tensor) -> Tensor:
    """log of the mean over draws (the first axis) of exp(log_prob)."""
    return torch.logsumexp(log_prob, dim=0) - torch.tensor(float(len(log_prob))).log()


OBJECTIVES: dict[str, Callable[[Network, Batch], Tensor]] = {
    "observed": observed_bound,
    "hidden": hidden_bound,
}
