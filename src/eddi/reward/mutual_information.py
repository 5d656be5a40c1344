"""What an answer tells about the target itself: mutual information in the space of the target.

R(i, x_O) = sum over answers a of p(x_i = a | x_O) KL[p(x_phi | x_i = a, x_O) || p(x_phi | x_O)]

the mutual information of answer and target given what is known (Lindley 1956), by the model's direct
beliefs. Never negative, and free of chance: answers are gone through, not drawn, except those that
reveal several variables at once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from eddi.model.base import Model
from eddi.model.inference.marginal_predictor import Direct, Told
from eddi.model.network.atoms import N_ATOMS
from eddi.reward.candidates import MAX_KEPT, Cells, Pairs, Same
from eddi.table.evidence import Evidence

PASSES = 8_192  # tail passes at once: their widest layer stays in a cache


def information(
    model: Model, evidence: Evidence, target: Sequence[str], *, n_draws: int, seed: int
) -> Tensor:
    """Nats each question's answer is expected to tell about the target [rows, questions].

    The model must have direct beliefs. A question that would show nothing new, or that touches the
    target, is worth 0. Of several target variables, what is told of each is added up.
    """
    care = Care(n_draws=n_draws, seed=seed)
    if len(evidence) == 1 and not evidence.observed.any():
        return _first(Beginning.of(model, target), care).clone()
    return _information(model, evidence, model.schema_.positions(dict.fromkeys(target)), care)


def _information(model: Model, evidence: Evidence, target: list[int], care: "Care") -> Tensor:
    with torch.inference_mode():
        return Now.known(model, evidence, target).rewards(care)


@dataclass(frozen=True)
class Beginning:
    """Where every interview about a target begins: a key by which what is worked out there is kept."""

    model: Model
    direct: Direct | None  # it changes when the model is fitted again
    schema: Same
    target: tuple[int, ...]  # positions

    @classmethod
    def of(cls, model: Model, target: Sequence[str]) -> "Beginning":
        positions = model.schema_.positions(dict.fromkeys(target))
        return cls(model, model.direct_, Same(model.schema_), tuple(positions))

    @property
    def nothing(self) -> Evidence:
        """One row of which nothing is known."""
        return Evidence.empty(1, len(self.schema.schema.variables))


@lru_cache(MAX_KEPT)
def _first(beginning: Beginning, care: "Care") -> Tensor:
    """The rewards of whoever has said nothing yet: every interview begins with them."""
    return _information(beginning.model, beginning.nothing, list(beginning.target), care)


@dataclass(frozen=True)
class Care:
    """With how much care answers are gone through.

    Args:
        n_points: answers of a quantity, or fewer.
        n_draws: of answers that reveal several variables at once.
        seed: of those draws.
    """

    n_points: int = N_ATOMS
    n_draws: int = 50
    seed: int = 0


@dataclass(frozen=True)
class Heard:
    """Answers that may be heard, one after another."""

    rows: Tensor  # [answers] whose
    questions: Tensor  # [answers] to what
    terms: Tensor  # [answers, width] what each would add to the entered code
    chances: Tensor  # [answers] that add up to 1 for each row and question

    def where(self, kept: Tensor) -> "Heard":
        """Some of them."""
        return Heard(self.rows[kept], self.questions[kept], self.terms[kept], self.chances[kept])

    def of(self, by_row: Tensor) -> Tensor:
        """What each answer's row has; of one row all have the same, and nothing is copied."""
        return by_row if len(by_row) == 1 else by_row.index_select(0, self.rows)

    def add(self, worth: Tensor, total: Tensor) -> None:
        """Add the mean over answers of what each is worth [answers] to ``total`` [rows, questions]."""
        total.index_put_((self.rows, self.questions), worth * self.chances, accumulate=True)


