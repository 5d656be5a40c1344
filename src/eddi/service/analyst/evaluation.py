"""How well a model finds out its target on rows it has never seen, as one plain document."""

import time
from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np
import pyarrow as pa

from eddi.evaluate import bootstrap
from eddi.evaluate.bootstrap import Band
from eddi.evaluate.calibration import Calibration, interval_coverage
from eddi.evaluate.comparison import compare, wilcoxon
from eddi.evaluate.curves import Curves, Metric, Numbers
from eddi.evaluate.simulate import read_truth, resolve_target, simulate
from eddi.model.fitted import FittedModel
from eddi.strategy.base import Strategy
from eddi.strategy.fixed_order import FixedOrder
from eddi.strategy.information import Information
from eddi.strategy.per_cost import PerCost
from eddi.strategy.random import Random
from eddi.table import formats
from eddi.table.evidence import Evidence

VERSION = 1
MAX_ROWS = 1_000  # a band over more rows is hardly narrower, and every row is interviewed several times
MAX_STEPS = 60  # questions a row is asked; few would answer more
N_IMAGINED = 100  # rows drawn from the model, from which the fixed order is learned
N_COSTS = 48  # points along the cost axis
SHARES = (0.5, 0.8, 0.9)  # of the belief, whose intervals are looked at
EDDI, PER_COST, FIXED, RANDOM = "eddi", "per cost", "fixed", "random"

Document = dict[str, Any]
OnProgress = Callable[[float], None]
"""Told how much is done, from 0 to 1."""


def evaluate(
    model: FittedModel,
    held_out: Any,
    target: str | None = None,
    *,
    on_progress: OnProgress | None = None,
) -> Document:
    """Interview held-out rows by EDDI, in one fixed order, and at random, and judge the predictions.

    The fixed order is learned on rows that the model itself imagines, so that it has not seen those it
    is judged on. Bands are the central 90% over rows drawn anew. The document is plain JSON.

    Args:
        model: what was learned.
        held_out: a table of rows that it did not learn from; the first thousand are interviewed.
        target: what one wants to know; the model's own where None.
        on_progress: called after every question that all rows were asked.

    Raises:
        TargetError: there is not one target, or no row knows it.
    """
    began = time.monotonic()
    name = resolve_target(model, target)
    given = formats.read(held_out)
    table = given.slice(0, MAX_ROWS)
    read_truth(model, table, name)  # refused before any work is done
    curves = _simulations(model, table, name, on_progress or _nobody)
    main = curves[EDDI]
    metrics = _metrics(main)
    variable = model.schema[name]
    return {
        "version": VERSION,
        "target": name,
        "unit": variable.unit,
        "kind": str(variable.kind),
        "levels": list(variable.levels),
        "n_rows": int(main.known.sum()),
        "n_given": given.num_rows,
        "n_steps": main.n_steps,
        "metrics": list(metrics),
        "curves": {metric: _bands(curves, metric) for metric in metrics},
        "standings": {metric: _standings(curves, metric) for metric in metrics},
        "row_areas": {metric: _plain(main.row_area(metric)) for metric in metrics},
        "calibration": [_calibration(main, step) for step in _milestones(main.n_steps)],
        "frontier": _frontier(curves, metrics[0]) if _costs_differ(model, name) else None,
        "choices": _choices(main),
        "seconds": round(time.monotonic() - began, 1),
    }


def _nobody(_share: float) -> None:
    """Nobody wants to know how far it is."""


def _simulations(
    model: FittedModel, table: pa.Table, target: str, on_progress: OnProgress
) -> dict[str, Curves]:
    """Each strategy's interviews with the same rows; the questions asked of all are as many."""
    strategies: dict[str, Callable[[], Strategy]] = {
        EDDI: Information,
        FIXED: lambda: FixedOrder.learn(model, _imagined(model), target),
        RANDOM: Random,
    }
    if _costs_differ(model, target):
        strategies[PER_COST] = lambda: PerCost(Information())
    found = {}
    for place, (name, strategy) in enumerate(strategies.items()):

        def on_step(step: int, n_steps: int, place: int = place) -> None:
            on_progress((place + step / max(n_steps, 1)) / len(strategies))

        found[name] = simulate(
            model, table, target, strategy=strategy(), max_steps=MAX_STEPS, on_progress=on_step
        )
    return _as_long(found)


