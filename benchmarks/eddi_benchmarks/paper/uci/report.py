"""What the UCI runs say, beside the paper: ranks, tests, the LASSO, areas, curves, decisions, time."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from eddi_benchmarks.harness.experiment import Outcome
from eddi_benchmarks.paper import authors_code as published
from eddi_benchmarks.paper import comparison as combination
from eddi_benchmarks.paper.comparison import (
    COMPARED,
    ENCODERS,
    STRATEGIES,
    Areas,
    Contest,
    mean_and_error,
)
from eddi_benchmarks.paper.curve_figures import curve_picture, dataset_picture
from eddi_benchmarks.report.content import Grid, Picture, Section

METRIC = "draw_rmse"
"""What the paper's ranks, tests and curves are of: RMSE, which its code takes over posterior draws."""
METRICS = (METRIC, "rmse", "nll")
WORDS = {
    "draw_rmse": "RMSE of draws",
    "rmse": "RMSE of the mean prediction",
    "nll": "negative log-likelihood",
}
BEST = ("eddi", "pnp")  # the paper's best

_RANKS = {
    "eddi": (5.72, 5.54, 5.08, 5.25),
    "rand": (8.03, 8.10, 7.77, 7.79),
    "sing": (8.68, 5.50, 5.20, 5.28),
}
_P_VALUES = {
    "eddi": ("< 1e-48", "< 1e-23", "-", "< 1e-2"),
    "rand": ("0", "0", "0", "0"),
    "sing": ("0", "< 1e-13", "< 1e-2", "< 1e-4"),
}
_LASSO_RANKS = {"eddi": (4.66, 4.53, 4.14, 4.24), "lasso": (4.86, 4.63, 4.41, 4.48)}
THEIR_RANKS: Mapping[combination.Combination, float] = {
    (strategy, encoder): rank
    for strategy, ranks in _RANKS.items()
    for encoder, rank in zip(ENCODERS, ranks, strict=True)
}
"""The paper's table "Average ranking of AUIC over 6 UCI datasets"."""
THEIR_P_VALUES = {
    (strategy, encoder): p
    for strategy, ps in _P_VALUES.items()
    for encoder, p in zip(ENCODERS, ps, strict=True)
}
"""Its appendix's "p-values of Wilcoxon signed-rank test of EDDI-PNP vs. 11 other settings"."""
THEIR_LASSO_RANKS: Mapping[combination.Combination, float] = {
    (strategy, encoder): rank
    for strategy, ranks in _LASSO_RANKS.items()
    for encoder, rank in zip(ENCODERS, ranks, strict=True)
}
THEIR_LASSO_P_VALUES = dict(zip(ENCODERS, ("< 1e-4", "< 1e-6", "< 1e-24", "< 1e-19"), strict=True))
"""Its appendix's table of EDDI and LASSO."""


def sections(outcomes: Sequence[Outcome], folder: Path) -> list[Section]:
    """Everything the paper shows of UCI, from whatever runs are finished."""
    if not outcomes:
        return []
    parts = [
        _ranks(outcomes),
        _tests(outcomes),
        _lasso(outcomes),
        _areas(outcomes),
        _curves(outcomes, folder),
        _decisions(outcomes, folder),
        _time(outcomes),
    ]
    return [part for part in parts if part is not None]


def _ranks(outcomes: Sequence[Outcome]) -> Section:
    grids = [
        combination.rank_grid(
            outcomes, METRIC, theirs=THEIR_RANKS, title=f"Average rank of AUIC ({WORDS[METRIC]})"
        )
    ]
    for metric in METRICS[1:]:
        title = f"The same by {WORDS[metric]}, which the paper does not print"
        ours = dict.fromkeys(THEIR_RANKS)
        grids.append(combination.rank_grid(outcomes, metric, theirs=ours, title=title))
    words = (_what(outcomes), verdict(outcomes))
    return Section("UCI: average rank of the area under the information curve", words, tuple(grids))


def _what(outcomes: Sequence[Outcome]) -> str:
    first = outcomes[0].settings
    keys = ("dataset", "set_encoder", "seed")
    n_sets, n_encoders, n_seeds = (len({each.settings[key] for each in outcomes}) for key in keys)
    changed = [
        f"{name} = {value}"
        for name, value in published.switches(first).items()
        if value != published.SWITCHES[name][0]
    ]
    how = f"with the published code's {', '.join(changed)}" if changed else "with the paper's settings"
    return (
        f"{len(outcomes)} finished runs (datasets: {n_sets}, set encoders: {n_encoders}, repetitions: "
        f"{n_seeds}), {how}: {first['max_steps']:,} training steps, {first['n_draws']} draws, a tenth "
        "of the rows held out anew in each repetition. Unlike the paper's code, scaling is learned from "
        "training rows only. All errors are in units of the target's range in the training rows."
    )


