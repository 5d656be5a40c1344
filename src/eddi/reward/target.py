"""What an answer tells about the target itself: mutual information in the space of the target.

R(i, x_O) = sum over answers a of p(x_i = a | x_O) KL[p(x_phi | x_i = a, x_O) || p(x_phi | x_O)]

the mutual information of answer and target given what is known (Lindley 1956), by the model's direct
beliefs. Never negative, and free of chance: answers are gone through, not drawn, except those that
reveal several variables at once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from eddi.model.base import Model
from eddi.model.direct import N_POINTS, Answers, Direct, Told
from eddi.reward.pairs import Pairs
from eddi.table.evidence import Evidence

PASSES = 8_192  # tail passes at once: their widest layer stays in a cache


def information(
    model: Model, evidence: Evidence, target: Sequence[str], *, n_draws: int, seed: int
) -> Tensor:
    """Nats each question's answer is expected to tell about the target [rows, questions].

    The model must have direct beliefs. A question that would show nothing new, or that touches the
    target, is worth 0. Of several target variables, what is told of each is added up.
    """
    positions = model.schema_.positions(dict.fromkeys(target))
    with torch.inference_mode():
        now = Now.of(model, model.code(evidence), evidence.observed, positions)
        return now.rewards(Care(n_draws=n_draws, seed=seed))


@dataclass(frozen=True)
class Care:
    """With how much care answers are gone through.

    Args:
        n_points: answers of a quantity.
        n_draws: of answers that reveal several variables at once.
        seed: of those draws.
    """

    n_points: int = N_POINTS
    n_draws: int = 50
    seed: int = 0


@dataclass(frozen=True)
class Heard:
    """What may be heard of some pairs of a row and a question."""

    rows: Tensor  # [pairs]
    questions: Tensor  # [pairs]
    terms: Tensor  # [options, pairs, width] what each answer would add to the code
    chances: Tensor  # [options, pairs]

    def where(self, kept: Tensor) -> "Heard":
        """The same of some pairs."""
        return Heard(self.rows[kept], self.questions[kept], self.terms[:, kept], self.chances[:, kept])


@dataclass(frozen=True)
class Now:
    """What is known and believed before an answer."""

    model: Model
    direct: Direct
    observed: NDArray[np.bool_]  # [rows, variables]
    target: list[int]
    told: Told
    code: Tensor  # [rows, width]
    hidden: Tensor  # [rows, hidden]

    @classmethod
    def of(cls, model: Model, code: Tensor, observed: NDArray[np.bool_], target: list[int]) -> "Now":
        direct = model.direct_
        assert direct is not None  # noqa: S101  # the strategies see to it
        hidden = direct.hidden(code)
        return cls(model, direct, observed, target, direct.told(target), code, hidden)

    def rewards(self, care: Care) -> Tensor:
        """Nats each question's answer is expected to tell about the target [rows, questions]."""
        rewards = self.code.new_zeros((len(self.code), len(self.model.schema_.questions)))
        belief = self.told(self.hidden)  # [rows, outputs of the target]
        for heard in self.heard(care, PASSES):
            after = self.told(self.direct.hidden(self.code[heard.rows] + heard.terms))
            nats = self.told.kl(after, belief[heard.rows])  # [options, pairs]
            rewards.index_put_((heard.rows, heard.questions), (nats * heard.chances).sum(0))
        return rewards

    def heard(self, care: Care, at_once: int) -> Iterator[Heard]:
        """What may be heard of every open question, ``at_once`` answers or fewer at a time."""
        n_options = self.direct.n_options(care.n_points)
        opened = Pairs.open(self.model.schema_, self.observed, self.target, n_options)
        answers = self.direct.answers(self.hidden, care.n_points)
        for n, pairs in opened.items():
            here = pairs.to(self.code.device)
            if n:
                yield from self._options(here, answers[n], max(1, at_once // n))
            elif len(here):
                yield from self._draws(here, care, max(1, at_once // care.n_draws))

    def _options(self, pairs: Pairs, answers: Answers, at_once: int) -> Iterator[Heard]:
        """Answers that can be gone through."""
        place = torch.zeros(int(answers.variables.max()) + 1, dtype=torch.long, device=pairs.rows.device)
        place[answers.variables] = torch.arange(len(answers.variables), device=place.device)
        column = place[pairs.variables]
        for some in pairs.split(at_once):
            rows, at = pairs.rows[some], column[some]
            terms = self.model.term(answers.values[:, rows, at], pairs.variables[some])
            yield Heard(rows, pairs.questions[some], terms, answers.chances[:, rows, at])

    def _draws(self, pairs: Pairs, care: Care, at_once: int) -> Iterator[Heard]:
        """Answers that are drawn jointly."""
        posterior = self.model.posterior(self.code)
        values = self.model.draw(posterior, care.n_draws, seed=care.seed)  # [draws, rows, variables]
        drawn = values.flatten(1).index_select(1, pairs.cells)
        terms = pairs.sum(self.model.term(drawn, pairs.variables))  # [draws, pairs, width]
        alike = terms.new_full(terms.shape[:2], 1 / care.n_draws)
        for some in pairs.split(at_once):
            yield Heard(pairs.rows[some], pairs.questions[some], terms[:, some], alike[:, some])
