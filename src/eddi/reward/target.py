"""What an answer tells about the target itself: mutual information in the space of the target.

R(i, x_O) = sum over answers a of p(x_i = a | x_O) KL[p(x_phi | x_i = a, x_O) || p(x_phi | x_O)]

the mutual information of answer and target given what is known (Lindley 1956), by the model's direct
beliefs. Never negative, and free of chance: answers are gone through, not drawn, except those that
reveal several variables at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from eddi.model.base import Model
from eddi.model.direct import Answers, Direct, Told
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
    direct = model.direct_
    assert direct is not None  # noqa: S101  # `Information` sees to it
    with torch.inference_mode():
        code = model.code(evidence)
        now = _Now.of(direct, code, positions)
        rewards = code.new_zeros((len(evidence), len(model.schema_.questions)))
        opened = Pairs.open(model.schema_, evidence.observed, positions, direct.n_options())
        answers = direct.answers(now.hidden)
        for n, pairs in opened.items():
            here = pairs.to(code.device)
            if not len(here):
                continue
            if n:
                gain = now.by_options(model, here, answers[n])
            else:
                gain = now.by_draws(model, here, n_draws, seed)
            rewards.index_put_((here.rows, here.questions), gain)
    return rewards


@dataclass(frozen=True)
class _Now:
    """What is known and believed before an answer."""

    direct: Direct
    told: Told
    code: Tensor  # [rows, width]
    hidden: Tensor  # [rows, hidden]
    belief: Tensor  # [rows, outputs of the target]

    @classmethod
    def of(cls, direct: Direct, code: Tensor, target: list[int]) -> "_Now":
        hidden, told = direct.hidden(code), direct.told(target)
        return cls(direct, told, code, hidden, told(hidden))

    def by_options(self, model: Model, pairs: Pairs, answers: Answers) -> Tensor:
        """The reward of pairs whose answers can be gone through [pairs]."""
        place = torch.zeros(int(answers.variables.max()) + 1, dtype=torch.long, device=pairs.rows.device)
        place[answers.variables] = torch.arange(len(answers.variables), device=place.device)
        column = place[pairs.variables]
        parts = []
        for some in pairs.split(max(1, PASSES // len(answers.values))):
            rows = pairs.rows[some]
            values = answers.values[:, rows, column[some]]  # [options, pairs]
            terms = model.term(values, pairs.variables[some])
            nats = self._told(rows, terms)
            parts.append((nats * answers.chances[:, rows, column[some]]).sum(0))
        return torch.cat(parts)

    def by_draws(self, model: Model, pairs: Pairs, n_draws: int, seed: int) -> Tensor:
        """The reward of pairs whose answers are drawn jointly [pairs]."""
        values = model.draw(model.posterior(self.code), n_draws, seed=seed)  # [draws, rows, variables]
        drawn = values.flatten(1).index_select(1, pairs.cells)
        terms = pairs.sum(model.term(drawn, pairs.variables))  # [draws, pairs, width]
        cuts = pairs.split(max(1, PASSES // n_draws))
        return torch.cat([self._told(pairs.rows[some], terms[:, some]).mean(0) for some in cuts])

    def _told(self, rows: Tensor, terms: Tensor) -> Tensor:
        """What hearing each answer tells about the target [options, pairs]."""
        after = self.told(self.direct.hidden(self.code[rows] + terms))
        return self.told.kl(after, self.belief[rows])
