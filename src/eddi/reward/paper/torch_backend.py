"""The latent reward in plain PyTorch: for any model, number of rows and device. The reference."""

from dataclasses import dataclass

import torch
from torch import Tensor

from eddi.model.base import NetworkModel
from eddi.reward.candidates import CandidatePairs
from eddi.reward.paper.options import JointDraws, Options
from eddi.table.evidence import Evidence

BATCH_PASSES = 8_192  # passes through the tail at once: their widest layer fits into a cache
MAX_TERM_NUMBERS = 4_000_000  # numbers of drawn answers' terms per chunk of rows: 16 MB
GPU_FACTOR = 64  # a GPU has no such cache and is faster with larger batches


@dataclass(frozen=True)
class TorchBackend:
    """The reward of any model."""

    model: NetworkModel

    def rewards(self, evidence: Evidence, target: list[int], *, n_draws: int, seed: int) -> Tensor:
        """The rewards [rows, questions]."""
        model = self.model
        code = model.code(evidence)  # [rows, width]
        rewards = code.new_zeros((len(evidence), len(model.schema.questions)))
        n_numbers = n_draws * evidence.n_variables * code.shape[1]
        n_rows = max(1, _scale_to_device(MAX_TERM_NUMBERS, code.device) // n_numbers)
        for start in range(0, len(evidence), n_rows):
            chunk = slice(start, start + n_rows)
            observed = evidence.observed[chunk]
            with torch.inference_mode():  # a tenth faster than no_grad for few rows
                draws = JointDraws.from_code(model, code[chunk], n_draws, seed)
                context = _Context.from_draws(draws, draws.target(target, ~observed[:, target]))
                groups = CandidatePairs.by_n_levels(model, observed, target, draws.n_levels)
                for n_levels, pairs in groups.items():
                    if len(pairs):
                        pairs = pairs.to(code.device)
                        gain = context.gain(pairs, draws.answers(pairs, n_levels))
                        rewards[chunk].index_put_((pairs.rows, pairs.questions), gain)
        return rewards


def _scale_to_device(limit: int, device: torch.device) -> int:
    return limit if device.type == "cpu" else limit * GPU_FACTOR


@dataclass(frozen=True)
class _Context:
    """Codes with each option of the target added."""

    draws: JointDraws
    target: Options
    code: Tensor  # [options, rows, width]

    @classmethod
    def from_draws(cls, draws: JointDraws, target: Options) -> "_Context":
        return cls(draws, target, draws.code + target.terms)

    def gain(self, pairs: CandidatePairs, answers: Options) -> Tensor:
        """The reward of every pair [pairs]."""
        is_paired = answers.probabilities is None and self.target.probabilities is None
        prior = self._prior(is_paired=is_paired)
        n_passes = prior.code.shape[0] * len(answers.terms)
        parts = []
        size = max(1, _scale_to_device(BATCH_PASSES, prior.code.device) // n_passes)
        for batch in pairs.batches(size):
            rows = pairs.rows[batch]
            weights = self._weights(answers.select(batch), rows)
            model = self.draws.model
            parts.append(prior.select(rows).gain(model, answers.terms[:, batch], weights))
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    def _prior(self, *, is_paired: bool) -> "_Prior":
        """Posteriors before an answer: first given the evidence, then given the target as well."""
        evidence = self.draws.code
        if is_paired:  # the answer of a draw is combined with the target of the same draw
            code = torch.stack([evidence.expand_as(self.code), self.code])  # [2, draws, rows, width]
        else:
            code = torch.cat([evidence[None], self.code])[:, None]  # [1 + options, 1, rows, width]
        posterior = self.draws.model.posterior(code)
        precision = torch.exp(-posterior.log_var)
        return _Prior(code, posterior.mean, precision, posterior.log_var.sum(-1))

    def _weights(self, answers: Options, rows: Tensor) -> Tensor:
        """Half the probability of each answer; then, negative, that of each answer and target."""
        n_draws = len(self.draws.values)
        if self.target.probabilities is not None:
            target = self.target.probabilities[..., rows]  # [targets, draws, pairs]
            answer = answers.probabilities
            joint = target if answer is None else torch.einsum("tdp,adp->tap", target, answer)
        elif answers.probabilities is not None:
            joint = answers.probabilities.transpose(0, 1)  # [draws, answers, pairs]
        else:
            signs = torch.tensor([[[1.0]], [[-1.0]]], device=self.code.device)
            return signs * (0.5 / n_draws)  # [2, 1, 1]
        return torch.cat([joint.sum(0, keepdim=True), -joint]) * (0.5 / n_draws)


@dataclass(frozen=True)
class _Prior:
    """Codes and posteriors before an answer; the leading axes are conditions and draws."""

    code: Tensor  # [conditions, draws, rows, width]
    mean: Tensor  # [conditions, draws, rows, latent]
    precision: Tensor  # [conditions, draws, rows, latent] one over the variance
    log_var_sum: Tensor  # [conditions, draws, rows]

    def select(self, rows: Tensor) -> "_Prior":
        """The entries of these rows; a single row is broadcast instead of copied."""
        if self.code.shape[2] == 1:
            return self
        mean, precision = _select_rows(self.mean, rows), _select_rows(self.precision, rows)
        code = self.code.index_select(2, rows)
        return _Prior(code, mean, precision, self.log_var_sum[:, :, rows])

    def gain(self, model: NetworkModel, answers: Tensor, weights: Tensor) -> Tensor:
        """The weighted divergences caused by answers [answers, pairs, width], per pair [pairs].

        ``weights`` include the factor ½ of the divergence.
        """
        posterior = model.posterior(self.code + answers)  # [conditions, answers, pairs, latent]
        # KL(posterior || prior) as in `Posterior.kl`, with what depends on the prior alone computed once
        # and the rest in place: ½ Σ (((μ₁ − μ₂)² + σ₁²) / σ₂² − log σ₁² + log σ₂² − 1). The weights sum
        # to zero, so the constant cancels.
        shift = (posterior.mean - self.mean).square_()
        divergence = shift.add_(posterior.log_var.exp()).mul_(self.precision)
        nats = divergence.sub_(posterior.log_var).sum(-1).add_(self.log_var_sum)
        return nats.mul_(weights).sum((0, 1))


def _select_rows(by_row: Tensor, rows: Tensor) -> Tensor:
    """Some rows of [conditions, draws, rows, latent], in the memory layout of a posterior."""
    return by_row.movedim(-1, 0).index_select(3, rows).movedim(0, -1)
