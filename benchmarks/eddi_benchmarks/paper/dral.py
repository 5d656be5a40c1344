"""DRAL against EDDI: the paper's comparison with a method without amortised inference, on Boston rows.

A run asks one test row everything, three times: with EDDI (PNP, the paper's recipe), with DRAL as
published (the whole factorisation is sampled again for every simulated answer), and with DRAL that
samples only the row's own factor, to separate the time of the method from that of retraining.
"""

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

import eddi
from eddi.evaluate import figures
from eddi.table.variable import Kind
from eddi_benchmarks.baselines.dral import Dral, DralSettings, Retrain
from eddi_benchmarks.data import datasets
from eddi_benchmarks.harness.experiment import Experiment
from eddi_benchmarks.harness.run_result import Measurements, RunResult, Settings, to_json_values
from eddi_benchmarks.report.content import Figure, ReportTable, Section
from eddi_benchmarks.report.statistics import NOT_AVAILABLE, Numbers, signed_rank_test

DATASET, TARGET = "boston", -1  # the target is the last column
TEST_SHARE = 0.1
METHODS = {"eddi": "EDDI (PNP)", "dral": "DRAL", "dral-row": "DRAL, row only"}
PAPER_SECONDS = {"eddi": 2.64, "dral": 2747.16}  # CPU seconds per test row, table 3 of the paper


def run(settings: Settings, folder: Path) -> Measurements:  # noqa: ARG001  # stores no files
    """Interview one test row with every method; seconds are CPU time of this process."""
    table = datasets.load(DATASET)
    order = np.random.default_rng(int(settings["seed"])).permutation(table.num_rows)
    n_test = round(table.num_rows * TEST_SHARE)
    train, test = table.take(order[n_test:]), table.take(order[:n_test])
    row = test.slice(int(settings["row"]), 1)
    return {
        "n_rows": {"train": train.num_rows, "test": 1},
        "truth": float(_to_numbers(row)[0, TARGET]),
        "methods": {
            "eddi": _run_eddi(train, row, settings),
            "dral": _run_dral(train, row, settings, "all"),
            "dral-row": _run_dral(train, row, settings, "row"),
        },
    }


def _run_eddi(train: pa.Table, row: pa.Table, settings: Settings) -> Measurements:
    start = time.process_time()
    names = train.column_names
    model = eddi.PartialVAE(
        eddi.Schema(tuple(eddi.Variable(name, Kind.REAL) for name in names)),
        names[TARGET],
        recipe="paper",
        set_encoder="pnp",
        max_steps=int(settings["max_steps"]),
        random_state=int(settings["seed"]),
    ).fit(train)
    fitted = time.process_time()
    strategy = eddi.strategy.Information(reward="latent", n_draws=int(settings["n_draws"]))
    curves = eddi.simulate(model, row, names[TARGET], strategy=strategy)
    order = [curves.questions[question] for question in curves.order[0]]
    seconds = {"fit": fitted - start, "ask": time.process_time() - fitted}
    return _measurements(order, curves.mean[0], seconds)


def _run_dral(train: pa.Table, row: pa.Table, settings: Settings, retrain: Retrain) -> Measurements:
    dral_settings = DralSettings(
        n_factors=int(settings["n_factors"]),
        burn_in=int(settings["burn_in"]),
        n_sweeps=int(settings["n_sweeps"]),
        n_settling=int(settings["settle"]),
        n_answers=int(settings["n_answers"]),
        retrain=retrain,
    )
    start = time.process_time()
    model = Dral.fit(_to_numbers(train), dral_settings, seed=int(settings["seed"]))
    fitted = time.process_time()
    interview = model.interview(_to_numbers(row)[0], train.num_columns - 1)
    order = [train.column_names[column] for column in interview.order]
    seconds = {"fit": fitted - start, "ask": time.process_time() - fitted}
    return _measurements(order, np.array(interview.mean), seconds)


def _measurements(order: Sequence[str], mean: Numbers, seconds: dict[str, float]) -> Measurements:
    return {
        "order": list(order),
        "mean": to_json_values(mean),  # of the target, before and after each answer
        "seconds": {part: round(value, 4) for part, value in seconds.items()},
    }


def _to_numbers(table: pa.Table) -> Numbers:
    return np.column_stack([column.cast(pa.float64()).to_numpy() for column in table.columns])


def _errors(results: Sequence[RunResult], method: str) -> Numbers:
    """Prediction minus truth of each row at each step [rows, steps + 1]."""
    return np.array(
        [
            np.subtract(result.measurements["methods"][method]["mean"], result.measurements["truth"])
            for result in results
        ]
    )


def _rmse(results: Sequence[RunResult], method: str) -> Numbers:
    return np.asarray(np.sqrt(np.square(_errors(results, method)).mean(0)))


def _mean_seconds(results: Sequence[RunResult], method: str, part: str = "ask") -> float:
    seconds = [result.measurements["methods"][method]["seconds"][part] for result in results]
    return float(np.mean(seconds))


