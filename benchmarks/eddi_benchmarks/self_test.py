"""A quick check that everything works here: one small table from training to the report.

The table comes with scikit-learn: ten measurements of 442 patients and the progression of their diabetes
a year later (Efron et al. 2004). It is too small, and training too short, to support a claim.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes

import eddi
from eddi.evaluate import figures
from eddi.strategy.base import Strategy
from eddi_benchmarks.harness.experiment import Experiment
from eddi_benchmarks.harness.run_result import Measurements, RunResult, Settings
from eddi_benchmarks.report.content import Figure, ReportTable, Section

TARGET = "progression"
STRATEGIES: dict[str, Strategy] = {"EDDI": eddi.strategy.Information(), "RAND": eddi.strategy.Random()}


def run(settings: Settings, folder: Path) -> Measurements:  # noqa: ARG001  # stores no files
    """Train one model and interview the held-out patients with each strategy."""
    patients = load_diabetes(scaled=False)
    order = np.random.default_rng(settings["seed"]).permutation(len(patients.target))
    names, columns = [*patients.feature_names, TARGET], [*patients.data.T, patients.target]
    test, train = order[: settings["n_test"]], order[settings["n_test"] :]
    model = eddi.PartialVAE(
        target=TARGET,
        set_encoder=settings["set_encoder"],
        max_steps=settings["max_steps"],
        random_state=settings["seed"],
    ).fit({name: column[train] for name, column in zip(names, columns, strict=True)})
    held_out = {name: column[test] for name, column in zip(names, columns, strict=True)}
    curves = {
        name: eddi.simulate(model, held_out, strategy=strategy, max_steps=settings["max_questions"])
        for name, strategy in STRATEGIES.items()
    }
    return {"rmse": {name: [round(float(value), 6) for value in c.rmse] for name, c in curves.items()}}


def required_datasets(settings: Settings) -> tuple[str, ...]:  # noqa: ARG001
    """None: the table comes with scikit-learn."""
    return ()


def report_sections(results: Sequence[RunResult], folder: Path) -> list[Section]:
    """One table of errors and one figure of curves."""
    if not results:
        return []
    text = (
        "The error of predicting `progression` before the first question and after the last one. The "
        "table is small and training is short: this shows that everything works and supports no claim."
    )
    tables = (_error_table(results),)
    return [Section("Errors before and after the questions", (text,), tables, _plot(results, folder))]


def _error_table(results: Sequence[RunResult]) -> ReportTable:
    rows, last_errors = [], []
    for encoder, strategy in _combinations(results):
        rmse = _rmse(results, encoder, strategy)  # [seeds, steps + 1]
        first, last = rmse[:, 0].mean(), rmse[:, -1].mean()
        errors = (f"{first:.1f}", f"{last:.1f}", f"{last - first:+.1f}")
        rows.append((encoder.upper(), strategy, f"{len(rmse)}", *errors))
        last_errors.append(float(last))
    best = frozenset({(int(np.argmin(last_errors)), 4)})
    columns = ("encoder", "strategy", "seeds", "RMSE before", "RMSE after", "difference")
    note = "Means over seeds; lower is better."
    return ReportTable("RMSE of progression", columns, tuple(rows), note, best)


def _plot(results: Sequence[RunResult], folder: Path) -> tuple[Figure, ...]:
    try:
        figure = figures.figure(6.4, 3.6)
    except eddi.errors.MissingExtraError:  # the tables do not need matplotlib
        return ()
    axes = figure.subplots()
    figures.tidy(axes)
    for encoder, strategy in _combinations(results):
        axes.plot(_rmse(results, encoder, strategy).mean(0), label=f"{strategy}-{encoder.upper()}")
    axes.set_xlabel("questions asked")
    axes.set_ylabel("RMSE of progression")
    axes.legend(frameon=False)
    path = folder / "curves.png"
    figures.save(figure, path)
    return (Figure(path, "Prediction error against the number of questions asked, mean over seeds."),)


def _combinations(results: Sequence[RunResult]) -> list[tuple[str, str]]:
    encoders = dict.fromkeys(str(result.settings["set_encoder"]) for result in results)
    return [(encoder, strategy) for encoder in encoders for strategy in STRATEGIES]


def _rmse(results: Sequence[RunResult], encoder: str, strategy: str) -> NDArray[np.float64]:
    curves = [
        result.measurements["rmse"][strategy]
        for result in results
        if result.settings["set_encoder"] == encoder
    ]
    return np.array(curves)


EXPERIMENT = Experiment(run, required_datasets, report_sections)
