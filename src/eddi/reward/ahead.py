"""What an answer opens: how much better the best question after it becomes.

O(i, x_O) = sum over answers a of p(x_i = a | x_O) max over j of R(j, x_O and x_i = a)
            - max over j other than i of R(j, x_O)

with R of `target`. R(i) + max R + O(i) is the value of two questions, the second chosen in the light of
the first answer: the lookahead of Heckerman, Horvitz and Middleton (1993). A question that tells nothing
of the target by itself, but says what to ask, has all of its worth in O. Where answers have nothing to
do with each other O is 0; where one repeats the other it is negative.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from eddi.model.base import Model
from eddi.reward.pairs import Same
from eddi.reward.target import PASSES, Care, Heard, Now
from eddi.table.evidence import Evidence

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
        care: with how much answers are gone through, twice over.
    """

    n_candidates: int
    doubt: float
    care: Care

    def opened(self, model: Model, evidence: Evidence, target: Sequence[str]) -> Tensor:
        """Nats by which each answer is expected to better the best question after it [rows, questions].

        Less the doubt, and never below 0. The model must have direct beliefs.
        """
        positions = model.schema_.positions(dict.fromkeys(target))
        rows_at_once = max(1, SUPPOSED // (self.n_candidates * self.care.n_points))
        with torch.inference_mode():
            chunks = (
                evidence[start : start + rows_at_once]
                for start in range(0, max(len(evidence), 1), rows_at_once)
            )
            parts = [self._of(Now.known(model, some, positions)) for some in chunks]
        return torch.cat(parts)

    def _of(self, now: Now) -> Tensor:
        rewards = now.rewards(self.care)  # [rows, questions]
        best_other = _best_other(rewards)
        among = self._candidates(now, rewards)
        best_after = best_other.masked_fill(among, 0.0)
        for heard in now.heard(self.care, PASSES):
            some = heard.where(among[heard.rows, heard.questions])
            if len(some.rows):
                some.add(self._behind(now, some), best_after)
        first = rewards.argmax(1, keepdim=True)
        greedy = (rewards + best_after).gather(1, first)  # nats of two questions, the greedy one first
        return (best_after - best_other - self.doubt * greedy).clamp_min(0)

    def _candidates(self, now: Now, rewards: Tensor) -> Tensor:
        """Which questions of each row are looked behind [rows, questions]."""
        n = self.n_candidates
        if n >= rewards.shape[1]:
            return torch.ones_like(rewards, dtype=torch.bool)
        chosen = torch.zeros_like(rewards, dtype=torch.bool)
        for worth, some in ((rewards, n - n // 2), (influence(now, self.care), n // 2)):
            # Those already chosen count no more, so that there are always n.
            best = worth.masked_fill(chosen, -torch.inf).topk(some, dim=1).indices
            chosen.scatter_(1, best, True)
        return chosen

    def _behind(self, now: Now, heard: Heard) -> Tensor:
        """The best reward after each answer [answers]."""
        return now.after(heard, _known(now, heard)).rewards(self.care).amax(1)


def influence(now: Now, care: Care) -> Tensor:
    """Nats each answer tells about every other variable that is neither known nor wanted, summed."""
    found = now.entered.new_zeros((len(now.entered), len(now.model.schema_.questions)))
    others = [place for place in range(now.observed.shape[1]) if place not in now.target]
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


@lru_cache(16)
def _reveals(key: Same) -> NDArray[np.bool_]:
    """Which question reveals which variable [questions, variables]."""
    schema = key.schema
    reveals = np.zeros((len(schema.questions), len(schema.variables)), dtype=bool)
    for place, question in enumerate(schema.questions):
        reveals[place, schema.positions(question.reveals)] = True
    return reveals
