"""How rewards and exact information compare, told: one table, one picture of small multiples."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from eddi.errors import MissingExtraError
from eddi.evaluate import figures
from eddi.evaluate.figures import BLUE, FAINT, INK, SMALL, VERMILION
from eddi_benchmarks.harness.experiment import Outcome
from eddi_benchmarks.report.content import Grid, Picture, Section

FLOOR = 1e-5  # nats: what is less, or nothing, is drawn at the edge of the picture
CEILING = 1.6
TICKS = (1e-5, 1e-3, 1e-1)
MAX_DOTS = 600  # in a panel, of each sort; more is a blot
NONE = "-"

Group = tuple[str, str]
"""A network and a recipe."""

CHOOSERS = ("reward", "own", "random")
MEASURES = {"tau": 2, "hit": 2, "regret": 4}  # with digits
HEADINGS = {"tau": "tau", "hit": "best", "regret": "regret"}
WORDS = (
    "Rows are drawn from a published Bayesian network, a Partial VAE (PNP) learns from them, and in "
    "many states of evidence the reward of every open question stands beside its exact information "
    "about the target, which is summed from the network's joint. A state is a row of the network of "
    "which some variables are known; only those in which one question tells more than another count.",
    "tau is Kendall's, over the pairs of questions whose exact information differs: the share ordered "
    "rightly less the share ordered wrongly. Best is the share of states in which a question is chosen "
    "that is exactly the best, and regret the exact information, in nats, that the choice gives away. "
    "Reward is what `Information()` chooses by: with the default recipe what an answer tells about the "
    "target itself, with the paper's what it tells in the space of z. Own is the mutual information of "
    "answer and target that the same model believes in through z, summed over their levels (there is "
    "none where the paper's recipe takes levels for numbers). Random is the "
    "expectation of a random choice.",
)


def sections(outcomes: Sequence[Outcome], folder: Path) -> list[Section]:
    """The tables and the picture of whatever runs are finished."""
    if not outcomes:
        return []
    grids = (_choice_grid(outcomes), _prediction_grid(outcomes))
    return [
        Section("The reward against the exact information", WORDS, grids, _pictures(outcomes, folder))
    ]


def _groups(outcomes: Sequence[Outcome]) -> dict[Group, list[Outcome]]:
    groups: dict[Group, list[Outcome]] = {}
    for outcome in outcomes:
        group = str(outcome.settings["network"]), str(outcome.settings["recipe"])
        groups.setdefault(group, []).append(outcome)
    return groups


def _choice_grid(outcomes: Sequence[Outcome]) -> Grid:
    rows: list[tuple[str, ...]] = []
    best: set[tuple[int, int]] = set()
    for (network, recipe), runs in _groups(outcomes).items():
        row = [
            network,
            runs[0].figures["target"],
            recipe,
            _cell([each.figures["best_nats"] for each in runs], 3),
        ]
        for measure, digits in MEASURES.items():
            found = [_found(runs, chooser, measure) for chooser in _choosers(measure)]
            best.add((len(rows), len(row) + _best_place(measure, found)))
            row += [_cell(values, digits) for values in found]
        rows.append(tuple(row))
    n_states = sum(outcome.figures["n_states"] for outcome in outcomes)
    note = (
        f"Means over states and seeds, ± the standard error over seeds; {len(outcomes)} runs, "
        f"{n_states:,} states. Nats are what the best question tells. In bold the best of its kind."
    )
    headings = [
        f"{HEADINGS[measure]}: {chooser}" for measure in MEASURES for chooser in _choosers(measure)
    ]
    columns = ("network", "target", "recipe", "nats", *headings)
    return Grid(
        "Choosing by the reward, beside the exact best", columns, tuple(rows), note, frozenset(best)
    )


def _choosers(measure: str) -> tuple[str, ...]:
    return CHOOSERS[:-1] if measure == "tau" else CHOOSERS  # a random order has none


def _found(runs: Sequence[Outcome], chooser: str, measure: str) -> list[float]:
    told = (run.figures["choices"].get(chooser) for run in runs)
    return [choice[measure] for choice in told if choice]


def _best_place(measure: str, found: Sequence[Sequence[float]]) -> int:
    sign = -1 if measure == "regret" else 1
    return int(np.argmax([sign * float(np.mean(values)) if values else -math.inf for values in found]))


def _prediction_grid(outcomes: Sequence[Outcome]) -> Grid:
    rows = []
    for (network, recipe), runs in _groups(outcomes).items():
        first = runs[0].figures
        kl = [[run.figures["kl"][whose] for run in runs] for whose in ("ours", "marginal")]
        seconds = np.mean([run.figures["seconds"]["fit"] for run in runs])
        named = (network, first["target"], str(first["n_variables"]), recipe, str(len(runs)))
        rows.append((*named, *(_cell(values, 4) for values in kl), f"{seconds:.1f}"))
    note = (
        "Mean divergence, in nats, from the target's exact posterior to what the model predicts, and to "
        "the target's marginal, which is what one would predict knowing nothing; ± as above."
    )
    columns = (
        "network",
        "target",
        "variables",
        "recipe",
        "seeds",
        "KL",
        "KL of the marginal",
        "s to fit",
    )
    return Grid("Predicting the target, beside its exact posterior", columns, tuple(rows), note)


def _cell(values: Sequence[float], digits: int) -> str:
    """Mean and standard error."""
    if not values:
        return NONE
    mean = f"{np.mean(values):.{digits}f}"
    if len(values) < 2:
        return mean
    return f"{mean} ± {np.std(values, ddof=1) / math.sqrt(len(values)):.{digits}f}"


def _pictures(outcomes: Sequence[Outcome], folder: Path) -> tuple[Picture, ...]:
    groups = _groups(outcomes)
    networks, recipes = (list(dict.fromkeys(group[place] for group in groups)) for place in (0, 1))
    try:
        figure = figures.figure(1.2 + 2.1 * len(networks), 0.9 + 2.1 * len(recipes))
    except MissingExtraError:  # the table is whole without matplotlib
        return ()
    panels = figure.subplots(len(recipes), len(networks), squeeze=False, sharex=True, sharey=True)
    for line, recipe in zip(panels, recipes, strict=True):
        for axes, network in zip(line, networks, strict=True):
            _panel(axes, groups.get((network, recipe), []))
        line[0].set_ylabel(f"{recipe} recipe\nreward, nats", fontsize=SMALL + 1, color=INK)
    for axes, network in zip(panels[0], networks, strict=True):
        figures.title(axes, figures.label(network))
    figure.supxlabel("exact information about the target, nats", fontsize=SMALL + 1.5, color=INK)
    _legend(figure)
    path = folder / "networks.png"
    figures.save(figure, path)
    words = (
        "Reward against exact information of every open question in every state of evidence, both on "
        f"logarithmic axes; what is below {FLOOR:g} nats is at the edge, and of many dots of a sort "
        f"at most {MAX_DOTS} are drawn in a panel. On the line the two are equal."
    )
    return (Picture(path, words),)


def _panel(axes: Any, runs: Sequence[Outcome]) -> None:
    figures.tidy(axes, grid="both")
    limits = (FLOOR / CEILING, CEILING)
    axes.set(xscale="log", yscale="log", xlim=limits, ylim=limits, aspect="equal")
    axes.set(xticks=TICKS, yticks=TICKS)
    axes.minorticks_off()
    axes.plot(limits, limits, color=FAINT, lw=0.9, zorder=1)
    asked, others = _dots(runs)
    look = {"s": 9, "lw": 0, "rasterized": True}
    axes.scatter(*_thinned(others).T, color=BLUE, alpha=0.22, zorder=2, **look)
    axes.scatter(*_thinned(asked).T, color=VERMILION, alpha=0.45, zorder=3, **look)


def _dots(runs: Sequence[Outcome]) -> tuple[Any, Any]:
    """Exact information and reward [questions, 2] of the questions asked, and of all others."""
    asked, others = [], []
    for run in runs:
        for exact, rewards in zip(run.figures["exact"], run.figures["rewards"], strict=True):
            dots = np.maximum(np.column_stack([exact, rewards]), FLOOR)
            best = int(np.argmax(rewards))
            asked.append(dots[best : best + 1])
            others.append(np.delete(dots, best, axis=0))
    nothing = np.empty((0, 2))
    return np.concatenate([nothing, *asked]), np.concatenate([nothing, *others])


def _thinned(dots: Any) -> Any:
    """Some of the dots, evenly over the runs."""
    return dots[:: max(1, math.ceil(len(dots) / MAX_DOTS))]


def _legend(figure: Any) -> None:
    from matplotlib.lines import Line2D

    dot: dict[str, Any] = {"ls": "", "marker": "o", "ms": 5, "mew": 0}
    marks = [
        Line2D([], [], color=VERMILION, label="the question of the highest reward", **dot),
        Line2D([], [], color=BLUE, label="the other open questions", **dot),
        Line2D([], [], color=FAINT, lw=0.9, label="equal"),
    ]
    look = {"loc": "outside upper center", "ncols": 3, "frameon": False, "fontsize": SMALL + 1.5}
    figure.legend(handles=marks, **look)
