"""Training objectives: the paper's partial bound, and the default's likelihood of hidden entries."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from eddi.model.network.network import Network

JOINT_SHARE = 4  # one row in four trains z in `direct_bound`: enough, and a third less work


@dataclass(frozen=True)
class Batch:
    """The rows of one training step."""

    values: Tensor  # [rows, variables] coded, zero where missing
    weights: Tensor  # [rows, variables] weight of an entry; 0 if the table does not have it
    observed: Tensor  # [rows, variables] 1 where the encoder sees the entry
    noise: Tensor  # [draws, rows, latent] standard normal
    loss_weights: Tensor | float = 1.0  # [variables] weight of a hidden entry in `direct_bound`

    @property
    def visible_values(self) -> Tensor:
        """The values that the encoder sees; 0 elsewhere."""
        return self.values * self.observed

    @property
    def hidden_weights(self) -> Tensor:
        """The weights of the entries that the encoder does not see; 0 elsewhere."""
        return self.weights * (1 - self.observed)


def observed_bound(network: Network, batch: Batch) -> Tensor:
    """The paper's partial bound: E_q(z|x_O)[log p(x_O | z)] - KL(q(z|x_O) || p(z)), summed over rows.

    Only the entries that the encoder sees are scored (Ma et al. 2019, equation 3).
    """
    posterior = network.posterior(network.code(batch.visible_values, batch.observed))
    outputs = network.decode(posterior.draw(batch.noise))
    log_prob = network.log_prob(outputs, batch.values)  # [draws, rows, variables]
    return (log_prob * batch.observed).sum() / len(batch.noise) - posterior.kl_from_prior().sum()


def direct_bound(network: Network, batch: Batch) -> Tensor:
    """The likelihood of hidden entries under the marginal heads, and of complete rows through z.

    The first part is what users ask for: log p(x_d | x_O) of every hidden entry, and the probabilities
    of the atoms that a reward enumerates. The second part trains z, as neural processes do (Garnelo et
    al. 2018), on some of the rows: it explains all entries x_K from the posterior that sees them, and
    keeps that posterior close to the one that sees only a part,
    E_q(z|x_K)[log p(x_K | z)] - KL(q(z|x_K) || q(z|x_O)).
    """
    marginals = network.marginals
    assert marginals is not None  # noqa: S101  # this objective always builds them
    n_joint = -(-len(batch.values) // JOINT_SHARE)
    values = torch.cat([batch.visible_values, batch.values[:n_joint]])
    all_entries = (batch.weights[:n_joint] > 0).to(batch.observed.dtype)
    features = network.features(network.code(values, torch.cat([batch.observed, all_entries])))
    partial = network.posterior_from_features(features.inputs[:n_joint])
    full = network.posterior_from_features(features.inputs[-n_joint:])
    outputs = network.decode(full.draw(batch.noise[:1, :n_joint]))
    joint = network.log_prob(outputs, batch.values[:n_joint])[0]
    bound = (joint * batch.weights[:n_joint]).sum() - full.kl(partial).sum()
    visible, hidden = features.first(len(batch.values)), batch.hidden_weights
    score = marginals.training_score(network.marginal_outputs(visible), batch.values)
    direct = (score * hidden * batch.loss_weights).sum()
    return bound + direct + marginals.atom_score(visible.inputs, batch.values, hidden)


OBJECTIVES: dict[str, Callable[[Network, Batch], Tensor]] = {
    "observed": observed_bound,
    "direct": direct_bound,
}


def loss(network: Network, objective: str, batch: Batch) -> Tensor:
    """The negative bound in nats per row and variable."""
    return OBJECTIVES[objective](network, batch) * (-1.0 / batch.values.numel())
