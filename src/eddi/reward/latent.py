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
from eddi.reward.options import Draws, Options
from eddi.reward.pairs import Pairs
from eddi.table.evidence import Evidence

PASSES = 8_192  # tail passes at once: their widest layer, 100 to 500 floats each, stays in a cache
MAX_DRAWN = 4_000_000  # numbers of drawn answers' terms held at once for a chunk of rows: 16 MB


def information(
    model: Model, evidence: Evidence, target: Sequence[str], *, n_draws: int, seed: int
) -> Tensor:
    """Nats each question's answer is expected to tell about the target [rows, questions].

    One set of draws serves both terms and all questions; answers of few levels are summed over instead.
    A question that would show nothing new, or that touches the target, is worth 0.
    """
    positions = model.schema_.positions(dict.fromkeys(target))
    code = model.code(evidence)  # [rows, width]
    rewards = code.new_zeros((len(evidence), len(model.schema_.questions)))
    rows_at_once = max(1, MAX_DRAWN // (n_draws * evidence.n_variables * code.shape[1]))
    for start in range(0, len(evidence), rows_at_once):
        chunk = slice(start, start + rows_at_once)
        observed = evidence.observed[chunk]
        with torch.inference_mode():  # a tenth faster than no_grad where rows are few
            draws = Draws.of(model, code[chunk], n_draws, seed)
            told = _Told.of(draws, draws.target(positions, ~observed[:, positions]))
            opened = Pairs.open(model.schema_, observed, positions, draws.n_levels)
            for n_levels, pairs in opened.items():
                gain = told.gain(here := pairs.to(code.device), draws.answers(here, n_levels))
                rewards[chunk][here.rows, here.questions] = gain
    return rewards


@dataclass(frozen=True)
class _Told:
    """Codes and beliefs were each option of the target told, beside those as things stand."""

    draws: Draws
    target: Options
    code: Tensor  # [options, rows, width]
    belief: Posterior  # [options, rows, latent]

    @classmethod
    def of(cls, draws: Draws, target: Options) -> "_Told":
        code = draws.code + target.terms
        return cls(draws, target, code, draws.model.posterior(code))

    def gain(self, pairs: Pairs, answers: Options) -> Tensor:
        """The reward of every pair [pairs]."""
        by_draw = answers.chances is None and self.target.chances is None
        known = self.known(by_draw=by_draw)
        n_passes = known.code.shape[0] * len(answers.terms)
        parts = []
        for some in pairs.split(max(1, PASSES // n_passes)):
            rows = pairs.rows[some]
            weights = self.weights(answers.of(some), rows)
            parts.append(known.of(rows).gain(self.draws.model, answers.terms[:, some], weights))
        return torch.cat(parts) if parts else self.code.new_zeros(0)

    def known(self, *, by_draw: bool) -> "_Known":
        """What is known before an answer: first as things stand, then with the target told."""
        now = self.draws.now

        def both(one: Tensor, other: Tensor) -> Tensor:
            if by_draw:  # the answer of a draw meets the target of the same
                return torch.stack([one.expand_as(other), other])  # [2, draws, rows, ...]
            return torch.cat([one[None], other])[:, None]  # [1 + options, 1, rows, ...]

        log_var = both(now.log_var, self.belief.log_var)
        mean = both(now.mean, self.belief.mean)
        return _Known(both(self.draws.code, self.code), mean, torch.exp(-log_var), log_var.sum(-1))

    def weights(self, answers: Options, rows: Tensor) -> Tensor:
        """How likely each answer is; then, taken away, how likely it is with each target."""
        n_draws = len(self.draws.values)
        if self.target.chances is not None:
            target = self.target.chances[..., rows]  # [targets, draws, pairs]
            heard = answers.chances
            joint = target if heard is None else torch.einsum("tdp,adp->tap", target, heard)
        elif answers.chances is not None:
            joint = answers.chances.transpose(0, 1)  # [draws, answers, pairs]
        else:
            return self.code.new_tensor([1 / n_draws, -1 / n_draws])[:, None, None]  # [2, 1, 1]
        return torch.cat([joint.sum(0, keepdim=True), -joint]) / n_draws


@dataclass(frozen=True)
class _Known:
    """Codes and posteriors before an answer; two leading axes, of what is known and of the draws."""

    code: Tensor  # [known, draws, rows, width]
    mean: Tensor  # [known, draws, rows, latent]
    precision: Tensor  # [known, draws, rows, latent] one over the variance
    log_volume: Tensor  # [known, draws, rows] the log variances, summed

    def of(self, rows: Tensor) -> "_Known":
        """What is known of these rows; that of a single row stands for all, without a copy."""
        if self.code.shape[2] == 1:
            return self
        code, mean = self.code.index_select(2, rows), self.mean.index_select(2, rows)
        return _Known(code, mean, self.precision.index_select(2, rows), self.log_volume[:, :, rows])

    def gain(self, model: Model, answers: Tensor, weights: Tensor) -> Tensor:
        """The weighted divergences that answers [answers, pairs, width] bring about [pairs]."""
        asked = model.posterior(self.code + answers)  # [known, answers, pairs, latent]
        # KL(asked || known) as in `Posterior.kl`, with what depends on `known` alone taken once and
        # the rest in place: ½ Σ (((μ₁ − μ₂)² + σ₁²) / σ₂² − log σ₁² + log σ₂² − 1). The weights sum to
        # nothing, so the constant needs no subtraction.
        each = (asked.mean - self.mean).square_().add_(asked.log_var.exp()).mul_(self.precision)
        nats = each.sub_(asked.log_var).sum(-1).add_(self.log_volume)
        return nats.mul_(weights).sum((0, 1)).mul_(0.5)
