"""Every answer that may come, with its chance, by a network's direct beliefs.

An answer need not be drawn where its own distribution is at hand: all levels of a variable are gone
through, and all atoms of a quantity. Where that takes too long, neighbours are put together.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from eddi.model.inference.frozen import Settled
from eddi.model.network.atoms import Atoms, grouped
from eddi.model.network.heads import Head
from eddi.model.network.likelihood import Form, LevelLikelihood
from eddi.model.network.mlp import Weights
from eddi.model.network.network import Marginals
from eddi.table.variable import Kind

MAX_LEVELS = 16  # ranks beyond which neighbours are put together, as those of a quantity are


@dataclass(frozen=True)
class Answers:
    """What some rows may answer to every variable, the answers to one variable standing together."""

    values: Tensor  # [rows, answers] coded
    chances: Tensor  # [rows, answers] that add up to 1 for each variable


@dataclass(frozen=True)
class Possible:
    """The answers to every variable of a network at rest."""

    parts: "tuple[_Each | _Grouped, ...]"
    first: NDArray[np.int64]  # [variables] where the answers to each begin
    count: NDArray[np.int64]  # [variables] how many there are
    terms: Tensor | None  # [answers, width] what each adds, entered; None where it hangs on the row

    @classmethod
    def of(cls, marginals: Marginals, settled: Settled, n_points: int) -> "Possible":
        """With at most so many for a quantity."""
        parts = tuple(_parts(marginals, settled, n_points))
        variables = np.array([variable for part in parts for variable in part.variables])
        counts = np.array([count for part in parts for count in part.counts])
        first, count = np.zeros_like(counts), np.zeros_like(counts)
        count[variables] = counts
        first[variables] = counts.cumsum() - counts
        owners = torch.from_numpy(np.repeat(variables, counts)).to(settled.device)
        each = [part.values for part in parts if isinstance(part, _Each)]
        fixed = len(each) == len(parts)
        terms = settled.added(settled.term(torch.cat(each), owners)) if fixed else None
        return cls(parts, first, count, terms)

    def __call__(self, hidden: Tensor) -> Answers:
        """For what the tail made of each row's code."""
        found = [part(hidden) for part in self.parts]
        if len(found) == 1:
            return Answers(*found[0])
        values, chances = zip(*found, strict=True)
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
        if len(places) == len(self.variables):
            return self
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
        self.variables, self.counts, self._chances = table.variables, table.counts, table.chances
        most = table.values.shape[1]
        cells = [row * most + n for row, count in enumerate(table.counts) for n in range(count)]
        self._cells = torch.tensor(cells, device=table.values.device)
        self.values = table.values.flatten()[self._cells]

    def __call__(self, hidden: Tensor) -> tuple[Tensor, Tensor]:
        chances = self._chances(hidden).flatten(1).index_select(1, self._cells)
        return self.values.expand(len(hidden), -1), chances


class _Grouped:
    """The answers of a table, neighbours put together to so many a variable."""

    def __init__(self, table: _Table, n: int) -> None:
        self.variables, self.counts = table.variables, [n] * len(table.variables)
        self._table, self._n = table, n

    def __call__(self, hidden: Tensor) -> tuple[Tensor, Tensor]:
        values, chances = grouped(self._table.values, self._table.chances(hidden), self._n)
        return values.flatten(1), chances.flatten(1)


def _parts(marginals: Marginals, settled: Settled, n_points: int) -> Iterator[_Each | _Grouped]:
    for table in _tables(marginals, settled):
        forms = [marginals.forms[variable] for variable in table.variables]
        is_many = [_is_long(form) and n > n_points for form, n in zip(forms, table.counts, strict=True)]
        if whole := [place for place, many in enumerate(is_many) if not many]:
            yield _Each(table.only(whole))
        if many := [place for place, many in enumerate(is_many) if many]:
            yield _Grouped(table.only(many), n_points)


def _is_long(form: Form) -> bool:
    """Whether neighbouring answers may be put together: those of a quantity, or of many ranks."""
    return not form.kind.has_levels or (form.kind is Kind.ORDINAL and form.n_levels > MAX_LEVELS)


def _tables(marginals: Marginals, settled: Settled) -> Iterator[_Table]:
    """The atoms of the quantities, and the levels of every other kind."""
    if marginals.atoms is not None:
        yield _atoms(marginals.atoms, marginals.quantities.tolist())
    for head in marginals.heads():
        if isinstance(head.likelihood, LevelLikelihood):
            yield _levels(head, marginals.forms, cast("Weights", settled.marginal))


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
