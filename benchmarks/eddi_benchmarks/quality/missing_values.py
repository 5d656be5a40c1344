"""The effect of missing training values on decisions.

Cells of the training rows are hidden, except for the target; held-out rows are complete. The mechanisms:

- ``chance``: missing completely at random.
- ``seen``: missing at random. The first third of the variables stays observed, and rows with high
values of
  them lose the others first.
- ``unseen``: missing not at random. High values are lost first.

Models are trained with equal weights of all entries, and with propensity weights
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
from scipy.optimize import brentq
from scipy.special import expit

import eddi
from eddi.evaluate import figures
from eddi.evaluate.figures import COLOURS, INK, MARKERS, SMALL
from eddi.model.recipe import DEFAULT
from eddi_benchmarks.decisions import problem as problems
from eddi_benchmarks.harness.experiment import Experiment, ExperimentError
from eddi_benchmarks.harness.run_result import Measurements, RunResult, Settings, to_json_values
from eddi_benchmarks.report.content import Figure, ReportTable, Section
from eddi_benchmarks.report.statistics import NOT_AVAILABLE, Numbers

SLOPE = 2.0  # change of the log odds of a missing value per standard deviation of its cause
OBSERVED_SHARE = 1 / 3  # of the variables, which cause the missing values of the others in ``seen``
MECHANISMS = {
    "chance": "completely at random",
    "seen": "at random",
    "unseen": "not at random",
}
WEIGHTINGS = {True: "weighted", False: "unweighted"}

Group = tuple[str, str, float, bool]
"""Dataset, mechanism, share of missing values, whether entries are weighted."""


def _mechanism_and_share(settings: Settings) -> tuple[str, float]:
    """The mechanism and the share of missing values of settings such as "seen-0.5" or "none"."""
    if settings["holes"] == "none":
        return "chance", 0.0
    mechanism, share = str(settings["holes"]).split("-")
    return mechanism, float(share)


def run(settings: Settings, folder: Path) -> Measurements:  # noqa: ARG001  # stores no files
    """Hide cells, train a model, and interview the held-out rows."""
    problem = problems.load_problem(settings)
    random = np.random.default_rng((int(settings["seed"]), 11))
    mechanism, share = _mechanism_and_share(settings)
    train = hide_cells(problem.train, problem.target, mechanism=mechanism, share=share, random=random)
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
    measurements: Measurements = to_json_values(
        {
            "hidden": train.drop(columns=problem.target).isna().to_numpy().mean(),
            "rmse": rmse,
            "auic": rmse.mean(),
            "coverage": np.asarray(curves.coverage).mean(),
        }
    )
    return measurements


def hide_cells(
    table: pd.DataFrame,
    target: str,
    *,
    mechanism: str,
    share: float,
    random: np.random.Generator,
) -> pd.DataFrame:
    """The table with this share of its cells missing, except for the target.

    Raises:
        ExperimentError: the mechanism is unknown.
    """
    names = [name for name in table.columns if name != target]
    values = table[names].to_numpy(np.float64)
    standardised = (values - values.mean(0)) / values.std(0)
    stays_observed = np.zeros(len(names), dtype=bool)
    if mechanism == "chance":
        cause = np.zeros_like(standardised)
    elif mechanism == "seen":
        stays_observed[: math.ceil(OBSERVED_SHARE * len(names))] = True
        total = standardised[:, stays_observed].sum(1, keepdims=True)
        cause = np.broadcast_to(total / total.std(), standardised.shape)
    elif mechanism == "unseen":
        cause = standardised
    else:
        raise ExperimentError(f"the mechanism must be chance, seen or unseen, got {mechanism!r}.")
    probability = _missing_probabilities(cause, share)
    hidden = (random.random(probability.shape) < probability) & ~stays_observed
    incomplete = table.copy()
    for column, name in enumerate(names):
        incomplete[name] = table[name].astype(object).where(~hidden[:, column], None)
    return incomplete.convert_dtypes()


def _missing_probabilities(cause: Numbers, share: float) -> Numbers:
    """Probabilities that increase with the cause and have mean ``share`` in each column."""
    if not share:
        return np.zeros_like(cause)
    offsets = [
        brentq(lambda offset: expit(SLOPE * column + offset).mean() - share, -50, 50)  # noqa: B023
        for column in cause.T
    ]
    return np.asarray(expit(SLOPE * cause + offsets))


def report_sections(results: Sequence[RunResult], folder: Path) -> list[Section]:
    """AUIC against the share of missing values, from the runs that are finished."""
    if not results:
        return []
    groups = _group_areas(results)
    paragraphs = (
        "Cells of the training rows are hidden, except for the target; the held-out rows are "
        "complete. AUIC is the mean RMSE over the questions of an interview, with the target in units "
        "of its range. At random: the first third of the variables stays observed and causes the "
        "missing values of the others. Not at random: high values are lost first.",
        "Weighted: an entry also counts for similar entries that are missing (propensity weights), as "
        "in the default. Unweighted: every observed entry has the same weight.",
    )
    tables, plots = (_area_table(groups),), (_plot(groups, folder),)
    return [Section("Missing values in training data", paragraphs, tables, plots)]


def _group_areas(results: Sequence[RunResult]) -> dict[Group, list[float]]:
    """The AUIC of all seeds by group."""
    groups: dict[Group, list[float]] = {}
    for result in results:
        settings = result.settings
        mechanism, share = _mechanism_and_share(settings)
        # A complete table is the starting point of every mechanism.
        for name in MECHANISMS if share == 0 else (mechanism,):
            group = (str(settings["dataset"]), name, share, bool(settings["weigh"]))
            groups.setdefault(group, []).append(float(result.measurements["auic"]))
    return groups


def _dimensions(groups: dict[Group, list[float]]) -> tuple[list[str], list[str], list[float]]:
    """The datasets, mechanisms and shares with results, in order."""
    datasets, present, shares, _ = zip(*groups, strict=True)
    mechanisms = [mechanism for mechanism in MECHANISMS if mechanism in present]
    return list(dict.fromkeys(datasets)), mechanisms, sorted(set(shares))


def _area_table(groups: dict[Group, list[float]]) -> ReportTable:
    datasets, mechanisms, shares = _dimensions(groups)
    columns = list(product(shares, WEIGHTINGS))
    rows = [
        (
            dataset,
            MECHANISMS[mechanism],
            *(_format_mean(groups.get((dataset, mechanism, *column))) for column in columns),
        )
        for dataset, mechanism in product(datasets, mechanisms)
    ]
    headings = (f"{share:.0%}, {WEIGHTINGS[weigh]}" for share, weigh in columns)
    n_seeds = max(map(len, groups.values()))
    note = f"AUIC, mean of {n_seeds} splits; lower is better." if n_seeds > 1 else "AUIC of one split."
    title = "AUIC by share of missing values"
    return ReportTable(title, ("dataset", "missing", *headings), tuple(rows), note)


def _format_mean(areas: list[float] | None) -> str:
    return f"{np.mean(areas):.4f}" if areas else NOT_AVAILABLE


def _plot(groups: dict[Group, list[float]], folder: Path) -> Figure:
    datasets, mechanisms, shares = _dimensions(groups)
    figure = figures.figure(3.0 * len(datasets) + 0.4, 3.2)
    panels = figure.subplots(1, len(datasets), squeeze=False)[0]
    lines: dict[str, Any] = {}
    for axes, dataset in zip(panels, datasets, strict=True):
        figures.tidy(axes)
        for (i, mechanism), weigh in product(enumerate(mechanisms), WEIGHTINGS):
            measured = [share for share in shares if (dataset, mechanism, share, weigh) in groups]
            means = [np.mean(groups[dataset, mechanism, share, weigh]) for share in measured]
            (line,) = axes.plot(measured, means, color=COLOURS[i], marker=MARKERS[i])
            line.set(linestyle="-" if weigh else ":", markersize=3.8, linewidth=1.6)
            lines[f"{MECHANISMS[mechanism]}, {WEIGHTINGS[weigh]}"] = line
        axes.set_title(dataset, color=INK, fontsize=SMALL + 1)
        axes.set_xlabel("missing values", color=INK, fontsize=SMALL + 0.5)
        axes.set_ylabel("AUIC", color=INK, fontsize=SMALL + 0.5)
        axes.set_xticks(shares, [f"{share:.0%}" for share in shares])
    figure.legend(
        list(lines.values()),
        list(lines),
        loc="outside upper center",
        ncols=3,
        frameon=False,
        fontsize=SMALL,
    )
    path = folder / "holes.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    figures.save(figure, figures.check_path(path))
    return Figure(path, "AUIC against the share of missing training values, by mechanism.")


def required_datasets(settings: Settings) -> tuple[str, ...]:
    """The dataset of a run."""
    return problems.required_datasets(str(settings["dataset"]))


EXPERIMENT = Experiment(run, required_datasets, report_sections)
