"""What holes in training data cost: decisions learned from tables of which ever more is hidden.

Cells of the training rows are hidden, never the target's; held-out rows are whole. What hides them:

- ``chance``: nothing but chance.
- ``seen``: the first third of the variables, which stay known: rows high in them lose the rest first.
- ``unseen``: the cell's own value: high ones are lost first, and nothing in the table says so.

Each is learned from with every entry counting alike, and with entries that count for those like them
(`eddi.model.training.missingness`).
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit

import eddi
from eddi.evaluate import figures
from eddi.evaluate.figures import COLOURS, INK, MARKERS, SMALL
from eddi.model.recipe import DEFAULT
from eddi_benchmarks.decisions import problem as problems
from eddi_benchmarks.harness.experiment import Experiment, ExperimentError, Figures, Outcome, Settings
from eddi_benchmarks.paper.comparison import NOT_YET, plain
from eddi_benchmarks.report.content import Grid, Picture, Section

STEEP = 2.0  # log odds of a hole for each standard deviation of what causes it
KNOWN_SHARE = 1 / 3  # of the variables, which cause the holes of the others where those are `seen`
WORDS = {"chance": "by chance", "seen": "by what is seen", "unseen": "by what is hidden"}
WEIGHED = {True: "weighed", False: "alike"}

Group = tuple[str, str, float, bool]
"""Dataset, what hides, share, whether entries are weighed."""


def _holes(settings: Settings) -> tuple[str, float]:
    """What hides cells, and how many, of settings such as "seen-0.5" or "none"."""
    if settings["holes"] == "none":
        return "chance", 0.0
    hidden_by, share = str(settings["holes"]).split("-")
    return hidden_by, float(share)


def play(settings: Settings, folder: Path) -> Figures:  # noqa: ARG001  # it keeps no files
    """Hide, train, and interview the held-out rows."""
    problem = problems.load(settings)
    random = np.random.default_rng((int(settings["seed"]), 11))
    train = with_holes(problem.train, problem.target, *_holes(settings), random)
    model = eddi.PartialVAE(
        problem.schema,
        problem.target,
        recipe=replace(DEFAULT, weigh=bool(settings["weigh"])),
        max_steps=int(settings["max_steps"]),
        random_state=int(settings["seed"]),
        device="cpu",
    ).fit(train)
    curves = eddi.simulate(model, problem.test, problem.target, max_steps=problem.n_steps)
    rmse = np.asarray(curves.rmse) / problem.unit
    coverage = float(np.mean(np.asarray(curves.coverage)))
    features = train.drop(columns=problem.target)
    return {
        "hidden": plain(float(features.isna().to_numpy().mean())),
        "rmse": plain(rmse),
        "auic": plain(float(rmse.mean())),
        "coverage": plain(coverage),
    }


def with_holes(
    table: pd.DataFrame, target: str, hidden_by: str, share: float, random: np.random.Generator
) -> pd.DataFrame:
    """The table with that share of its cells hidden, the target's aside."""
    names = [name for name in table.columns if name != target]
    values = table[names].to_numpy(np.float64)
    scores = (values - values.mean(0)) / values.std(0)
    always = np.zeros(len(names), dtype=bool)
    if hidden_by == "chance":
        reason = np.zeros_like(scores)
    elif hidden_by == "seen":
        always[: math.ceil(KNOWN_SHARE * len(names))] = True
        total = scores[:, always].sum(1, keepdims=True)
        reason = np.broadcast_to(total / total.std(), scores.shape)
    elif hidden_by == "unseen":
        reason = scores
    else:
        raise ExperimentError(f"holes are by chance, seen or unseen, got {hidden_by!r}.")
    chance = _chances(reason, share)
    hidden = (random.random(chance.shape) < chance) & ~always
    holed = table.copy()
    for place, name in enumerate(names):
        holed[name] = table[name].astype(object).where(~hidden[:, place], None)
    return holed.convert_dtypes()


