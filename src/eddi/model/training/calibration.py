"""Beliefs put right after training, on rows that training did not see.

A network trained to fit grows too sure of itself, the more so the more it has been told. Three facts for
each variable mend it, and leave every mean and every most likely level as it was:

- a quantity's spread s becomes stretch * s ** power: narrow beliefs can be widened without touching the
  broad ones;
- the log odds of levels are divided by a temperature (Guo et al. 2017);
- the 90% interval of a quantity runs between two quantiles chosen so that nine in ten of the truths that
  were hidden lie within, counted as conformal prediction counts (Chernozhukov et al. 2021): the promise
  then holds for another such row whatever the belief's shape. Beliefs are counted among others as broad:
  interviews ask for what tells most, and know more than as many answers picked at random would tell.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from eddi.model.network.likelihood import LevelLikelihood
from eddi.model.network.network import N_GROUPS, Marginals, Network, group_of
from eddi.model.prediction import COVERAGE
from eddi.model.training.objective import Batch
from eddi.table.variable import Kind

ITERATIONS = 100  # of a descent over two numbers a variable
RATE = 0.05  # of that descent, on a log scale: it ends within a few hundredths
LEAST_ROWS = 20  # hidden values below which a variable's belief is left as it is
LEAST_IN_GROUP = 50  # hidden values for which beliefs as broad are counted apart
SAME_SPREAD = 1e-4  # relative difference below which two beliefs are as broad
ROWS_A_GROUP = 10  # different rows needed for it: nine truths lie within, one outside
LEAST_TAIL = 1e-5  # beyond it float32 cannot tell quantiles apart
CAUTION = 3.0  # how many rows' worth of likelihood it takes to move a dial by one (on a log scale)


def calibrate(network: Network, batch: Batch, n_rows: int) -> None:
    """Set the dials by what ``batch`` hides: ``n_rows`` different ones, over and over."""
    marginals = network.marginals
    if marginals is None:
        return
    with torch.no_grad():
        outputs = marginals(network.hidden(network.code(batch.seen(), batch.observed)))
    hidden = batch.known - batch.observed
    hidden = hidden * (hidden.sum(0) >= LEAST_ROWS)
    _set_spreads(marginals, outputs, batch.values, hidden)
    cooled = _set_temperatures(marginals, outputs, batch.values, hidden)
    with torch.no_grad():
        count_outside(marginals, cooled, batch.values, hidden, (batch.known[:n_rows] > 0).sum(0))


def _set_spreads(marginals: Marginals, outputs: Tensor, values: Tensor, hidden: Tensor) -> None:
    for head in marginals.heads():
        if isinstance(head.likelihood, LevelLikelihood):
            continue
        part, truth, wanted = (
            outputs[:, head.outputs],
            values[:, head.variables],
            hidden[:, head.variables],
        )
        likelihood = head.likelihood

        def misfit(dial: Tensor) -> Tensor:
            likelihood.dial = dial.exp()  # type: ignore[attr-defined]  # noqa: B023  # called before the next
            return -(likelihood.log_prob(part, truth) * wanted).sum()  # noqa: B023

        likelihood.dial = _least(misfit, likelihood.dial.log()).exp()  # type: ignore[attr-defined]


def _set_temperatures(marginals: Marginals, outputs: Tensor, values: Tensor, hidden: Tensor) -> Tensor:
    """Scale the layer's rows that speak of levels; returns the outputs as they are then."""
    for head in marginals.heads():
        if not isinstance(head.likelihood, LevelLikelihood):
            continue
        part, truth, wanted = (
            outputs[:, head.outputs],
            values[:, head.variables],
            hidden[:, head.variables],
        )
        likelihood, owner = head.likelihood, _owners(head.likelihood, len(head.variables))
        owner = owner.to(part.device)

        def misfit(cold: Tensor) -> Tensor:
            cooled = part * torch.exp(cold[owner])  # noqa: B023  # called before the next
            return -(likelihood.log_prob(cooled, truth) * wanted).sum()  # noqa: B023

        scale = torch.exp(_least(misfit, part.new_zeros(len(head.variables))))[owner]
        with torch.no_grad():
            outputs[:, head.outputs] *= scale
            marginals.layer.weight[head.outputs] *= scale[:, None]
            marginals.layer.bias[head.outputs] *= scale
    return outputs


def _owners(likelihood: LevelLikelihood, n: int) -> Tensor:
    """Which variable of its head each output speaks of."""
    rows = [likelihood.rows_of([place]) for place in range(n)]  # type: ignore[attr-defined]
    owner = torch.zeros(sum(map(len, rows)), dtype=torch.long)
    for place, some in enumerate(rows):
        owner[some] = place
    return owner


def _least(misfit: Callable[[Tensor], Tensor], start: Tensor) -> Tensor:
    """The dials with the least misfit; each move away from where they stand has a price."""
    dial = start.detach().clone().requires_grad_(True)
    optimiser = torch.optim.Adam([dial], lr=RATE)
    with torch.enable_grad():
        for _ in range(ITERATIONS):
            optimiser.zero_grad()
            total = misfit(dial) + CAUTION * (dial - start).square().sum()
            total.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
    found = dial.detach()
    return torch.where(torch.isfinite(found), found, start)  # a value beyond all reason moves nothing


def count_outside(
    marginals: Marginals, outputs: Tensor, values: Tensor, hidden: Tensor, n_rows: Tensor
) -> None:
    """Set what intervals leave out so that nine truths in ten lie within, apart for broad and narrow.

    ``n_rows`` [variables] are the different rows in which each variable is known.
    """
    left, spread = _left(marginals, outputs, values), marginals.spread(outputs)
    for variable, form in enumerate(marginals.forms):
        if form.kind.has_levels or not (some := hidden[:, variable] > 0).any():
            continue  # the interval of ordered levels is the belief's own: it holds whole levels
        edges, tails = marginals.edges[:, variable], marginals.outside[:, variable]
        n_groups = min(max(int(n_rows[variable]) // ROWS_A_GROUP, 1), N_GROUPS)
        inner = torch.linspace(0, 1, n_groups + 1, device=spread.device)[1:-1]
        edges.fill_(torch.inf)
        # Many rows may share a spread, as all do that show nothing; rounding must not part them.
        edges[: n_groups - 1] = torch.quantile(spread[some, variable], inner) * (1 + SAME_SPREAD)
        groups = group_of(spread[some, variable, None], edges[:, None])[:, 0]
        tails.fill_(_tail(left[some, variable]))
        for group in range(n_groups):
            if (here := groups == group).sum() >= LEAST_IN_GROUP:
                tails[group] = _tail(left[some, variable][here])
        tails.clamp_(LEAST_TAIL, 0.5 - LEAST_TAIL)


def _left(marginals: Marginals, outputs: Tensor, values: Tensor) -> Tensor:
    """How much of each belief lies beyond the truth, on the side where less does [rows, variables]."""
    at_most = marginals.cdf(outputs, values)
    counts = torch.tensor([form.kind is Kind.COUNT for form in marginals.forms], device=values.device)
    exactly = marginals.log_prob(outputs, values).exp() * counts
    return torch.minimum(at_most, 1 - at_most + exactly)


def _tail(left: Tensor) -> float:
    """The largest tail that leaves out at most one truth in ten, one more truth being reckoned with."""
    rank = math.floor((1 - COVERAGE) * (len(left) + 1))
    return float(left.sort().values[rank - 1]) if rank else (1 - COVERAGE) / 2