def report_sections(results: Sequence[RunResult], folder: Path) -> list[Section]:
    """Seconds per row next to the paper's, errors by step, conclusions and a figure."""
    title = "DRAL against EDDI"
    if not results:
        return [Section(title, ("No run is finished yet.",), ())]
    tables = (_seconds_table(results), _error_table(results))
    paragraphs = (_describe_methods(results), _describe_errors(results), _describe_speed(results))
    return [Section(title, paragraphs, tables, (_plot(results, folder),))]


def _seconds_table(results: Sequence[RunResult]) -> ReportTable:
    rows = []
    for method, name in METHODS.items():
        ours, paper = _mean_seconds(results, method), PAPER_SECONDS.get(method)
        comparison = (
            (NOT_AVAILABLE, NOT_AVAILABLE) if paper is None else (f"{paper:g}", f"{ours - paper:+.2f}")
        )
        training = f"{_mean_seconds(results, method, 'fit'):.2f}"
        rows.append((name, f"{ours:.3f}", *comparison, training))
    return ReportTable(
        "CPU seconds per test row for all 13 questions",
        ("method", "ours", "paper", "difference", "training (once), ours"),
        tuple(rows),
        f"Mean over {len(results)} rows, each interviewed separately on one thread. Paper: its table 3.",
    )


def _error_table(results: Sequence[RunResult]) -> ReportTable:
    curves = np.array([_rmse(results, method) for method in METHODS])  # [methods, steps + 1]
    labels = [*map(str, range(curves.shape[1])), "mean"]
    columns = np.concatenate([curves, curves.mean(1, keepdims=True)], axis=1).T
    rows = tuple(
        (label, *(f"{error:.2f}" for error in errors), f"{errors[0] - errors[1]:+.2f}")
        for label, errors in zip(labels, columns, strict=True)
    )
    return ReportTable(
        "RMSE of the target after each answer (thousand dollars)",
        ("answers", *METHODS.values(), "EDDI less DRAL"),
        rows,
        "The paper shows a curve without numbers: EDDI is below DRAL at every step.",
        frozenset((row, 1 + int(np.argmin(errors))) for row, errors in enumerate(columns)),
    )


def _describe_methods(results: Sequence[RunResult]) -> str:
    settings = results[0].settings
    return (
        f"{len(results)} test rows of a random tenth. DRAL is a Bayesian matrix factorisation with "
        f"{settings['n_factors']} factors, sampled by Gibbs sampling on the standardised table. It asks "
        "the question that minimises the expected variance of the target over "
        f"{settings['n_answers']} simulated answers, each followed by {settings['settle']} + "
        f"{settings['n_sweeps']} sweeps over the table with the respondent's row. `Row only` samples "
        "just the respondent's factor, in closed form."
    )


def _describe_errors(results: Sequence[RunResult]) -> str:
    eddi_rmse, dral_rmse = (_rmse(results, method)[1:] for method in ("eddi", "dral"))
    n_wins, n_steps = int((eddi_rmse < dral_rmse).sum()), len(eddi_rmse)
    by_row = [np.abs(_errors(results, method)).mean(1) for method in ("eddi", "dral")]
    differences = by_row[0] - by_row[1]
    test = ""
    if len(results) > 1 and differences.any():
        p = signed_rank_test(differences)
        test = f" Wilcoxon test over rows (mean absolute error): p = {p:.2g}."
    agreement = "as in the paper" if n_wins == n_steps else "while in the paper it is at every step"
    return f"EDDI's error is below DRAL's after {n_wins} of {n_steps} answers, {agreement}.{test}"


def _describe_speed(results: Sequence[RunResult]) -> str:
    eddi_seconds, dral_seconds, row_seconds = (_mean_seconds(results, m) for m in METHODS)
    paper_ratio = PAPER_SECONDS["dral"] / PAPER_SECONDS["eddi"]
    return (
        f"EDDI chooses {dral_seconds / eddi_seconds:,.0f} times faster than DRAL (in the paper: "
        f"{paper_ratio:,.0f} times). The time of DRAL is proportional to the length of its chains, "
        "which we chose. If only the row's factor is sampled, it takes "
        f"{row_seconds / eddi_seconds:,.1f} times as long as EDDI."
    )


def _plot(results: Sequence[RunResult], folder: Path) -> Figure:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "dral-curves.png"
    figure = figures.figure(6.0, 3.8)
    axes = figure.subplots()
    figures.tidy(axes)
    for i, (method, name) in enumerate(METHODS.items()):
        rmse = _rmse(results, method)
        style = {"color": figures.COLOURS[i], "marker": figures.MARKERS[i], "ms": 4}
        axes.plot(np.arange(len(rmse)), rmse, label=name, **style)
    axes.set_xlabel("questions answered")
    axes.set_ylabel("RMSE of the target")
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)
    figures.title(axes, f"EDDI and DRAL on {len(results)} Boston rows")
    figures.save(figure, path)
    caption = f"RMSE of the target after each answer, {len(results)} Boston test rows (figure 5)."
    return Figure(path, caption)


EXPERIMENT = Experiment(run, lambda _: (DATASET,), report_sections)