def _chances(reason: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    """Chances of a hole that rise with the reason and have the share as their mean in each column."""
    if not share:
        return np.zeros_like(reason)
    offsets = [
        brentq(lambda at: expit(STEEP * column + at).mean() - share, -50, 50)  # noqa: B023  # called here
        for column in reason.T
    ]
    return np.asarray(expit(STEEP * reason + offsets))


def sections(outcomes: Sequence[Outcome], folder: Path) -> list[Section]:
    """The curves of quality against holes, from whatever runs are finished."""
    if not outcomes:
        return []
    groups = _groups(outcomes)
    words = (
        "Cells of the training rows are hidden, never the target's, and the held-out rows are whole. "
        "AUIC is the mean RMSE over the questions of an interview, the target in units of its range. By "
        "what is seen: the first third of the variables stays known and causes the others' holes. By "
        "what is hidden: high values are lost first, and nothing in the table says so.",
        "Weighed: an entry counts for those like it that are not known, as the default has it. Alike: "
        "every known entry counts the same.",
    )
    return [Section("Holes in training data", words, (_grid(groups),), (_picture(groups, folder),))]


def _groups(outcomes: Sequence[Outcome]) -> dict[Group, list[float]]:
    groups: dict[Group, list[float]] = {}
    for outcome in outcomes:
        settings = outcome.settings
        hidden_by, share = _holes(settings)
        for reason in WORDS if share == 0 else (hidden_by,):  # a whole table is where all of them begin
            key = (str(settings["dataset"]), reason, share, bool(settings["weigh"]))
            groups.setdefault(key, []).append(float(outcome.figures["auic"]))
    return groups


def _axes(groups: dict[Group, list[float]]) -> tuple[list[str], list[str], list[float]]:
    """The datasets, reasons and shares there are, in order."""
    datasets, reasons, shares, _ = zip(*groups, strict=True)
    there = [reason for reason in WORDS if reason in reasons]
    return list(dict.fromkeys(datasets)), there, sorted(set(shares))


def _grid(groups: dict[Group, list[float]]) -> Grid:
    datasets, reasons, shares = _axes(groups)
    columns = [(share, weigh) for share in shares for weigh in (True, False)]
    rows = [
        (dataset, WORDS[reason], *(_mean(groups.get((dataset, reason, *column))) for column in columns))
        for dataset, reason in product(datasets, reasons)
    ]
    headings = (f"{share:.0%}, {WEIGHED[weigh]}" for share, weigh in columns)
    seeds = max(map(len, groups.values()))
    note = f"AUIC, lower is better; the mean of {seeds} splits." if seeds > 1 else "AUIC of one split."
    return Grid("What holes cost", ("set", "hidden", *headings), tuple(rows), note)


def _mean(found: list[float] | None) -> str:
    return f"{np.mean(found):.4f}" if found else NOT_YET


def _picture(groups: dict[Group, list[float]], folder: Path) -> Picture:
    datasets, reasons, shares = _axes(groups)
    figure = figures.figure(3.0 * len(datasets) + 0.4, 3.2)
    lines: dict[str, Any] = {}
    for axes, dataset in zip(figure.subplots(1, len(datasets), squeeze=False)[0], datasets, strict=True):
        figures.tidy(axes)
        for place, (reason, weigh) in enumerate(product(reasons, (True, False))):
            known = [share for share in shares if (dataset, reason, share, weigh) in groups]
            means = [float(np.mean(groups[dataset, reason, share, weigh])) for share in known]
            (line,) = axes.plot(known, means, color=COLOURS[place // 2], marker=MARKERS[place // 2])
            line.set(linestyle="-" if weigh else ":", markersize=3.8, linewidth=1.6)
            lines[f"{WORDS[reason]}, {WEIGHED[weigh]}"] = line
        axes.set_title(dataset, color=INK, fontsize=SMALL + 1)
        axes.set_xlabel("cells hidden", color=INK, fontsize=SMALL + 0.5)
        axes.set_ylabel("AUIC", color=INK, fontsize=SMALL + 0.5)
        axes.set_xticks(shares, [f"{share:.0%}" for share in shares])
    names = list(lines)
    handles = [lines[name] for name in names]
    figure.legend(handles, names, loc="outside upper center", ncols=3, frameon=False, fontsize=SMALL)
    path = folder / "holes.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    figures.save(figure, figures.check_path(path))
    return Picture(path, "AUIC against the share of training cells that are hidden, by what hides them.")


def datasets(settings: Settings) -> tuple[str, ...]:
    """The files a run needs."""
    return problems.files(str(settings["dataset"]))


EXPERIMENT = Experiment(play, datasets, sections)
