"""Report on collinear variables: accuracy, orders and rewards compared with exact inference."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from eddi.errors import MissingExtraError
from eddi.evaluate import figures
from eddi.evaluate.figures import COLOURS, FAINT, INK, MARKERS, SMALL
from eddi_benchmarks.harness.run_result import RunResult
from eddi_benchmarks.paper.curve_figures import (
    LEGEND_HEIGHT,
    PANEL_HEIGHT,
    PANEL_WIDTH,
    describe_bands,
    plot_mean_curve,
)
from eddi_benchmarks.report.content import Figure, ReportTable, Section
from eddi_benchmarks.report.statistics import Numbers, format_mean

METHODS = {
    "ours": "ours",
    "exact": "exact posterior",
    "lda": "LDA, refitted",
    "logistic": "logistic regression, refitted",
}
ORDERS = {"ours": "our order", "exact": "exact greedy order"}
SHOWN_STEPS = (3, 6, 9, 12, 15, 18)
STYLES = {  # colour, marker and line style, by order and prediction
    ("ours", "ours"): (COLOURS[0], MARKERS[0], "-"),
    ("ours", "exact"): (COLOURS[0], MARKERS[1], ":"),
    ("exact", "ours"): (FAINT, MARKERS[0], "-"),
    ("exact", "exact"): (FAINT, MARKERS[1], ":"),
}
PARAGRAPHS = (
    "18 quantities depend on three common factors, which move each of them by about 1.7, and on noise of "
    "0.15. The means of four classes differ by no more than that noise. So no answer says much by itself, "
    "and many answers together determine the class. The exact posterior follows from Bayes' rule for the "
    "true means and covariance matrix; no method that learns from rows can be expected to exceed it.",
    "Random answers are one random subset for each number of answers, the same for all rows and seeds; "
    "linear discriminant analysis (LDA) and logistic regression are fitted to each subset by itself. The "
    "exact greedy order asks every row the question with the highest exact information about its class. "
    "Along either order, both our model and the exact posterior predict the class from the same answers: "
    "the difference between orders is due to the questions, that between predictions to the model. Our "
    "order chooses its first question with a lookahead, the exact greedy order does not.",
    "Rewards are those of `Information()` for random subsets of the answers of test rows. tau is Kendall's "
    "rank correlation with the exact information of the open questions, best the share of states in which "
    "the best question is chosen, regret the exact information, in nats, that the choice loses.",
)


def report_sections(results: Sequence[RunResult], folder: Path) -> list[Section]:
    """The tables and the figure, from the runs that are finished."""
    if not results:
        return []
    by_size: dict[int, list[RunResult]] = {}
    for result in results:
        by_size.setdefault(int(result.settings["n_train"]), []).append(result)
    tables = (_subset_table(by_size), _order_table(by_size), _reward_table(by_size))
    return [Section("Collinear variables", PARAGRAPHS, tables, _plot(by_size, folder))]


def _subset_table(by_size: dict[int, list[RunResult]]) -> ReportTable:
    rows = []
    for n_train, runs in by_size.items():
        for method, name in METHODS.items():
            accuracy = np.array([run.measurements["subsets"][method] for run in runs])
            rows.append((f"{n_train:,}", name, *(format_mean(column, 3) for column in accuracy.T)))
    sizes = next(iter(by_size.values()))[0].measurements["subset_sizes"]
    columns = ("training rows", "method", *(f"{size} answers" for size in sizes))
    return ReportTable("Accuracy after random answers", columns, tuple(rows), _describe_means(by_size))


def _order_table(by_size: dict[int, list[RunResult]]) -> ReportTable:
    rows = []
    for n_train, runs in by_size.items():
        for order, method in STYLES:
            curves = _curves(runs, order, method)
            labels = (f"{n_train:,}", ORDERS[order], METHODS[method])
            shown = (format_mean(curves[:, step], 3) for step in SHOWN_STEPS)
            rows.append((*labels, *shown, format_mean(curves[:, 1:].mean(1), 3)))
    columns = (
        *("training rows", "order", "prediction"),
        *(f"{step} answers" for step in SHOWN_STEPS),
        "mean over steps",
    )
    return ReportTable("Accuracy along an order", columns, tuple(rows), _describe_means(by_size))


def _reward_table(by_size: dict[int, list[RunResult]]) -> ReportTable:
    digits = {"best_nats": 3, "tau": 2, "hit": 2, "regret": 4, "random_regret": 4}
    rows = []
    for n_train, runs in by_size.items():
        rewards = [run.measurements["rewards"] for run in runs]
        for row, n_answers in enumerate(rewards[0]["answers"]):
            cells = [format_mean([r[key][row] for r in rewards], n) for key, n in digits.items()]
            rows.append((f"{n_train:,}", f"{n_answers:.0f}", *cells))
    columns = (
        *("training rows", "answers", "nats of the best question"),
        *("tau", "best", "regret", "regret: random"),
    )
    title = "Rewards compared with exact information"
    return ReportTable(title, columns, tuple(rows), _describe_means(by_size))


def _describe_means(by_size: dict[int, list[RunResult]]) -> str:
    n_seeds = max(len(runs) for runs in by_size.values())
    return f"Mean and standard error over {n_seeds} seeds." if n_seeds > 1 else "One seed."


def _curves(runs: Sequence[RunResult], order: str, method: str) -> Numbers:
    """Accuracy [seeds, steps + 1]."""
    return np.array([run.measurements["orders"][order][method] for run in runs], dtype=np.float64)


def _plot(by_size: dict[int, list[RunResult]], folder: Path) -> tuple[Figure, ...]:
    """A panel for each number of training rows."""
    width, height = PANEL_WIDTH * max(2, len(by_size)) + 0.4, PANEL_HEIGHT + 2 * LEGEND_HEIGHT
    try:
        figure = figures.figure(width, height)
    except MissingExtraError:  # the tables do not need matplotlib
        return ()
    panels = figure.subplots(1, len(by_size), squeeze=False, sharey=True)[0]
    lines = {}
    for axes, (n_train, runs) in zip(panels, by_size.items(), strict=True):
        figures.tidy(axes)
        for (order, method), (colour, marker, line_style) in STYLES.items():
            line = plot_mean_curve(axes, (colour, marker), _curves(runs, order, method))
            line.set_linestyle(line_style)
            lines[f"{ORDERS[order]}, {METHODS[method]}"] = line
        figures.title(axes, f"{n_train:,} training rows")
        axes.set_xlabel("questions asked", color=INK, fontsize=SMALL + 0.5)
        axes.locator_params(axis="x", integer=True)
    panels[0].set_ylabel("accuracy", color=INK, fontsize=SMALL + 0.5)
    style = {"loc": "outside upper center", "ncols": 2, "frameon": False, "fontsize": SMALL + 0.5}
    figure.legend(list(lines.values()), list(lines), **style)
    path = folder / "collinear.png"
    figures.save(figure, path)
    n_seeds = max(len(runs) for runs in by_size.values())
    caption = f"Accuracy after each question, by order and prediction. {describe_bands(n_seeds)}"
    return (Figure(path, caption),)
