"""The chapter on decisions: who predicts best with the fewest questions, how surely, how fast."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from eddi_benchmarks.decisions.figures import dataset_picture, frontier_picture
from eddi_benchmarks.decisions.results import (
    BOUNDS,
    BY_COST,
    METHODS,
    Results,
    cell,
    over_sets,
    paired_t,
)
from eddi_benchmarks.harness.experiment import Outcome
from eddi_benchmarks.paper.comparison import NOT_YET, SIGNIFICANT, Numbers, mean_and_error, p_words
from eddi_benchmarks.report.content import Grid, Section

AUTHORS = {
    "gdfs": (0.102, 0.100, 0.060, 0.122, 0.120, 0.047),
    "dime": (0.102, 0.108, 0.072, 0.124, 0.121, 0.047),
}
"""AUIC of the authors' own code, tuned, on seeds 0-2 of the same splits, by the order of `UCI`."""
UCI = ("boston", "concrete", "energy", "wine_red", "kin8nm", "yacht")
MODELS = ("ours", "paper", "gdfs", "dime")  # that are trained
TITLES = {False: "Quantities: AUIC, the mean RMSE", True: "Classes: mean accuracy"}


def sections(outcomes: Sequence[Outcome], folder: Path) -> list[Section]:
    """Everything, from whatever runs are finished."""
    kinds = [Results.of(outcomes, is_class=is_class) for is_class in (False, True)]
    some = [results for results in kinds if results.outcomes]
    if not some:
        return []
    return [
        Section(
            "Who predicts best with the fewest questions", _about(outcomes), tuple(map(_areas, some))
        ),
        Section("Is the difference more than chance?", (), tuple(map(_tests, some))),
        Section("How sure, and how surely right", (), tuple(map(_likelihood, some)) + _coverage(some)),
        Section("Time", (), tuple(map(_time, some))),
        _curves(some, folder),
    ]