def verdict(outcomes: Sequence[Outcome]) -> str:
    """Whether the paper's claims hold in these numbers, in plain words."""
    areas = Areas.of(outcomes, METRIC, list(THEIR_RANKS))
    if not areas.cases:
        return (
            "No dataset and repetition is finished for all four encoders yet, so nothing can be ranked."
        )
    single = "the single best order, which has seen the test rows"
    return " ".join(
        [_who_is_first(areas), _against(areas, "rand", "Random"), _against(areas, "sing", single)]
    )


def _who_is_first(areas: Areas) -> str:
    ranks = dict(zip(areas.combinations, areas.ranks.mean(0).tolist(), strict=True))
    order = sorted(ranks, key=lambda pair: ranks[pair])
    paper = f"the paper: first with {THEIR_RANKS[BEST]:.2f}"
    if order[0] == BEST:
        return (
            f"{name(BEST)} has the best average rank of the twelve, {ranks[BEST]:.2f} ({paper}); "
            f"{name(order[1])} follows with {ranks[order[1]]:.2f}."
        )
    contest = Contest.of(areas, BEST, order[0])
    return (
        f"{name(BEST)} does not have the best average rank of the twelve: it is number "
        f"{order.index(BEST) + 1} with {ranks[BEST]:.2f} ({paper}). First is {name(order[0])} with "
        f"{ranks[order[0]]:.2f} (p = {combination.p_words(contest.p_rows)} by rows, "
        f"{combination.p_words(contest.p_cases)} by repetitions)."
    )


def _against(areas: Areas, other: str, words: str) -> str:
    """How EDDI did against another strategy, encoder by encoder."""
    contests = {e: Contest.of(areas, ("eddi", e), (other, e)) for e in ENCODERS}
    told = [
        f"{_outcome(contest)} with {ENCODERS[e]} ({contest.saved:+.4f}, "
        f"p = {combination.p_words(contest.p_rows)})"
        for e, contest in contests.items()
    ]
    return f"Against {words}, EDDI is {', '.join(told)}."


def _outcome(contest: Contest) -> str:
    if contest.p_rows >= combination.SIGNIFICANT:
        return "neither better nor worse"
    return "better" if contest.saved > 0 else "worse"


def name(pair: combination.Combination) -> str:
    """A combination as one says it."""
    return f"{STRATEGIES[pair[0]]}-{ENCODERS[pair[1]]}"


def _tests(outcomes: Sequence[Outcome]) -> Section:
    printed = f"Wilcoxon tests of {name(BEST)} ({WORDS[METRIC]})"
    grids = [combination.test_grid(outcomes, METRIC, theirs=THEIR_P_VALUES, title=printed)]
    grids += [
        combination.test_grid(outcomes, metric, title=f"The same by {WORDS[metric]}")
        for metric in METRICS[1:]
    ]
    return Section("UCI: is the difference significant?", (), tuple(grids))


def _lasso(outcomes: Sequence[Outcome]) -> Section:
    words = (
        "The LASSO picks variables by a regression on wholly known training rows, observes them in "
        "random order, and stops; the same Partial VAE predicts.",
    )
    ranks = combination.rank_grid(
        outcomes, METRIC, theirs=THEIR_LASSO_RANKS, title="Average rank of eight, EDDI and LASSO"
    )
    tests = combination.pair_grid(
        outcomes,
        METRIC,
        strategies=("eddi", "lasso"),
        theirs=THEIR_LASSO_P_VALUES,
        title="EDDI against LASSO, by encoder",
    )
    return Section("UCI: the LASSO baseline", words, (ranks, tests))


def _areas(outcomes: Sequence[Outcome]) -> Section:
    grids = tuple(_area_grid(outcomes, metric) for metric in METRICS)
    return Section("UCI: area under the information curve by dataset", (), grids)


