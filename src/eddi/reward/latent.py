"""The paper's information reward: what an answer would tell about the target, in latent space.

R(i, x_O) = E KL[q(z | x_i, x_O) || q(z | x_O)] - E KL[q(z | x_phi, x_i, x_O) || q(z | x_phi, x_O)]

with x_i and x_phi drawn jointly from p(. | x_O) (Ma et al. 2019, equation 8). The first term is what
the answer tells about everything; the second removes what it would tell beyond the target.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from eddi.model.base import Model
from eddi.model.posterior import Posterior
from eddi.table.evidence import Evidence

CHUNK_CELLS = 2_000_000  # numbers in one candidate's tensor: 8 MB, near what a cache holds


def information(
    model: Model,
    evidence: Evidence,
    target: Sequence[str],
    *,
    n_draws: int,
    seed: int,
) -> Tensor:
    """Nats each question's answer is expected to tell about the target [rows, questions].

    One set of draws serves both terms and all questions. What a question would reveal but is already
    known adds nothing.
    """
    code = model.code(evidence)
    rows = max(1, CHUNK_CELLS // max(1, n_draws * evidence.n_variables * code.shape[-1]))
    chunks = range(0, len(evidence), rows)
    parts = [
        _rewards(
            model, evidence[start : start + rows], code[start : start + rows], target, n_draws, seed
        )
        for start in chunks
    ]
    return torch.cat(parts)


def _rewards(
    model: Model, evidence: Evidence, code: Tensor, target: Sequence[str], n_draws: int, seed: int
) -> Tensor:
    schema = model.schema_
    now = model.posterior(code)  # [rows]
    drawn = model.draw(now, n_draws, seed=seed)  # [draws, rows, variables]
    terms = model.term(drawn, range(evidence.n_variables))  # [draws, rows, variables, width]
    unseen = torch.from_numpy(~evidence.observed).to(terms.device, terms.dtype)
    terms = terms * unseen[..., None]
    told = code + terms[..., schema.positions(target), :].sum(-2)  # [draws, rows, width]
    now_with_target = model.posterior(told)
    columns = [schema.positions(question.reveals) for question in schema.questions]
    answers = [_answer_terms(terms, positions) for positions in columns]
    rewards = [_gain(model, code, told, answer, now, now_with_target) for answer in answers]
    return torch.stack(rewards, dim=-1)  # [rows, questions]


def _answer_terms(terms: Tensor, positions: list[int]) -> Tensor:
    return terms[..., positions[0], :] if len(positions) == 1 else terms[..., positions, :].sum(-2)


def _gain(
    model: Model, code: Tensor, told: Tensor, answer: Tensor, now: Posterior, now_with: Posterior
) -> Tensor:
    """The reward of one question from what its drawn answers add to the code."""
    gain = model.posterior(code + answer).kl(now)  # [draws, rows]
    gain = gain - model.posterior(told + answer).kl(now_with)
    return gain.mean(0)
