"""What the direct beliefs offer to a reward: possible answers with their chances, and what each tells.

An answer need not be drawn where its own distribution is at hand: all levels of a variable are gone
through, and all atoms of a quantity. Where that takes too long, neighbours are put together.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from eddi.model.atoms import N_ATOMS, Atoms, grouped
from eddi.model.heads import Head, Heads
from eddi.model.likelihood import Form, LevelLikelihood
from eddi.model.network import Marginals, Network
from eddi.model.perceptron import Weights
from eddi.model.settled import Settled
from eddi.table.variable import Kind

MAX_LEVELS = 16  # ranks beyond which neighbours are put together, as those of a quantity are


@dataclass(frozen=True)
class Answers:
    """Every answer that is gone through, those to one variable standing together."""

    values: Tensor  # [rows, answers] coded
    chances: Tensor  # [rows, answers] that add up to 1 for each variable


@dataclass(frozen=True)
class Layout:
    """Where the answers to each variable stand."""

    first: NDArray[np.int64]  # [variables]
    count: NDArray[np.int64]  # [variables]


@dataclass(frozen=True)
class Told:
    """The direct beliefs about a target alone: its rows of the layer, and its likelihoods."""

    heads: Heads
    layer: Weights

    def __call__(self, hidden: Tensor) -> Tensor:
        """Outputs [..., outputs of the target] for what the tail made of a code."""
        return F.linear(hidden, *self.layer)

    def kl(self, after: Tensor, before: Tensor) -> Tensor:
        """KL(after || before) in nats, summed over the target's variables."""
        return self.kl_each(after, before).sum(-1)

    def kl_each(self, after: Tensor, before: Tensor) -> Tensor:
        """The same of each variable [..., target], those of a kind together as the heads have them."""
        parts = [
            head.likelihood.kl(after[..., head.outputs], before[..., head.outputs])  # type: ignore[attr-defined]
            for head in self.heads.heads()
        ]
        return torch.cat(parts, dim=-1)


@dataclass(frozen=True, eq=False)  # one is itself: it is a key by which things are kept
class Direct:
    """The direct beliefs of a network at rest."""

    marginals: Marginals
    settled: Settled

    @classmethod
    def of(cls, network: Network, settled: Settled) -> "Direct | None":
        return None if network.marginals is None else cls(network.marginals, settled)

    def hidden(self, code: Tensor) -> Tensor:
        """What the tail makes of a code [..., last hidden width]."""
        return self.settled.hidden(code)

    def told(self, target: Sequence[int]) -> Told:
        """The beliefs about these variables alone."""
        return _told(self, tuple(target))

    def layout(self, n_points: int = N_ATOMS) -> Layout:
        """Where the answers to each variable stand, with so many for a quantity."""
        return _layout(self, n_points)

    def terms(self, n_points: int = N_ATOMS) -> Tensor | None:
        """What each answer would add to the code [answers, width]; None where it hangs on the row."""
        return _terms(self, n_points)

    def answers(self, hidden: Tensor, n_points: int = N_ATOMS) -> Answers:
        """Possible answers to every variable, for what the tail made of each row's code."""
        parts = [part(hidden) for part in _kept_parts(self, n_points)]
        if len(parts) == 1:
            return Answers(*parts[0])
        values, chances = zip(*parts, strict=True)
        return Answers(torch.cat(values, dim=1), torch.cat(chances, dim=1))


@dataclass(frozen=True)
class _Table:
    """Some variables with a number of possible answers each, and how their chances are come by."""

    variables: list[int]
    counts: list[int]  # of answers
    values: Tensor  # [variables, most answers]
    chances: Callable[[Tensor], Tensor]  # hidden to [rows, variables, most answers], 0 where none is

    def only(self, places: list[int]) -> "_Table":
        """The same for the variables at these places alone."""
        here = torch.tensor(places, device=self.values.device)
        return _Table(
            variables=[self.variables[place] for place in places],
            counts=[self.counts[place] for place in places],
            values=self.values[here],
            chances=lambda hidden: self.chances(hidden).index_select(1, here),
        )


class _Each:
    """All answers of a table, as they are."""

    def __init__(self, table: _Table) -> None:
        self.table, self.variables, self.counts = table, table.variables, table.counts
        most = table.values.shape[1]
        cells = [row * most + n for row, count in enumerate(table.counts) for n in range(count)]
        self.cells = torch.tensor(cells, device=table.values.device)
        self.values = table.values.flatten()[self.cells]

    def __call__(self, hidden: Tensor) -> tuple[Tensor, Tensor]:
        chances = self.table.chances(hidden).flatten(1).index_select(1, self.cells)
        return self.values.expand(len(hidden), -1), chances