def _area_grid(outcomes: Sequence[Outcome], metric: str) -> Grid:
    rows: list[tuple[str, ...]] = []
    best: set[tuple[int, int]] = set()
    for dataset in dict.fromkeys(each.settings["dataset"] for each in outcomes):
        here = [each for each in outcomes if each.settings["dataset"] == dataset]
        cells = {
            (s, e): _areas_of(here, s, e, metric) for s in (*COMPARED, "lasso") for e in ENCODERS
        }  # each [seeds]
        found = {pair: float(each.mean()) for pair, each in cells.items() if len(each)}
        least = min(found.values())
        for strategy in (*COMPARED, "lasso"):
            pairs = [(strategy, encoder) for encoder in ENCODERS]
            best |= {(len(rows), 2 + k) for k, pair in enumerate(pairs) if found.get(pair) == least}
            title = dataset if strategy == "eddi" else ""
            rows.append((title, STRATEGIES[strategy], *(_area_cell(cells[pair]) for pair in pairs)))
    note = "Mean of the curve over all steps, step 0 included; ± is the standard error over repetitions."
    columns = ("", "", *ENCODERS.values())
    return Grid(f"AUIC ({WORDS[metric]})", columns, tuple(rows), note, frozenset(best))


def _areas_of(
    outcomes: Sequence[Outcome], strategy: str, encoder: str, metric: str
) -> combination.Numbers:
    curves = [
        each.figures["strategies"][strategy]["curves"][metric]
        for each in outcomes
        if each.settings["set_encoder"] == encoder
    ]
    return np.array([np.mean(curve) for curve in curves], dtype=np.float64)


def _area_cell(areas: combination.Numbers) -> str:
    if not len(areas):
        return combination.NOT_YET
    mean, error = mean_and_error(areas)
    return f"{mean:.3f}" if np.isnan(error) else f"{mean:.3f} ± {error:.3f}"


def _curves(outcomes: Sequence[Outcome], folder: Path) -> Section:
    pictures = [
        dataset_picture(outcomes, metric, folder / f"curves-{encoder}-{metric}.png", set_encoder=encoder)
        for encoder in ("pnp",)
        for metric in METRICS
        if any(each.settings["set_encoder"] == encoder for each in outcomes)
    ]
    if pictures:
        with_lasso = folder / f"curves-lasso-{METRIC}.png"
        pictures.append(dataset_picture(outcomes, METRIC, with_lasso, strategies=("eddi", "lasso")))
    for dataset in dict.fromkeys(str(each.settings["dataset"]) for each in outcomes):
        for metric in (METRIC, "nll"):
            path = folder / f"curves-{dataset}-{metric}.png"
            pictures.append(curve_picture(outcomes, metric, path, dataset=dataset))
    return Section("UCI: information curves", (), (), tuple(pictures))


def _decisions(outcomes: Sequence[Outcome], folder: Path) -> Section | None:
    pictures = []
    for each in outcomes:
        for file, words in each.figures.get("pictures", {}).items():
            if each.folder is not None and (each.folder / file).is_file():
                path = folder / f"decisions-{file}"
                folder.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(each.folder / file, path)
                pictures.append(Picture(path, words))
    if not pictures:
        return None
    return Section("UCI: the decision process on Boston housing", (), (), tuple(pictures))


def _time(outcomes: Sequence[Outcome]) -> Section:
    rows = []
    for dataset in dict.fromkeys(each.settings["dataset"] for each in outcomes):
        here = [each for each in outcomes if each.settings["dataset"] == dataset]
        parts = [[each.figures["seconds"][key] for each in here] for key in _SECONDS]
        n_rows = here[0].figures["n_rows"]["test"]
        n_steps = len(here[0].figures["strategies"]["eddi"]["curves"][METRIC]) - 1
        whole = [each.circumstances.get("seconds", np.nan) for each in here]
        each_answer = 1e3 * np.mean(parts[1]) / (n_rows * n_steps)
        cells = (f"{np.mean(part):.2f}" for part in [*parts, whole])
        rows.append((str(dataset), f"{n_rows}", f"{n_steps}", *cells, f"{each_answer:.2f}"))
    total = sum(each.circumstances.get("seconds", 0.0) for each in outcomes)
    columns = ("", "test rows", "questions", *_SECONDS.values(), "whole run", "EDDI, ms a question")
    note = "Means over runs in seconds, one core each, with whatever else the machine was doing."
    words = (f"All {len(outcomes)} runs together took {total / 60:.1f} minutes of one core.",)
    return Section("UCI: time", words, (Grid("Seconds a run", columns, tuple(rows), note),))


_SECONDS = {
    "fit": "training",
    "eddi": "EDDI",
    "learn_sing": "finding the single best order",
    "sing": "single best",
    "rand": "Random",
    "learn_lasso": "the LASSO's regression",
    "lasso": "LASSO",
}
