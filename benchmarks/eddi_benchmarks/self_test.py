"""Does everything work here? A small rehearsal of the whole path on a table scikit-learn brings.

Ten measurements of 442 people and how far their diabetes had progressed a year later (Efron and others
2004). Too small and too short to prove a claim; enough to see that runs, tables and pictures come out.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes

import eddi
from eddi.evaluate import figures
from eddi.strategy.base import Strategy
from eddi_benchmarks.harness.experiment import Experiment, Figures, Outcome, Settings
from eddi_benchmarks.report.content import Grid, Picture, Section

TARGET = "progression"
STRATEGIES: dict[str, Strategy] = {"EDDI": eddi.strategy.Information(), "RAND": eddi.strategy.Random()}


def play(settings: Settings, folder: Path) -> Figures:  # noqa: ARG001  # it keeps no files
    """Train one model and let each strategy interview the held-out people."""
    people = load_diabetes(scaled=False)
    order = np.random.default_rng(settings["seed"]).permutation(len(people.target))
    names, columns = [*people.feature_names, TARGET], [*people.data.T, people.target]
    test, training = order[: settings["n_test"]], order[settings["n_test"] :]
    model = eddi.PartialVAE(
        target=TARGET,
        set_encoder=settings["set_encoder"],
        max_steps=settings["max_steps"],
        random_state=settings["seed"],
    ).fit({name: column[training] for name, column in zip(names, columns, strict=True)})
    held_out = {name: column[test] for name, column in zip(names, columns, strict=True)}
    curves = {
        name: eddi.simulate(model, held_out, strategy=strategy, max_steps=settings["max_questions"])
        for name, strategy in STRATEGIES.items()
    }
    return {"rmse": {name: [round(float(value), 6) for value in c.rmse] for name, c in curves.items()}}


def datasets(settings: Settings) -> tuple[str, ...]:  # noqa: ARG001  # the table is embedded
    """None: scikit-learn brings the table."""
    return ()


def sections(outcomes: Sequence[Outcome], folder: Path) -> list[Section]:
    """One table of errors and one picture of curves."""
    if not outcomes:
        return []
    words = (
        "The error of predicting `progression`, before any question and after the last. "
        "A small table and little training: this shows that everything works, and proves no claim.",
    )
    return [Section("Errors before and after", words, (_grid(outcomes),), _pictures(outcomes, folder))]


def _grid(outcomes: Sequence[Outcome]) -> Grid:
    rows, lasts = [], []
    for encoder, strategy in _combinations(outcomes):
        rmse = _rmse(outcomes, encoder, strategy)  # [seeds, steps + 1]
        first, last = rmse[:, 0].mean(), rmse[:, -1].mean()
        figures = (f"{first:.1f}", f"{last:.1f}", f"{last - first:+.1f}")
        rows.append((encoder.upper(), strategy, f"{len(rmse)}", *figures))
        lasts.append(float(last))
    best = frozenset({(int(np.argmin(lasts)), 4)})
    columns = ("encoder", "strategy", "seeds", "RMSE before", "RMSE after", "difference")
    return Grid("RMSE of progression", columns, tuple(rows), "Means over seeds; lower is better.", best)


def _pictures(outcomes: Sequence[Outcome], folder: Path) -> tuple[Picture, ...]:
    try:
        figure = figures.figure(6.4, 3.6)
    except eddi.errors.MissingExtraError:  # the tables are whole without matplotlib
        return ()
    axes = figure.subplots()
    figures.tidy(axes)
    for encoder, strategy in _combinations(outcomes):
        axes.plot(_rmse(outcomes, encoder, strategy).mean(0), label=f"{strategy}-{encoder.upper()}")
    axes.set_xlabel("questions asked")
    axes.set_ylabel("RMSE of progression")
    axes.legend(frameon=False)
    path = folder / "curves.png"
    figures.save(figure, path)
    return (Picture(path, "Error of the prediction against questions asked, mean over seeds."),)


def _combinations(outcomes: Sequence[Outcome]) -> list[tuple[str, str]]:
    encoders = dict.fromkeys(str(outcome.settings["set_encoder"]) for outcome in outcomes)
    return [(encoder, strategy) for encoder in encoders for strategy in STRATEGIES]


def _rmse(
    outcomes: Sequence[Outcome], encoder: str, strategy: str
) -> "np.ndarray[tuple[int, ...], np.dtype[np.float64]]":
    chosen = [
        each.figures["rmse"][strategy] for each in outcomes if each.settings["set_encoder"] == encoder
    ]
    return np.array(chosen)


EXPERIMENT = Experiment(play, datasets, sections)
