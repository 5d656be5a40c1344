"""The evaluation of a model on held-out rows, as one JSON document."""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, cast

import numpy as np
import pyarrow as pa

from eddi.evaluate import bootstrap
from eddi.evaluate.bootstrap import Band
from eddi.evaluate.calibration import Calibration, interval_coverage
from eddi.evaluate.comparison import compare
from eddi.evaluate.curves import Curves, Metric, Numbers
from eddi.evaluate.simulate import read_truth, resolve_target, simulate
from eddi.evaluate.simulation_report import BASELINES, main_metric, majority_rate
from eddi.model.fitted import FittedModel
from eddi.strategy.base import Strategy
from eddi.strategy.names import default_strategy, make_strategy, name_strategy
from eddi.table import formats

VERSION = 2  # since 2, "eddi" is the strategy that interviews use, also if costs differ
MAX_ROWS = 1_000  # more rows hardly narrow the bands, and each is interviewed by several strategies
MAX_STEPS = 60  # questions per row; few respondents would answer more
N_COSTS = 48  # points along the cost axis
INTERVAL_SHARES = (0.5, 0.8, 0.9)  # probability mass of the central intervals that are checked
EDDI, INFORMATION, FIXED, RANDOM = "eddi", "information", "fixed", "random"

Document = dict[str, Any]
OnProgress = Callable[[float], None]
"""Called with the fraction that is done, from 0 to 1."""


def evaluate(
    model: FittedModel,
    held_out: Any,
    target: str | None = None,
    *,
    on_progress: OnProgress | None = None,
) -> Document:
    """Simulate interviews with held-out rows by several strategies, and score the predictions.

    The strategies are those of `eddi simulate`: EDDI as in interviews (per unit of cost if costs differ),
    one fixed order and a random order. If costs differ, EDDI is also simulated without regard to them. The
    fixed order is learned on rows drawn from the model, so that it does not depend on the held-out rows.
    Bands are central 90% bootstrap intervals over rows, those of differences 95%. AUROC has none. The
    document is plain JSON. Information is in nats.

    Args:
        model: the fitted model.
        held_out: a table of rows that training did not use; the first thousand are interviewed.
        target: the target to predict; the model's own target if None.
        on_progress: called after every simulated step.

    Raises:
        TargetError: there is not exactly one target, or no row has a value of it.
    """
    started = time.monotonic()
    name = resolve_target(model, target)
    given = formats.read(held_out)
    rows = given.slice(0, MAX_ROWS)
    read_truth(model, rows, name)  # raises before any work is done
    curves = _simulate_strategies(model, rows, name, on_progress or _ignore_progress)
    main = curves[EDDI]
    metrics = _metrics(main)
    variable = model.schema[name]
    return {
        "version": VERSION,
        "target": name,
        "unit": "" if variable.survival is not None else variable.unit,  # its error is a probability
        "kind": str(variable.kind),
        "levels": list(variable.levels),
        "n_rows": int(main.known.sum()),
        "n_given": given.num_rows,
        "n_steps": main.n_steps,
        "strategy": name_strategy(default_strategy(model, (name,))),
        "majority_rate": majority_rate(main),
        "metrics": list(metrics),
        "curves": {metric: _bands(curves, metric) for metric in metrics},
        "auroc": None if main.auroc is None else _aurocs(curves),
        "concordance": None if main.concordance is None else _concordances(curves),
        "standings": {metric: _rankings(curves, metric) for metric in metrics},
        "row_areas": {metric: _to_json(main.row_area(metric)) for metric in metrics},
        "calibration": [_calibration(main, step) for step in _milestones(main.n_steps)],
        "frontier": _frontier(curves, metrics[0]) if _costs_differ(model, name) else None,
        "choices": _choices(main),
        "seconds": round(time.monotonic() - started, 1),
    }


def _ignore_progress(_fraction: float) -> None:
    pass


def _simulate_strategies(
    model: FittedModel, rows: pa.Table, target: str, on_progress: OnProgress
) -> dict[str, Curves]:
    """The curves of each strategy on the same rows, padded to the same number of steps."""
    used = default_strategy(model, (target,))
    strategies: dict[str, Strategy] = {EDDI: used}
    if name_strategy(used) != INFORMATION:
        strategies[INFORMATION] = make_strategy(INFORMATION, model, (target,))
    strategies |= {name: make_strategy(name, model, (target,)) for name in BASELINES}
    curves = {}
    for n_done, (name, strategy) in enumerate(strategies.items()):

        def on_step(step: int, n_steps: int, n_done: int = n_done) -> None:
            on_progress((n_done + step / max(n_steps, 1)) / len(strategies))

        curves[name] = simulate(
            model, rows, target, strategy=strategy, max_steps=MAX_STEPS, on_progress=on_step
        )
    # If questions have prerequisites, one order may reach more questions than another.
    n_steps = max(curve.n_steps for curve in curves.values())
    return {name: curve.pad(n_steps) for name, curve in curves.items()}


