"""The paper's information reward: what an answer would tell about the target, in latent space.

R(i, x_O) = E KL[q(z | x_i, x_O) || q(z | x_O)] - E KL[q(z | x_phi, x_i, x_O) || q(z | x_phi, x_O)]

with x_i and x_phi drawn jointly from p(. | x_O) (Ma et al. 2019, equation 8). The first term is what
the answer tells about everything; the second removes what it would tell beyond the target.

Nothing is ever re-encoded: a candidate answer is one addition to the code and one pass through the tail.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from eddi.model.base import Model
from eddi.model.posterior import Posterior
from eddi.reward.pairs import Pairs
from eddi.table.evidence import Evidence

PASSES = 4_096  # tail passes at once: their widest layer, 100 to 500 floats each, stays in a cache
MAX_DRAWN_CELLS = 8_000_000  # drawn values and codes held at once for a chunk of rows: 32 MB


def information(
    model: Model, evidence: Evidence, target: Sequence[str], *, n_draws: int, seed: int
) -> Tensor:
    """Nats each question's answer is expected to tell about the target [rows, questions].

    One set of draws serves both terms and all questions. A question that would show nothing new, or
    that touches the target, is worth 0.
    """
    positions = model.schema_.positions(target)
    code = model.code(evidence)  # [rows, width]
    rewards = code.new_zeros((len(evidence), len(model.schema_.questions)))
    rows_at_once = max(1, MAX_DRAWN_CELLS // (n_draws * (evidence.n_variables + code.shape[1])))
    for start in range(0, len(evidence), rows_at_once):
        chunk = slice(start, start + rows_at_once)
        pairs = Pairs.open(model.schema_, evidence.observed[chunk], positions)
        unseen = torch.from_numpy(~evidence.observed[chunk][:, positions])
        draws = _Draws.of(model, code[chunk], positions, unseen, n_draws, seed)
        for some in pairs.split(max(1, PASSES // (2 * n_draws))):
            rewards[chunk][some.rows, some.questions] = draws.gain(model, some)
    return rewards


@dataclass(frozen=True)
class _Draws:
    """Joint draws for some rows, and the beliefs before and after the target is told."""

    code: Tensor  # [rows, width]
    values: Tensor  # [draws, rows, variables]
    told: Tensor  # [draws, rows, width] the code if the drawn target were told
    now: Posterior  # [rows, latent]
    now_told: Posterior  # [draws, rows, latent]

    @classmethod
    def of(
        cls, model: Model, code: Tensor, target: list[int], unseen: Tensor, n_draws: int, seed: int
    ) -> "_Draws":
        now = model.posterior(code)
        values = model.draw(now, n_draws, seed=seed)
        terms = model.term(values[..., target], target)  # [draws, rows, target, width]
        told = code + torch.einsum("drtw,rt->drw", terms, unseen.to(terms.device, terms.dtype))
        return cls(code, values, told, now, model.posterior(told))

    def gain(self, model: Model, pairs: Pairs) -> Tensor:
        """The reward of each pair of a row and a question [pairs]."""
        drawn = self.values[:, pairs.cell_rows, pairs.cell_variables]  # [draws, cells]
        answer = pairs.sum(model.term(drawn, pairs.cell_variables))  # [draws, pairs, width]
        rows = pairs.rows
        codes = torch.stack([self.code[rows] + answer, self.told[:, rows] + answer])
        asked = model.posterior(codes)  # [2, draws, pairs, latent]
        before = Posterior(
            torch.stack([self.now.mean[rows].expand_as(asked.mean[0]), self.now_told.mean[:, rows]]),
            torch.stack(
                [self.now.log_var[rows].expand_as(asked.mean[0]), self.now_told.log_var[:, rows]]
            ),
        )
        nats = asked.kl(before).mean(1)  # [2, pairs]
        # The second removes what the answer would tell about everything except the target.
        return nats[0] - nats[1]