@dataclass(frozen=True)
class Now:
    """What is known and believed before an answer."""

    model: Model
    direct: Direct
    observed: NDArray[np.bool_]  # [rows, variables]
    target: list[int]
    told: Told
    entered: Tensor  # [rows, width] the code, as far as the tail is linear
    hidden: Tensor  # [rows, hidden]

    @classmethod
    def known(cls, model: Model, evidence: Evidence, target: list[int]) -> "Now":
        """Where rows stand that know this much."""
        direct = model.direct_
        assert direct is not None  # noqa: S101  # the strategies see to it
        entered = direct.settled.entered(model.code(evidence))
        told = direct.told(target)
        return cls(model, direct, evidence.observed, target, told, entered, direct.hidden(entered))

    def after(self, heard: Heard, observed: NDArray[np.bool_]) -> "Now":
        """Where each answer would lead, which is a row of its own then."""
        entered = heard.of(self.entered) + heard.terms
        return replace(self, observed=observed, entered=entered, hidden=self.direct.hidden(entered))

    def rewards(self, care: Care) -> Tensor:
        """Nats each question's answer is expected to tell about the target [rows, questions]."""
        rewards = self.entered.new_zeros((len(self.entered), len(self.model.schema_.questions)))
        belief = self.told(self.hidden)  # [rows, outputs of the target]
        for heard in self.heard(care, PASSES):
            after = self.told(self.direct.hidden(heard.of(self.entered) + heard.terms))
            heard.add(self.told.kl(after, heard.of(belief)), rewards)
        return rewards

    def heard(self, care: Care, at_once: int) -> Iterator[Heard]:
        """What may be heard of every open question, ``at_once`` answers or fewer at a time."""
        one, several = Cells.open(self.model.schema_, self.observed, self.target).split()
        if len(one.row):
            yield from self._gone_through(one, care, at_once)
        if several is not None and len(several.row):
            yield from self._drawn(several.pairs().to(self.entered.device), care, at_once)

    def _gone_through(self, cells: Cells, care: Care, at_once: int) -> Iterator[Heard]:
        """Answers that show one variable: all its levels or atoms."""
        possible = self.direct.possible(care.n_points)
        answers = possible(self.hidden)
        count = possible.count[cells.variable]
        which = np.repeat(np.arange(len(count)), count)  # [answers] of which cell
        place = np.arange(len(which)) + (possible.first[cells.variable] - count.cumsum() + count)[which]
        row, n_answers = cells.row[which], answers.values.shape[1]
        columns = (row, place, row * n_answers + place, cells.question[which], cells.variable[which])
        rows, places, at, questions, variables = (self._here(each) for each in columns)
        values, chances = (
            each.flatten().index_select(0, at) for each in (answers.values, answers.chances)
        )
        for start in range(0, len(which), at_once):
            some = slice(start, start + at_once)
            if possible.terms is None:
                terms = self._added(self.model.term(values[some], variables[some]))
            else:
                terms = possible.terms.index_select(0, places[some])
            yield Heard(rows[some], questions[some], terms, chances[some])

    def _here(self, positions: NDArray[np.int64]) -> Tensor:
        return torch.from_numpy(positions).to(self.entered.device)

    def _added(self, terms: Tensor) -> Tensor:
        return self.direct.settled.added(terms)

    def _drawn(self, pairs: Pairs, care: Care, at_once: int) -> Iterator[Heard]:
        """Answers that show several variables, drawn jointly."""
        posterior = self.direct.settled.posterior_of(self.hidden)
        values = self.model.draw(posterior, care.n_draws, seed=care.seed)  # [draws, rows, variables]
        drawn = values.flatten(1).index_select(1, pairs.cells)
        terms = self._added(pairs.sum(self.model.term(drawn, pairs.variables)))  # [draws, pairs, width]
        for some in pairs.split(max(1, at_once // care.n_draws)):
            rows, questions = (each[some].repeat(care.n_draws) for each in (pairs.rows, pairs.questions))
            alike = terms.new_full(rows.shape, 1 / care.n_draws)
            yield Heard(rows, questions, terms[:, some].flatten(0, 1), alike)
