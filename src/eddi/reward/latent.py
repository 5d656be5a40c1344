"""The paper's information reward: what an answer would tell about the target, in latent space.

R(i, x_O) = E KL[q(z | x_i, x_O) || q(z | x_O)] - E KL[q(z | x_phi, x_i, x_O) || q(z | x_phi, x_O)]

with x_i and x_phi drawn jointly from p(. | x_O) (Ma et al. 2019, equation 8). The first term is what
the answer tells about everything; the second removes what it would tell beyond the target.

Nothing is ever re-encoded: a candidate answer is one addition to the code and one pass through the tail.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from eddi.model.base import Model
from eddi.model.posterior import Posterior
from eddi.reward.pairs import Pairs
from eddi.table.evidence import Evidence

PASSES = 4_096  # tail passes at once: their widest layer, 100 to 500 floats each, stays in a cache
MAX_DRAWN_CELLS = 8_000_000  # drawn values and codes held at once for a chunk of rows: 32 MB


@torch.no_grad()
def information(
    model: Model, evidence: Evidence, target: Sequence[str], *, n_draws: int, seed: int
) -> Tensor:
    """Nats each question's answer is expected to tell about the target [rows, questions].

    One set of draws serves both terms and all questions. A question that would show nothing new, or
    that touches the target, is worth 0.
    """
    positions = list(dict.fromkeys(model.schema_.positions(target)))
    code = model.code(evidence)  # [rows, width]
    rewards = code.new_zeros((len(evidence), len(model.schema_.questions)))
    drawn_a_row = n_draws * (evidence.n_variables + code.shape[1] * (len(positions) + 3))
    rows_at_once = max(1, MAX_DRAWN_CELLS // drawn_a_row)
    for start in range(0, len(evidence), rows_at_once):
        chunk = slice(start, start + rows_at_once)
        observed = evidence.observed[chunk]
        pairs = Pairs.open(model.schema_, observed, positions).to(code.device)
        draws = _Draws.of(model, code[chunk], n_draws, seed)
        known = draws.known(model, positions, ~observed[:, positions])
        for some in pairs.split(max(1, PASSES // (2 * n_draws))):
            gain = known.gain(model, draws.answers(model, some), some.rows)
            rewards[chunk][some.rows, some.questions] = gain
    return rewards


@dataclass(frozen=True)
class _Draws:
    """Joint draws of everything, for some rows."""

    code: Tensor  # [rows, width]
    now: Posterior  # [rows, latent]
    values: Tensor  # [draws, rows, variables]

    @classmethod
    def of(cls, model: Model, code: Tensor, n_draws: int, seed: int) -> "_Draws":
        now = model.posterior(code)
        return cls(code, now, model.draw(now, n_draws, seed=seed))

    def answers(self, model: Model, pairs: Pairs) -> Tensor:
        """What each pair's drawn answer adds to the code [draws, pairs, width]."""
        drawn = self.values.flatten(1).index_select(1, pairs.cells)  # [draws, cells]
        return pairs.sum(model.term(drawn, pairs.cell_variables))

    def known(self, model: Model, target: list[int], unseen: NDArray[np.bool_]) -> "_Known":
        """What is known before an answer, without and with the drawn target."""
        terms = model.term(self.values[..., target], torch.tensor(target, dtype=torch.long))
        if not unseen.all():  # what is already in the code adds nothing
            terms = terms * torch.from_numpy(unseen).to(terms.device)[..., None]
        told = self.code + terms.sum(-2)  # [draws, rows, width]
        return _Known.of(self.code.expand_as(told), self.now, told, model.posterior(told))


@dataclass(frozen=True)
class _Known:
    """Codes and posteriors before an answer: as things stand, and were the drawn target told."""

    code: Tensor  # [2, draws, rows, width]
    mean: Tensor  # [2, draws, rows, latent]
    precision: Tensor  # [2, draws, rows, latent] one over the variance
    log_volume: Tensor  # [2, draws, rows] the log variances, summed

    @classmethod
    def of(cls, code: Tensor, now: Posterior, told: Tensor, now_told: Posterior) -> "_Known":
        both = torch.stack([now.log_var.expand_as(now_told.log_var), now_told.log_var])
        mean = torch.stack([now.mean.expand_as(now_told.mean), now_told.mean])
        return cls(torch.stack([code, told]), mean, torch.exp(-both), both.sum(-1))

    def of_rows(self, rows: Tensor) -> "_Known":
        """What is known of these rows; that of a single row stands for all, without a copy."""
        if self.code.shape[2] == 1:
            return self
        code, mean = self.code.index_select(2, rows), self.mean.index_select(2, rows)
        return _Known(code, mean, self.precision.index_select(2, rows), self.log_volume[:, :, rows])

    def gain(self, model: Model, answers: Tensor, rows: Tensor) -> Tensor:
        """The reward of answers [draws, pairs, width] to questions of these rows [pairs]."""
        known = self.of_rows(rows)
        asked = model.posterior(known.code + answers)  # [2, draws, pairs, latent]
        # KL(asked || known) as in `Posterior.kl`, with what depends on `known` alone taken once and
        # the rest in place: ½ Σ (((μ₁ − μ₂)² + σ₁²) / σ₂² − log σ₁² + log σ₂² − 1).
        each = (asked.mean - known.mean).square_().add_(asked.log_var.exp()).mul_(known.precision)
        nats = each.sub_(asked.log_var).sum(-1).add_(known.log_volume).mean(1)  # [2, pairs]
        # The second removes what the answer would tell about everything except the target. The
        # constant of the divergence goes with it.
        return nats[0].sub_(nats[1]).mul_(0.5)
