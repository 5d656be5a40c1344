"""Survival targets: predictions from all covariates, and whole interviews, on public tables.

A run is a dataset, a split and a method. Ours is fitted once, and interviews the test rows in several orders.
Peers see all covariates. Cox regression also has orders of its own: forward selection, and the best static
set of every size, each with a regression of exactly these covariates.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np

import eddi
from eddi.evaluate.survival.brier_score import N_TIMES, brier_by_row, reliable_horizon
from eddi.evaluate.survival.horizon_calibration import HorizonCalibration
from eddi.model.concordance import censoring_survival, concordance
from eddi.strategy import FixedOrder, Random
from eddi_benchmarks.baselines.cox import Cox, best_subsets, forward_order
from eddi_benchmarks.data import datasets
from eddi_benchmarks.harness.experiment import Experiment
from eddi_benchmarks.harness.run_result import Measurements, Settings
from eddi_benchmarks.survival.design import Numbers, Split, outcome
from eddi_benchmarks.survival.peers import PEERS, fit_peer
from eddi_benchmarks.survival.report import report_sections

TARGET = "death"
Curve = Callable[[Numbers], Numbers]


def run(settings: Settings, folder: Path) -> Measurements:  # noqa: ARG001
    """Fit one method to one split, and measure it."""
    table = datasets.load(settings["dataset"]).to_pandas()
    split = Split.draw(
        table,
        seed=int(settings["seed"]),
        test_share=float(settings["test_share"]),
        max_train=int(settings["max_train"]),
    )
    method = str(settings["method"])
    if method == "ours":
        measured = measure_ours(split, settings)
    elif method in PEERS:
        measured = measure_curves(split, *fit_peer(method, split, seed=int(settings["seed"])))
    else:
        measured = measure_cox_orders(split, width=int(settings["beam_width"]))
    counts = {"n_train": len(split.train), "n_test": len(split.test)}
    return {**measured, **counts, "n_events": int(split.train.event.sum())}


def measure_curves(split: Split, score: Numbers, curve: Curve) -> Measurements:
    """Concordances, integrated Brier score and calibration of predictions of the test rows."""
    times, events = outcome(split.test)
    train_times, train_events = outcome(split.train)
    ends = np.unique(train_times[train_events == 1])
    horizon = reliable_horizon(times, events, ends)
    grid = np.linspace(0, horizon, N_TIMES + 1)[1:]
    survival = curve(grid)
    inverse = 1 / np.maximum(censoring_survival(times, events, times), 1e-6)
    risks = {share: 1 - survival[:, round(share * N_TIMES) - 1] for share in (0.5, 1.0)}
    calibration = [
        HorizonCalibration.compute(risk, times, events, horizon=share * horizon).error
        for share, risk in risks.items()
    ]
    return {
        "harrell": concordance(score, times, events),
        "uno": concordance(score, times, events, weights=inverse**2, horizon=horizon),
        "integrated_brier": float(brier_by_row(survival, times, events, grid).mean()),
        "calibration_error": float(np.mean(calibration)),
    }


def measure_ours(split: Split, settings: Settings) -> Measurements:
    """Fit our model; predict from everything, and interview the test rows in several orders."""
    schema = eddi.Schema.infer(split.train, survival={TARGET: ("time", "event")})
    model = eddi.PartialVAE(
        schema,
        TARGET,
        random_state=int(settings["seed"]),
        max_steps=int(settings["max_steps"]) or None,
    ).fit(split.train)
    prediction = model.predict(split.test, TARGET)
    curve = prediction.curve
    measured = measure_curves(
        split, -prediction.mean, lambda grid: curve.at(np.minimum(grid, curve.horizon))
    )
    names = [question.name for question in model.schema_.questions]
    parts = {name: pair[0] for name, pair in split.columns().items() if name in names}
    order = forward_order(parts, *outcome(split.train))
    strategies = {
        "ours": None,
        "random order": Random(int(settings["seed"])),
        "Cox order, our predictions": FixedOrder(tuple(order)),
    }
    rows = split.test[: int(settings["max_interviews"])]
    curves = {
        name: eddi.simulate(model, rows, TARGET, strategy=strategy)
        for name, strategy in strategies.items()
    }
    measured["interviews"] = {
        name: {
            "concordance": _to_list(result.concordance),
            "integrated_brier": _to_list(result.integrated_brier),
            "calibration_error": _to_list(result.calibration_error),
        }
        for name, result in curves.items()
    }
    return measured


def measure_cox_orders(split: Split, *, width: int) -> Measurements:
    """Concordance of Cox regressions of more and more covariates, in two orders."""
    columns = split.columns()
    train = {name: pair[0] for name, pair in columns.items()}
    outcome_train, outcome_test = outcome(split.train), outcome(split.test)
    order = forward_order(train, *outcome_train)
    sets = {
        "Cox, forward selection": [order[: n + 1] for n in range(len(order))],
        "Cox, best static set": best_subsets(train, *outcome_train, width=width),
    }
    interviews = {}
    for name, subsets in sets.items():
        values = [0.5]
        for subset in subsets:
            fitted = Cox.fit(np.concatenate([train[c] for c in subset], axis=1), *outcome_train)
            test = np.concatenate([columns[c][1] for c in subset], axis=1)
            values.append(concordance(fitted.score(test), *outcome_test))
        interviews[name] = {"concordance": values}
    return {"interviews": interviews}


def _to_list(values: Numbers | None) -> list[float]:
    return [] if values is None else values.tolist()


def required_datasets(settings: Settings) -> tuple[str, ...]:
    """The dataset of the run."""
    return (str(settings["dataset"]),)


EXPERIMENT = Experiment(run, required_datasets, report_sections)