def _as_long(curves: Mapping[str, Curves]) -> dict[str, Curves]:
    """The same curves, those that ended early going on as they ended.

    Where some questions need another's answer, one order may reach more of them than another.
    """
    longest = max(each.n_steps for each in curves.values())
    return {name: each.pad(longest) for name, each in curves.items()}


def _imagined(model: FittedModel) -> dict[str, list[Any]]:
    """A table of rows as the model believes them to be."""
    nothing = Evidence.empty(N_IMAGINED, len(model.schema.variables))
    drawn = model.draw_tables(nothing, 1, seed=0)[0]  # [rows, variables]
    return {
        variable.name: [variable.answer(number) for number in column]
        for variable, column in zip(model.schema.variables, drawn.T.tolist(), strict=True)
    }


def _costs_differ(model: FittedModel, target: str) -> bool:
    questions = [one for one in model.schema.questions if target not in one.reveals and not one.never]
    return len({question.cost for question in questions}) > 1


def _metrics(curves: Curves) -> tuple[Metric, ...]:
    """What the target is judged by, the leading one first."""
    return ("rmse", "nll") if curves.probabilities is None else ("nll", "accuracy", "brier")


def _bands(curves: Mapping[str, Curves], metric: Metric) -> Document:
    return {name: _band(bootstrap.band(each, metric)) for name, each in curves.items()}


def _band(found: Band) -> Document:
    return {"value": _plain(found.value), "low": _plain(found.low), "high": _plain(found.high)}


def _standings(curves: Mapping[str, Curves], metric: Metric) -> list[Document]:
    """Each strategy's area under its curve, and EDDI's paired difference from it."""
    return [
        {
            "name": standing.name,
            "auic": _band(bootstrap.area(curves[standing.name], metric)),
            "rank": _plain(standing.rank),
            "rank_error": _plain(standing.rank_error),
            "last": _plain(standing.last),
            "n_asked": _plain(standing.n_asked),
            "spent": _plain(standing.spent),
            "against": None if standing.name == EDDI else _against(curves, standing.name, metric),
        }
        for standing in compare(curves, metric)
    ]


def _against(curves: Mapping[str, Curves], other: str, metric: Metric) -> Document:
    """EDDI's area less the other's, row by row, and Wilcoxon's p-value for it."""
    difference = bootstrap.area_difference(curves[EDDI], curves[other], metric)
    return {**_band(difference), "p_value": wilcoxon(curves[EDDI], curves[other], metric)}


def _milestones(n_steps: int) -> list[int]:
    """Before the first question, half-way, and in the end."""
    return sorted({0, (n_steps + 1) // 2, n_steps})


def _calibration(curves: Curves, step: int) -> Document:
    found = Calibration.from_curves(curves, step)
    points = (found.predicted, found.observed, found.low, found.high, found.n_rows)
    names = ("stated", "came", "low", "high", "n_rows")
    intervals = (
        {}
        if curves.rank is None
        else dict(
            zip(map(str, SHARES), _plain(interval_coverage(curves, step, np.array(SHARES))), strict=True)
        )
    )
    return {
        "step": step,
        **{name: _plain(numbers) for name, numbers in zip(names, points, strict=True)},
        "error": _plain(curves.calibration_error[step]),
        "intervals": intervals,
    }


def _frontier(curves: Mapping[str, Curves], metric: Metric) -> Document:
    """The leading metric against what was spent."""
    most = max(float(each.spent.max()) for each in curves.values())
    costs = np.linspace(0.0, most, N_COSTS)
    by_cost = {name: each.by_cost(costs) for name, each in curves.items()}
    return {"metric": metric, "costs": _plain(costs), "curves": _bands(by_cost, metric)}


def _choices(curves: Curves) -> list[Document]:
    """For each step, the questions most rows were asked, and by what share of rows."""
    found = []
    for asked in curves.order.T:  # [rows]
        places, counts = np.unique(asked[asked >= 0], return_counts=True)
        ranked = sorted(zip(counts.tolist(), places.tolist(), strict=True), reverse=True)
        found.append({curves.questions[place]: count / len(asked) for count, place in ranked})
    return found


def _plain(numbers: Numbers | float) -> Any:
    """Numbers as JSON has them, not longer than they are worth; what is none is null."""
    listed = np.asarray(numbers, dtype=np.float64)
    rounded = [float(f"{each:.6g}") if np.isfinite(each) else None for each in listed.ravel()]
    return rounded[0] if listed.ndim == 0 else cast(Any, rounded)