class _Grouped:
    """The answers of a table, neighbours put together to so many a variable."""

    def __init__(self, table: _Table, n: int) -> None:
        self.table, self.variables, self.counts = table, table.variables, [n] * len(table.variables)
        self.n = n

    def __call__(self, hidden: Tensor) -> tuple[Tensor, Tensor]:
        values, chances = grouped(self.table.values, self.table.chances(hidden), self.n)
        return values.flatten(1), chances.flatten(1)


def _parts(direct: "Direct", n_points: int) -> list[_Each | _Grouped]:
    """How the answers of each group of variables are come by."""
    parts: list[_Each | _Grouped] = []
    for table in _tables(direct):
        apart = [direct.marginals.forms[variable] for variable in table.variables]
        many = [p for p, form in enumerate(apart) if _is_long(form) and table.counts[p] > n_points]
        whole = [place for place in range(len(apart)) if place not in many]
        parts += [_Each(table.only(whole))] if whole else []
        parts += [_Grouped(table.only(many), n_points)] if many else []
    return parts


def _is_long(form: Form) -> bool:
    """Whether neighbouring answers may be put together: those of a quantity, or of many ranks."""
    return not form.kind.has_levels or (form.kind is Kind.ORDINAL and form.n_levels > MAX_LEVELS)


def _tables(direct: "Direct") -> Iterator[_Table]:
    """The atoms of the quantities, and the levels of every other kind."""
    marginals, layer = direct.marginals, direct.settled.marginal
    if marginals.atoms is not None:
        yield _atoms(marginals.atoms, marginals.quantities.tolist())
    for head in marginals.heads():
        if isinstance(head.likelihood, LevelLikelihood):
            yield _levels(head, marginals.forms, layer)  # type: ignore[arg-type]


def _atoms(atoms: Atoms, quantities: list[int]) -> _Table:
    weight, bias = atoms.layer.weight, atoms.layer.bias + atoms.unreached().flatten()
    return _Table(
        variables=quantities,
        counts=(1 + atoms.upper.isfinite().sum(1)).tolist(),
        values=atoms.values,
        chances=lambda hidden: F.linear(hidden, weight, bias).view(-1, *atoms.values.shape).softmax(-1),
    )


def _levels(head: Head, forms: Sequence[Form], layer: Weights) -> _Table:
    weight, bias = (each[head.outputs] for each in layer)
    likelihood = cast("LevelLikelihood", head.likelihood)
    variables = head.variables.tolist()
    counts = [forms[variable].n_levels for variable in variables]
    return _Table(
        variables=variables,
        counts=counts,
        values=torch.arange(float(max(counts)), device=weight.device).expand(len(counts), -1),
        chances=lambda hidden: likelihood.probabilities(F.linear(hidden, weight, bias)),
    )


@lru_cache(64)
def _kept_parts(direct: "Direct", n_points: int) -> list[_Each | _Grouped]:
    return _parts(direct, n_points)


@lru_cache(8)
def _terms(direct: "Direct", n_points: int) -> Tensor | None:
    parts = _kept_parts(direct, n_points)
    if any(isinstance(part, _Grouped) for part in parts):
        return None
    values = torch.cat([part.values for part in parts if isinstance(part, _Each)])
    owners = [variable for part in parts for variable in np.repeat(part.variables, part.counts).tolist()]
    return direct.settled.term(values, torch.tensor(owners, device=values.device))


@lru_cache(64)
def _layout(direct: Direct, n_points: int) -> Layout:
    parts = _kept_parts(direct, n_points)
    variables = np.array([variable for part in parts for variable in part.variables])
    counts = np.array([count for part in parts for count in part.counts])
    first, count = np.zeros_like(counts), np.zeros_like(counts)
    count[variables] = counts
    first[variables] = counts.cumsum() - counts
    return Layout(first, count)


@lru_cache(64)
def _told(direct: Direct, target: tuple[int, ...]) -> Told:
    marginals = direct.marginals
    heads = marginals.alone(target).to(direct.settled.device)
    rows: list[int] = []
    for head in heads.heads():
        wanted = [target[place] for place in head.variables.tolist()]
        rows += marginals.rows_of(wanted)
    weight, bias = direct.settled.marginal  # type: ignore[misc]
    chosen = torch.tensor(rows, device=weight.device)
    return Told(heads, (weight[chosen], bias[chosen]))
