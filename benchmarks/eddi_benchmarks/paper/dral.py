"""DRAL against EDDI: the paper's comparison with a method that is not amortised, on ten Boston rows.

A run is one test row, asked everything three times: by EDDI (PNP, the paper's recipe), by DRAL as
published (the whole factorisation taken anew for every supposed answer), and by DRAL with only the row's
own factor taken anew, to tell what of the time is the method's and what is the retraining's.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.stats import wilcoxon

import eddi
from eddi.evaluate import figures
from eddi.table.variable import Kind
from eddi_benchmarks.baselines.dral import Dral, Retrain, Sizes
from eddi_benchmarks.data import datasets
from eddi_benchmarks.harness.experiment import Experiment, Figures, Outcome, Settings
from eddi_benchmarks.report.content import Grid, Picture, Section

DATASET, TARGET = "boston", -1  # the target is the last column
TEST_SHARE = 0.1
METHODS = {"eddi": "EDDI (PNP)", "dral": "DRAL", "dral-row": "DRAL, row only"}
THEIRS = {"eddi": 2.64, "dral": 2747.16}  # CPU seconds a test row, table 3 of the paper

Numbers = NDArray[np.float64]


def play(settings: Settings, folder: Path) -> Figures:  # noqa: ARG001  # it has no files
    """Interview one test row by every method; seconds are of this process's CPU."""
    table = datasets.load(DATASET)
    order = np.random.default_rng(int(settings["seed"])).permutation(table.num_rows)
    n_test = round(table.num_rows * TEST_SHARE)
    train, test = table.take(order[n_test:]), table.take(order[:n_test])
    row = test.slice(int(settings["row"]), 1)
    told = {
        "eddi": _eddi(train, row, settings),
        "dral": _dral(train, row, settings, "all"),
        "dral-row": _dral(train, row, settings, "row"),
    }
    return {
        "n_rows": {"train": train.num_rows, "test": 1},
        "truth": float(_numbers(row)[0, TARGET]),
        "methods": told,
    }


def _eddi(train: pa.Table, row: pa.Table, settings: Settings) -> dict[str, Any]:
    began = time.process_time()
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
    asked = [curves.questions[place] for place in curves.order[0]]
    return _told(asked, curves.mean[0], fitted - began, time.process_time() - fitted)


def _dral(train: pa.Table, row: pa.Table, settings: Settings, retrain: Retrain) -> dict[str, Any]:
    keys = ("n_factors", "burn_in", "n_sweeps", "settle", "n_answers")
    n_factors, burn_in, n_sweeps, settle, n_answers = (int(settings[key]) for key in keys)
    sizes = Sizes(n_factors, burn_in, n_sweeps, settle, n_answers, retrain)
    began = time.process_time()
    model = Dral.fit(_numbers(train), sizes, seed=int(settings["seed"]))
    fitted = time.process_time()
    asked = model.interview(_numbers(row)[0], train.num_columns - 1)
    names = [train.column_names[place] for place in asked.order]
    return _told(names, np.array(asked.mean), fitted - began, time.process_time() - fitted)


def _told(order: Sequence[str], mean: Numbers, fit: float, ask: float) -> dict[str, Any]:
    return {
        "order": list(order),
        "mean": [float(f"{x:.6g}") for x in mean],  # of the target, before and after each answer
        "seconds": {"fit": round(fit, 4), "ask": round(ask, 4)},
    }


def _numbers(table: pa.Table) -> Numbers:
    return np.column_stack([column.cast(pa.float64()).to_numpy() for column in table.columns])


def errors(outcomes: Sequence[Outcome], method: str) -> Numbers:
    """Prediction minus truth of each row at each step [rows, steps + 1]."""
    return np.array(
        [
            np.subtract(outcome.figures["methods"][method]["mean"], outcome.figures["truth"])
            for outcome in outcomes
        ]
    )


def _rmse(outcomes: Sequence[Outcome], method: str) -> Numbers:
    return np.asarray(np.sqrt(np.square(errors(outcomes, method)).mean(0)))


def sections(outcomes: Sequence[Outcome], folder: Path) -> list[Section]:
    """Seconds a row beside the paper's, errors by step, and both as words and a picture."""
    if not outcomes:
        return [Section("DRAL against EDDI", ("No run is finished yet.",), ())]
    grids = (_seconds_grid(outcomes), _errors_grid(outcomes))
    words = (_reading(outcomes), _verdict(outcomes), _speed(outcomes))
    return [Section("DRAL against EDDI", words, grids, (_picture(outcomes, folder),))]


