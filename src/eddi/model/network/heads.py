"""Which outputs of a layer say what about which variable: the likelihoods, a group a kind."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn

from eddi.model.network.likelihood import Form, Likelihood
from eddi.model.prediction import COVERAGE
from eddi.table.variable import Kind

Maker = Callable[[list[Form]], nn.Module]


@dataclass(frozen=True)
class Head:
    """Where a group of variables of one kind stands, and the likelihood they share."""

    variables: Tensor  # positions among the evidence's columns
    outputs: slice  # of the layer's outputs
    likelihood: Likelihood


class Heads(nn.Module):
    """What outputs [..., outputs] say about variables of these forms."""

    def __init__(self, forms: Sequence[Form], makers: Mapping[Kind, Maker]) -> None:
        super().__init__()
        self.forms = tuple(forms)
        groups = {kind: [form for form in forms if form.kind is kind] for kind in makers}
        made = {kind.value: makers[kind](group) for kind, group in groups.items() if group}
        self.likelihoods = nn.ModuleDict(made)
        self.extents = _extents(forms, self.likelihoods)
        self.n_outputs = self.extents[-1][2].stop
        by_kind = [d for kind in self.likelihoods for d in _of_kind(forms, kind)]
        self.register_buffer("by_kind", torch.tensor(by_kind), persistent=False)
        self.register_buffer("back", torch.argsort(torch.tensor(by_kind)), persistent=False)
        self.sorted = by_kind == sorted(by_kind)
        self.has_levels = any(form.kind.has_levels for form in self.forms)

    by_kind: Tensor  # [variables] positions, grouped by kind as the heads are
    back: Tensor  # [variables] the inverse of by_kind

    def heads(self) -> Iterator[Head]:
        """The groups of variables that share a likelihood, in the order of the outputs."""
        for kind, variables, outputs in self.extents:
            likelihood = cast("Likelihood", self.likelihoods[kind])
            yield Head(self.by_kind[variables], outputs, likelihood)

    def log_prob(self, outputs: Tensor, values: Tensor) -> Tensor:
        """log p(x_d | z) of every variable [..., variables], in nats of the coded value."""
        return self._each(lambda head, out, x: head.log_prob(out, x), outputs, values)

    def fit_score(self, outputs: Tensor, values: Tensor) -> Tensor:
        """What training adds up of every variable: log-likelihood, tempered where a spread is free."""
        return self._each(lambda head, out, x: _of("fit_score", head)(out, x), outputs, values)

    def exam_score(self, outputs: Tensor, values: Tensor) -> Tensor:
        """How well each variable is foretold, to choose between weights: by CRPS or Brier score."""
        return self._each(lambda head, out, x: _of("exam_score", head)(out, x), outputs, values)

    def quantile(self, outputs: Tensor, level: Tensor) -> Tensor:
        """Coded values at cumulative probability ``level``: draws, for uniform levels."""
        return self._each(lambda head, out, u: head.quantile(out, u), outputs, level)

    def moments(self, outputs: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and variance given z, in the table's own numbers [..., variables]."""
        mean = self._each(lambda head, out: head.moments(out)[0], outputs)
        return mean, self._each(lambda head, out: head.moments(out)[1], outputs)

    def cdf(self, outputs: Tensor, values: Tensor) -> Tensor:
        """P(X_d <= coded value | z) of every variable [..., variables]."""
        return self._each(lambda head, out, x: head.cdf(out, x), outputs, values)

    def left_out(self, outputs: Tensor) -> Tensor:
        """What 90% intervals leave out on either side [rows, variables], of [draws, rows, outputs]."""
        return outputs.new_full((outputs.shape[1], len(self.forms)), (1 - COVERAGE) / 2)

    def _each(
        self, verb: Callable[..., Tensor], outputs: Tensor, by_variable: Tensor | None = None
    ) -> Tensor:
        """Apply a likelihood's verb group by group and put the variables back in order."""
        if len(self.extents) == 1:  # one kind only: nothing to pick apart and put together
            whole = self.likelihoods[self.extents[0][0]]
            return verb(whole, outputs) if by_variable is None else verb(whole, outputs, by_variable)
        parts = []
        for head in self.heads():
            given = () if by_variable is None else (by_variable[..., head.variables],)
            parts.append(verb(head.likelihood, outputs[..., head.outputs], *given))
        joined = torch.cat(parts, dim=-1)
        return joined if self.sorted else joined[..., self.back]


def _of(verb: str, likelihood: Likelihood) -> Callable[[Tensor, Tensor], Tensor]:
    """A likelihood's own score of that name, or its log-likelihood."""
    return getattr(likelihood, verb, likelihood.log_prob)


def _extents(forms: Sequence[Form], likelihoods: nn.ModuleDict) -> list[tuple[str, slice, slice]]:
    """Each kind with where its variables (grouped by kind) and its outputs stand."""
    extents, variable, output = [], 0, 0
    for kind, likelihood in likelihoods.items():
        variables = slice(variable, variable + len(_of_kind(forms, kind)))
        outputs = slice(output, output + cast("Likelihood", likelihood).n_outputs)
        extents.append((kind, variables, outputs))
        variable, output = variables.stop, outputs.stop
    return extents


def _of_kind(forms: Sequence[Form], kind: str) -> list[int]:
    return [position for position, form in enumerate(forms) if form.kind == kind]
