"""The paper's information reward: what an answer would tell about the target, in latent space.

R(i, x_O) = E KL[q(z | x_i, x_O) || q(z | x_O)] - E KL[q(z | x_phi, x_i, x_O) || q(z | x_phi, x_O)]

with x_i and x_phi drawn jointly from p(. | x_O) (Ma et al. 2019, equation 8). The first term is what
the answer tells about everything; the second removes what it would tell beyond the target.

Nothing is ever re-encoded: a candidate answer is one addition to the code and one pass through the tail.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from eddi.model.base import Model
from eddi.reward.candidates import Pairs
from eddi.reward.paper import fused, single_row
from eddi.reward.paper.options import Draws, Options
from eddi.table.evidence import Evidence

PASSES = 8_192  # tail passes at once: their widest layer, 100 to 500 floats each, stays in a cache
MAX_DRAWN = 4_000_000  # numbers of drawn answers' terms held at once for a chunk of rows: 16 MB
ON_GPU = 64  # times as much at once on a GPU, which has no such cache and wants long work


def information(
    model: Model, evidence: Evidence, target: Sequence[str], *, n_draws: int, seed: int
) -> Tensor:
    """Nats each question's answer is expected to tell about the target [rows, questions].

    One set of draws serves both terms and all questions; answers of few levels are summed over instead.
    A question that would show nothing new, or that touches the target, is worth 0.
    """
    positions = model.schema_.positions(dict.fromkeys(target))
    if len(evidence) == 1 and model.alone_ and 2 * n_draws * len(model.schema_.questions) <= PASSES:
        nats = single_row.information(
            model, model.alone_, evidence, positions, n_draws=n_draws, seed=seed
        )
        return torch.from_numpy(nats)[None]
    if (pack := fused.packed(model)) is not None:
        by_kernel = fused.information(model, pack, evidence, positions, n_draws=n_draws, seed=seed)
        if by_kernel is not None:
            return by_kernel
    return eagerly(model, evidence, positions, n_draws=n_draws, seed=seed)


def eagerly(
    model: Model, evidence: Evidence, positions: list[int], *, n_draws: int, seed: int
) -> Tensor:
    """The same for any model and number of rows on any device, in plain PyTorch."""
    code = model.code(evidence)  # [rows, width]
    rewards = code.new_zeros((len(evidence), len(model.schema_.questions)))
    numbers = n_draws * evidence.n_variables * code.shape[1]
    rows_at_once = max(1, _at_once(MAX_DRAWN, code.device) // numbers)
    for start in range(0, len(evidence), rows_at_once):
        chunk = slice(start, start + rows_at_once)
        observed = evidence.observed[chunk]
        with torch.inference_mode():  # a tenth faster than no_grad where rows are few
            draws = Draws.of(model, code[chunk], n_draws, seed)
            told = _Told.of(draws, draws.target(positions, ~observed[:, positions]))
            opened = Pairs.open(model.schema_, observed, positions, draws.n_levels)
            for n_levels, pairs in opened.items():
                if len(pairs):
                    gain = told.gain(here := pairs.to(code.device), draws.answers(here, n_levels))
                    rewards[chunk].index_put_((here.rows, here.questions), gain)
    return rewards


def _at_once(limit: int, device: torch.device) -> int:
    return limit if device.type == "cpu" else limit * ON_GPU


@dataclass(frozen=True)
class _Told:
    """Codes were each option of the target told, beside those as things stand."""

    draws: Draws
    target: Options
    code: Tensor  # [options, rows, width]

    @classmethod
    def of(cls, draws: Draws, target: Options) -> "_Told":
        return cls(draws, target, draws.code + target.terms)

    def gain(self, pairs: Pairs, answers: Options) -> Tensor:
        """The reward of every pair [pairs]."""
        known = self.known(by_draw=answers.chances is None and self.target.chances is None)
        n_passes = known.code.shape[0] * len(answers.terms)
        parts = []
        for some in pairs.split(max(1, _at_once(PASSES, known.code.device) // n_passes)):
            rows = pairs.rows[some]
            weights = self.weights(answers.of(some), rows)
            parts.append(known.of(rows).gain(self.draws.model, answers.terms[:, some], weights))
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    def known(self, *, by_draw: bool) -> "_Known":
        """What is known before an answer: first as things stand, then with the target told."""
        now = self.draws.code
        if by_draw:  # the answer of a draw meets the target of the same
            code = torch.stack([now.expand_as(self.code), self.code])  # [2, draws, rows, width]
        else:
            code = torch.cat([now[None], self.code])[:, None]  # [1 + options, 1, rows, width]
        belief = self.draws.model.posterior(code)
        return _Known(code, belief.mean, torch.exp(-belief.log_var), belief.log_var.sum(-1))

    def weights(self, answers: Options, rows: Tensor) -> Tensor:
        """Half of how likely each answer is; then, taken away, of how likely it is with each target."""
        n_draws = len(self.draws.values)
        if self.target.chances is not None:
            target = self.target.chances[..., rows]  # [targets, draws, pairs]
            heard = answers.chances
            joint = target if heard is None else torch.einsum("tdp,adp->tap", target, heard)
        elif answers.chances is not None:
            joint = answers.chances.transpose(0, 1)  # [draws, answers, pairs]
        else:
            return _signs(self.code.device) * (0.5 / n_draws)  # [2, 1, 1]
        return torch.cat([joint.sum(0, keepdim=True), -joint]) * (0.5 / n_draws)


@dataclass(frozen=True)
class _Known:
    """Codes and beliefs before an answer; two leading axes, of what is known and of the draws."""

    code: Tensor  # [known, draws, rows, width]
    mean: Tensor  # [known, draws, rows, latent]
    precision: Tensor  # [known, draws, rows, latent] one over the variance
    log_volume: Tensor  # [known, draws, rows] the log variances, summed

    def of(self, rows: Tensor) -> "_Known":
        """What is known of these rows; that of a single row stands for all, without a copy."""
        if self.code.shape[2] == 1:
            return self
        mean, precision = _picked(self.mean, rows), _picked(self.precision, rows)
        return _Known(self.code.index_select(2, rows), mean, precision, self.log_volume[:, :, rows])

    def gain(self, model: Model, answers: Tensor, weights: Tensor) -> Tensor:
        """The weighted divergences that answers [answers, pairs, width] bring about [pairs].

        ``weights`` are half of those wanted, and bring the half that the divergence has.
        """
        asked = model.posterior(self.code + answers)  # [known, answers, pairs, latent]
        # KL(asked || known) as in `Posterior.kl`, with what depends on `known` alone taken once and
        # the rest in place: ½ Σ (((μ₁ − μ₂)² + σ₁²) / σ₂² − log σ₁² + log σ₂² − 1). The weights sum to
        # nothing, so the constant needs no subtraction.
        each = (asked.mean - self.mean).square_().add_(asked.log_var.exp()).mul_(self.precision)
        nats = each.sub_(asked.log_var).sum(-1).add_(self.log_volume)
        return nats.mul_(weights).sum((0, 1))


@lru_cache(8)
def _signs(device: torch.device) -> Tensor:
    return torch.tensor([[[1.0]], [[-1.0]]], device=device)


def _picked(by_row: Tensor, rows: Tensor) -> Tensor:
    """Some rows of [known, draws, rows, latent], in memory as the posterior of a model has them."""
    return by_row.movedim(-1, 0).index_select(3, rows).movedim(0, -1)