def _seconds(outcomes: Sequence[Outcome], method: str, part: str = "ask") -> float:
    return float(np.mean([o.figures["methods"][method]["seconds"][part] for o in outcomes]))


def _seconds_grid(outcomes: Sequence[Outcome]) -> Grid:
    rows = []
    for method, name in METHODS.items():
        ours, theirs = _seconds(outcomes, method), THEIRS.get(method)
        beside = ("-", "-") if theirs is None else (f"{theirs:g}", f"{ours - theirs:+.2f}")
        rows.append((name, f"{ours:.3f}", *beside, f"{_seconds(outcomes, method, 'fit'):.2f}"))
    return Grid(
        "CPU seconds a test row for all 13 questions",
        ("method", "ours", "theirs", "difference", "training (once), ours"),
        tuple(rows),
        f"Mean over {len(outcomes)} rows, each asked alone; one thread. Theirs: table 3 of the paper.",
    )


def _errors_grid(outcomes: Sequence[Outcome]) -> Grid:
    curves = {method: _rmse(outcomes, method) for method in METHODS}
    n_steps = len(curves["eddi"])
    rows, best = [], set()
    for step in range(n_steps):
        numbers = [curves[method][step] for method in METHODS]
        best.add((step, 1 + int(np.argmin(numbers))))
        rows.append(
            (str(step), *(f"{number:.2f}" for number in numbers), f"{numbers[0] - numbers[1]:+.2f}")
        )
    means = [float(curve.mean()) for curve in curves.values()]
    best.add((n_steps, 1 + int(np.argmin(means))))
    rows.append(("mean", *(f"{mean:.2f}" for mean in means), f"{means[0] - means[1]:+.2f}"))
    return Grid(
        "RMSE of the target after each answer (thousand dollars)",
        ("answers", *METHODS.values(), "EDDI less DRAL"),
        tuple(rows),
        "The paper shows these as a curve without numbers: EDDI below DRAL at every step.",
        frozenset(best),
    )


def _reading(outcomes: Sequence[Outcome]) -> str:
    s = outcomes[0].settings
    return (
        f"{len(outcomes)} test rows of a random tenth. DRAL is a Bayesian matrix factorisation of "
        f"{s['n_factors']} factors by Gibbs sampling on the standardised table. It asks what leaves "
        f"the least expected variance of the target over {s['n_answers']} supposed answers, each "
        f"followed by {s['settle']} + {s['n_sweeps']} sweeps over the table with the person in it. "
        "`Row only` takes just the person's factor anew, in closed form."
    )


def _verdict(outcomes: Sequence[Outcome]) -> str:
    ours, theirs = (_rmse(outcomes, method)[1:] for method in ("eddi", "dral"))
    wins, n = int((ours < theirs).sum()), len(ours)
    rows = [np.abs(errors(outcomes, method)).mean(1) for method in ("eddi", "dral")]
    differ = len(outcomes) > 1 and bool(np.any(rows[0] != rows[1]))
    test = (
        f" Wilcoxon over rows (mean absolute error): p = {wilcoxon(*rows).pvalue:.2g}." if differ else ""
    )
    same = "as in the paper" if wins == n else "where the paper has it below at every step"
    return f"EDDI's error is below DRAL's after {wins} of {n} answers, {same}.{test}"


def _speed(outcomes: Sequence[Outcome]) -> str:
    eddi_, dral, row = (_seconds(outcomes, method) for method in METHODS)
    return (
        f"EDDI chooses {dral / eddi_:,.0f} times faster than DRAL here (the paper: "
        f"{THEIRS['dral'] / THEIRS['eddi']:,.0f}). DRAL's time is the product of its chains' lengths, "
        f"which are ours to set; with the row's factor alone it is {row / eddi_:,.1f} times EDDI's."
    )


def _picture(outcomes: Sequence[Outcome], folder: Path) -> Picture:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "dral-curves.png"
    picture = figures.figure(6.0, 3.8)
    axes = picture.subplots()
    figures.tidy(axes)
    for place, (method, name) in enumerate(METHODS.items()):
        rmse = _rmse(outcomes, method)
        colour, marker = figures.COLOURS[place], figures.MARKERS[place]
        axes.plot(np.arange(len(rmse)), rmse, color=colour, marker=marker, ms=4, label=name)
    axes.set_xlabel("questions answered")
    axes.set_ylabel("RMSE of the target")
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)
    figures.title(axes, f"EDDI and DRAL on {len(outcomes)} Boston rows")
    figures.save(picture, path)
    return Picture(
        path, f"RMSE of the target after each answer, {len(outcomes)} Boston test rows (figure 5)."
    )


EXPERIMENT = Experiment(play, lambda _: (DATASET,), sections)