def _about(outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    n_seeds = len({each.settings["seed"] for each in outcomes})
    return (
        f"{len(outcomes)} finished runs, {n_seeds} splits a set. Quantities: a tenth of the rows held "
        "out, the target in units of its range in the training rows, the curve from before the first "
        "question to the last. Classes: a fifth held out, each class with its share; the mean over "
        "steps after the first question. All methods have the same training rows and take validation "
        "rows from them alone; none was tuned on a held-out row.",
        "A question to which a row holds no answer is never asked of it, by any method, and a row of "
        "which everything is known keeps its last prediction. GDFS (Covert et al. 2023) and DIME "
        "(Gadgil et al. 2024) are written anew from their papers; holes are filled with the mean and "
        "masked. Their beliefs about quantities have the spread of their errors on validation rows. Of "
        "GDFS four settings were compared and of DIME five, on validation rows of Boston, Energy and "
        "Yacht alone: length of training, dropout, and how exploration falls.",
        "One order and random order ask with our model, the one order being learned on training rows. "
        "Exact is Bayes' rule over the hypotheses a made-up set was drawn from; it asks greedily, or "
        "looks one answer further.",
    )


def _areas(results: Results) -> Grid:
    """A line a set, a column a method, and beside GDFS and DIME what their authors' code gives."""
    columns: dict[str, list[str]] = {}
    best: set[tuple[int, int]] = set()
    bests = [results.best(dataset) for dataset in results.datasets]
    for name in _unpriced(results):
        best |= {(row, 1 + len(columns)) for row, those in enumerate(bests) if name in those}
        columns[METHODS[name]] = [cell(results.areas(d, name)) for d in results.datasets]
        if name in AUTHORS and not results.is_class:
            theirs = dict(zip(UCI, AUTHORS[name], strict=True))
            columns[f"{METHODS[name]}, authors'"] = [
                f"{theirs[d]:.3f}" if d in theirs else NOT_YET for d in results.datasets
            ]
    note = (
        "Mean and standard error over splits; best in bold (an exact belief, which knows how the rows "
        f"were made, is not ranked). {'More' if results.is_class else 'Less'} is better."
    )
    if not results.is_class:
        note += " The figures of the authors' code are means over splits 0 to 2."
    return _by_set(TITLES[results.is_class], results, columns, note, best)


def _tests(results: Results) -> Grid:
    columns: dict[str, list[str]] = {}
    best: set[tuple[int, int]] = set()
    for other in (n for n in _unpriced(results) if n not in ("ours", *BOUNDS)):
        cells = []
        for row, dataset in enumerate(results.datasets):
            gain = results.gains(dataset, "ours", other)
            p = paired_t(gain)
            if p is not None and p < SIGNIFICANT and gain.mean() > 0:
                best.add((row, 1 + len(columns)))
            cells.append(f"{gain.mean():+.4f} ({p_words(p)})" if len(gain) else NOT_YET)
        p_all, n_won, n_sets = over_sets(results, "ours", other)
        columns[f"against {METHODS[other]}"] = [*cells, f"{n_won} of {n_sets} ({p_words(p_all)})"]
    note = (
        "Mean gain of ours (above 0 is better) and the p-value of a paired two-sided t-test over the "
        "splits of a set; bold where ours is better with p < 0.05. Last line: sets on which ours is "
        "better on average, and the signed-rank test over all sets and splits."
    )
    what = "accuracy" if results.is_class else "AUIC"
    return _by_set(f"Gain in {what}", results, columns, note, best, more=("all sets",))


def _likelihood(results: Results) -> Grid:
    columns = {
        METHODS[name]: [cell(results.areas(d, name, "nll")) for d in results.datasets]
        for name in _unpriced(results)
    }
    kind = "classes" if results.is_class else "quantities, in units of their range"
    note = "Nats, averaged over the same steps; less is better."
    return _by_set(f"Negative log-likelihood: {kind}", results, columns, note)


def _coverage(some: Sequence[Results]) -> tuple[Grid, ...]:
    """How often the 90% interval holds the truth: the least and the most over steps."""
    note = "The least and the most over numbers of answers, of the mean over splits; 0.90 is promised."
    return tuple(
        _by_set(
            "Coverage of 90% intervals",
            results,
            {
                METHODS[name]: [
                    _least_and_most(results.curves(d, name, "coverage")) for d in results.datasets
                ]
                for name in _unpriced(results)
            },
            note,
        )
        for results in some
        if not results.is_class
    )


def _least_and_most(curves: Numbers) -> str:
    if not len(curves):
        return NOT_YET
    mean = mean_and_error(curves)[0]
    return f"{mean.min():.2f} to {mean.max():.2f}"


def _time(results: Results) -> Grid:
    columns = {"questions": [str(_of(results, d)[0].figures["n_questions"]) for d in results.datasets]}
    for model in (name for name in METHODS if name in MODELS):
        seconds, thinking = [], []
        for dataset in results.datasets:
            here = [each.figures for each in _timed(results, dataset) if each.settings["model"] == model]
            seconds.append(f"{np.mean([each['seconds'] for each in here]):.1f}" if here else NOT_YET)
            ms = [each["methods"][model]["ms"] for each in here]
            thinking.append(f"{np.median(ms):.2f}" if ms else NOT_YET)
        columns[f"{METHODS[model]}: training, s"] = seconds
        columns[f"{METHODS[model]}: a decision, ms"] = thinking
    note = (
        "One core; runs on a GPU are left out. Training: mean over splits. A decision: for one person "
        "half of whom is known, median."
    )
    kind = "classes" if results.is_class else "quantities"
    return _by_set(f"Seconds and milliseconds: {kind}", results, columns, note)


def _timed(results: Results, dataset: str) -> list[Outcome]:
    return [each for each in _of(results, dataset) if each.circumstances.get("device", "cpu") == "cpu"]


def _of(results: Results, dataset: str) -> list[Outcome]:
    return [each for each in results.outcomes if each.settings["dataset"] == dataset]


def _unpriced(results: Results) -> list[str]:
    """The methods that do not aim at a cost."""
    return [name for name in results.methods if name not in BY_COST]


def _by_set(
    title: str,
    results: Results,
    columns: dict[str, list[str]],
    note: str,
    best: Iterable[tuple[int, int]] = (),
    *,
    more: tuple[str, ...] = (),
) -> Grid:
    """A grid with a line for each dataset, and for ``more``."""
    rows = zip((*results.datasets, *more), *columns.values(), strict=True)
    return Grid(title, ("", *columns), tuple(rows), note, frozenset(best))


def _curves(some: Sequence[Results], folder: Path) -> Section:
    pictures = []
    for results in some:
        for dataset in results.datasets:
            pictures.append(dataset_picture(results, dataset, folder / f"decisions-{dataset}.png"))
            frontier = frontier_picture(results, dataset, folder / f"decisions-{dataset}-cost.png")
            pictures += [frontier] if frontier else []
    return Section("Curves", (), (), tuple(pictures))
