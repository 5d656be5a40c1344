"""What an answer opens: how much better the best question after it becomes.

O(i, x_O) = sum over answers a of p(x_i = a | x_O) max over j of R(j, x_O and x_i = a)
            - max over j other than i of R(j, x_O)

with R of `target`. R(i) + max R + O(i) is the value of two questions, the second chosen in the light of
the first answer: the lookahead of Heckerman, Horvitz and Middleton (1993). A question that tells nothing
of the target by itself, but says what to ask, has all of its worth in O. Where answers have nothing to
do with each other O is 0; where one repeats the other it is negative.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from eddi.model.base import Model
from eddi.model.network.atoms import N_ATOMS
from eddi.reward.candidates import MAX_KEPT, Same
from eddi.reward.mutual_information import PASSES, Beginning, Care, Heard, Now
from eddi.table.evidence import Evidence

GLANCE = Care(n_points=2, n_draws=8)  # little and much: cheap, and shows what may depend on an answer
SUPPOSED = 512  # answers supposed at once: each is a row of its own, with all its questions


@dataclass(frozen=True)
class Ahead:
    """Looks one question further, behind the most promising ones.

    Args:
        n_candidates: how many questions of a row are looked behind: half of them those that tell most
            about the target, half those that tell most about everything else. Of the others it is
            taken that they leave the rest as it is.
        doubt: share of what the greedy question and the best after it tell that must be exceeded. The
            best of many questions is in part the one whose worth is most overestimated.
        care: with how much answers are gone through, twice over, to find what may open anything. What is
            found is looked at again with all answers: the mean of half of them need not be an answer
            that anybody gives, and what is believed after it may be anything.
    """

    n_candidates: int = 12
    doubt: float = 0.5
    care: Care = GLANCE

    def opened(self, model: Model, evidence: Evidence, target: Sequence[str]) -> Tensor:
        """Nats by which each answer is expected to better the best question after it [rows, questions].

        Less the doubt, and never below 0. The model must have direct beliefs.
        """
        positions = model.schema_.positions(dict.fromkeys(target))
        with torch.inference_mode():
            found = self._look(model, evidence, positions, self.care)
            claimed = found > 0
            rows = claimed.any(1).nonzero()[:, 0]
            if len(rows) and self.care.n_points < N_ATOMS:
                all_answers = replace(self.care, n_points=N_ATOMS)
                some = evidence[rows.cpu().numpy()]
                found[rows] = self._look(model, some, positions, all_answers, claimed[rows])
        return found

    def _look(
        self,
        model: Model,
        evidence: Evidence,
        target: list[int],
        care: Care,
        claimed: Tensor | None = None,
    ) -> Tensor:
        """What is opened, some rows at a time; only questions that are ``claimed`` to open anything."""
        rows_at_once = max(1, SUPPOSED // (self.n_candidates * care.n_points))
        parts = []
        for start in range(0, max(len(evidence), 1), rows_at_once):
            some = slice(start, start + rows_at_once)
            now = Now.known(model, evidence[some], target)
            parts.append(self._of(now, care, None if claimed is None else claimed[some]))
        return torch.cat(parts)

    def _of(self, now: Now, care: Care, claimed: Tensor | None) -> Tensor:
        askable = _askable(Same(now.model.schema_)).to(now.entered.device)
        rewards = now.rewards(care) * askable  # [rows, questions]
        best_other = _best_other(rewards)
        first = rewards.argmax(1, keepdim=True)
        candidates = self._candidates(now, rewards, care) if claimed is None else claimed
        among = candidates.scatter(1, first, True)
        best_after = best_other.masked_fill(among, 0.0)
        for heard in now.heard(care, PASSES):
            some = heard.where(among[heard.rows, heard.questions])
            if len(some.rows):
                ahead = now.after(some, _known(now, some)).rewards(care) * askable
                some.add(ahead.amax(1), best_after)
        greedy = (rewards + best_after).gather(1, first)  # nats of two questions, the greedy one first
        opened = (best_after - best_other - self.doubt * greedy).clamp_min(0)
        return opened * candidates

    def _candidates(self, now: Now, rewards: Tensor, care: Care) -> Tensor:
        """Which questions of each row are looked behind [rows, questions]."""
        n = self.n_candidates
        if n >= rewards.shape[1]:
            return torch.ones_like(rewards, dtype=torch.bool)
        chosen = torch.zeros_like(rewards, dtype=torch.bool)
        for worth, some in ((rewards, n - n // 2), (influence(now, care), n // 2)):
            # Those already chosen count no more, so that there are always n.
            best = worth.masked_fill(chosen, -torch.inf).topk(some, dim=1).indices
            chosen.scatter_(1, best, True)
        return chosen


def opening(model: Model, target: Sequence[str]) -> Tensor:
    """Nats that each answer opens to whoever has said nothing yet [questions], worked out once."""
    return _opening(Beginning.of(model, target))


@lru_cache(MAX_KEPT)
def _opening(beginning: Beginning) -> Tensor:
    names = [beginning.schema.schema.names[place] for place in beginning.target]
    return Ahead().opened(beginning.model, beginning.nothing, names)[0]


def influence(now: Now, care: Care) -> Tensor:
    """Nats each answer tells about every other variable that is neither known nor wanted, summed."""
    found = now.entered.new_zeros((len(now.entered), len(now.model.schema_.questions)))
    others = [place for place in range(now.observed.shape[1]) if place not in now.target]
    if not others:
        return found
    told = now.direct.told(others)
    order = torch.cat([head.variables for head in told.heads.heads()])  # the order of `kl_each`
    columns = np.array(others)[order.cpu().numpy()]
    before = told(now.hidden)
    for heard in now.heard(care, PASSES):
        after = told(now.direct.hidden(heard.of(now.entered) + heard.terms))
        nats = told.kl_each(after, heard.of(before))  # [answers, others]
        unseen = torch.from_numpy(~_known(now, heard)[:, columns]).to(nats.device)
        heard.add((nats * unseen).sum(-1), found)
    return found


def _best_other(rewards: Tensor) -> Tensor:
    """The largest reward of the row's other questions [rows, questions]."""
    top = torch.cat([rewards, torch.zeros_like(rewards[:, :1])], dim=1).topk(2, dim=1)
    best_other = top.values[:, :1].repeat(1, rewards.shape[1] + 1)
    return best_other.scatter(1, top.indices[:, :1], top.values[:, 1:])[:, :-1]


def _known(now: Now, heard: Heard) -> NDArray[np.bool_]:
    """Which variables are known after each answer [answers, variables]."""
    rows, questions = heard.rows.cpu().numpy(), heard.questions.cpu().numpy()
    return np.asarray(now.observed[rows] | _reveals(Same(now.model.schema_))[questions])


@lru_cache(MAX_KEPT)
def _askable(key: Same) -> Tensor:
    """1 for each question that may be asked of anybody: what may not be asked is not opened."""
    barred = [question.never or bool(question.requires) for question in key.schema.questions]
    return torch.tensor([0.0 if each else 1.0 for each in barred])


@lru_cache(MAX_KEPT)
def _reveals(key: Same) -> NDArray[np.bool_]:
    """Which question reveals which variable [questions, variables]."""
    schema = key.schema
    reveals = np.zeros((len(schema.questions), len(schema.variables)), dtype=bool)
    for place, question in enumerate(schema.questions):
        reveals[place, schema.positions(question.reveals)] = True
    return reveals