def _costs_differ(model: FittedModel, target: str) -> bool:
    return name_strategy(default_strategy(model, (target,))) != INFORMATION


def _metrics(curves: Curves) -> tuple[Metric, ...]:
    """The metrics for the kind of target, the main one first."""
    accuracy: tuple[Metric, ...] = () if curves.probabilities is None else ("accuracy",)
    return (main_metric(curves), *accuracy, "nll")


def _bands(curves: Mapping[str, Curves], metric: Metric) -> Document:
    return {name: _band(bootstrap.band(curve, metric)) for name, curve in curves.items()}


def _aurocs(curves: Mapping[str, Curves]) -> Document:
    return {name: _to_json(curve.auroc) for name, curve in curves.items() if curve.auroc is not None}


def _concordances(curves: Mapping[str, Curves]) -> Document:
    return {name: _to_json(c.concordance) for name, c in curves.items() if c.concordance is not None}


def _band(band: Band) -> Document:
    return {"value": _to_json(band.value), "low": _to_json(band.low), "high": _to_json(band.high)}


def _rankings(curves: Mapping[str, Curves], metric: Metric) -> list[Document]:
    """The area under each strategy's curve, and EDDI's paired difference from it."""
    return [
        {
            "name": ranking.name,
            "auic": _band(bootstrap.area(curves[ranking.name], metric)),
            "rank": _to_json(ranking.rank),
            "rank_error": _to_json(ranking.rank_error),
            "last": _to_json(ranking.last),
            "n_asked": _to_json(ranking.n_asked),
            "spent": _to_json(ranking.spent),
            "against": None if ranking.name == EDDI else _difference(curves, ranking.name, metric),
        }
        for ranking in compare(curves, metric)
    ]


def _difference(curves: Mapping[str, Curves], other: str, metric: Metric) -> Document:
    """EDDI's area minus the other strategy's on the same rows, with its 95% interval and p-value."""
    return asdict(bootstrap.area_difference(curves[EDDI], curves[other], metric))


def _milestones(n_steps: int) -> list[int]:
    """The steps at which calibration is measured: before the first question, half-way, at the end."""
    return sorted({0, (n_steps + 1) // 2, n_steps})


def _calibration(curves: Curves, step: int) -> Document:
    calibration = Calibration.from_curves(curves, step)
    points = {
        "stated": calibration.predicted,
        "came": calibration.observed,
        "low": calibration.low,
        "high": calibration.high,
        "n_rows": calibration.n_rows,
    }
    intervals = {}
    if curves.rank is not None:
        coverage = _to_json(interval_coverage(curves, step, np.array(INTERVAL_SHARES)))
        intervals = dict(zip(map(str, INTERVAL_SHARES), coverage, strict=True))
    return {
        "step": step,
        **{name: _to_json(values) for name, values in points.items()},
        "error": _to_json(curves.calibration_error[step]),
        "intervals": intervals,
    }


def _frontier(curves: Mapping[str, Curves], metric: Metric) -> Document:
    """The main metric against the cost of the questions."""
    max_cost = max(float(curve.spent.max()) for curve in curves.values())
    costs = np.linspace(0.0, max_cost, N_COSTS)
    by_cost = {name: curve.by_cost(costs) for name, curve in curves.items()}
    return {"metric": metric, "costs": _to_json(costs), "curves": _bands(by_cost, metric)}


def _choices(curves: Curves) -> list[Document]:
    """For each step, the share of rows that were asked each question, most frequent first."""
    choices = []
    for asked in curves.order.T:  # [rows]
        questions, counts = np.unique(asked[asked >= 0], return_counts=True)
        ranked = sorted(zip(counts.tolist(), questions.tolist(), strict=True), reverse=True)
        choices.append({curves.questions[n]: count / len(asked) for count, n in ranked})
    return choices


def _to_json(numbers: Numbers | float) -> Any:
    """Numbers rounded to six digits, as JSON; NaN and infinity become null."""
    array = np.asarray(numbers, dtype=np.float64)
    rounded = [float(f"{number:.6g}") if np.isfinite(number) else None for number in array.ravel()]
    return rounded[0] if array.ndim == 0 else cast(Any, rounded)
