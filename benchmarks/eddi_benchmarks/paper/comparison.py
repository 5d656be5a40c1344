"""Encoders crossed with strategies: play them on one model, rank them row by row, test the differences.

A run trains one model, so its outcome holds all strategies of one (dataset, set encoder, seed). The test
rows of a dataset and seed are the same for every encoder, which makes all combinations comparable row
by row. A dataset with a seed is a *case* here; one seed over all datasets is a repetition.
"""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from eddi.evaluate.curves import Curves, Metric
from eddi.evaluate.simulate import simulate
from eddi.model.partial_vae import PartialVAE
from eddi.strategy.base import Strategy
from eddi_benchmarks.harness.experiment import Figures, Outcome
from eddi_benchmarks.paper.curve_figures import ENCODERS as ENCODERS
from eddi_benchmarks.paper.curve_figures import STRATEGIES as STRATEGIES
from eddi_benchmarks.paper.curve_figures import curve_picture as curve_picture
from eddi_benchmarks.report.content import Grid

Numbers = NDArray[np.float64]
Combination = tuple[str, str]
"""A strategy and a set encoder, by their short names."""

SIGNIFICANT = 0.05
LEAST_P = 1e-300  # smaller ones are nought in double precision
COMPARED = ("eddi", "rand", "sing")
NOT_YET = "-"
TESTS = (
    "Paired two-sided Wilcoxon signed-rank tests, of test rows (as the paper does, though rows that "
    "share a model are not independent) and of the means of each dataset and repetition. Saved is "
    "the mean area of the other less that of the first: above 0 the first is better, in bold where "
    f"the test of rows gives p < {SIGNIFICANT}."
)


def play(
    model: PartialVAE,
    test: Any,
    target: str,
    strategies: Mapping[str, Strategy],
    metrics: Sequence[str],
) -> Figures:
    """Interview the rows of ``test`` by every strategy; their curves, areas and seconds as plain JSON.

    Errors of a quantity are in its coded units, as the network sees it, so that datasets compare.
    """
    played, seconds = {}, {"fit": model.history_[-1].seconds if model.history_ else 0.0}
    for name, strategy in strategies.items():
        began = time.perf_counter()
        played[name] = simulate(model, test, target, strategy=strategy)
        seconds[name] = time.perf_counter() - began
    unit = coded_unit(model, target)
    n_steps = max((curves.n_steps for curves in played.values()), default=0)
    return {
        "n_rows": {"train": model.n_rows_, "test": next(iter(played.values())).n_rows},
        "seconds": {name: round(spent, 3) for name, spent in seconds.items()},
        "strategies": {
            name: _told(curves, metrics, n_steps, unit=unit) for name, curves in played.items()
        },
    }


def coded_unit(model: PartialVAE, target: str) -> float:
    """One coded unit of a quantity in the table's own; 1 where the coding is more than a scale."""
    position = model.schema_.position(target)
    warped = model.schema_[target].kind.has_levels or model.coding_.logarithmic[position]
    return 1.0 if warped else float(model.coding_.scale[position])


def _told(curves: Curves, metrics: Sequence[str], n_steps: int, *, unit: float) -> Figures:
    """A strategy's curves and areas; who stopped early keeps its last prediction."""
    found: Figures = {"n_asked": plain(curves.n_asked.mean()), "curves": {}, "auic": {}}
    for name in metrics:
        metric = cast(Metric, name)
        by_row = _longer(curves.row_values(metric)[curves.known], n_steps)  # [rows, steps + 1]
        curve = _longer(getattr(curves, metric), n_steps)
        found["curves"][name] = plain(_coded(curve, metric, unit))
        found["auic"][name] = plain(_coded(by_row.mean(1), metric, unit))
    return found


def _longer(values: Numbers, n_steps: int) -> Numbers:
    return np.concatenate(
        [values, np.repeat(values[..., -1:], n_steps + 1 - values.shape[-1], axis=-1)], axis=-1
    )


def _coded(values: Numbers, metric: Metric, unit: float) -> Numbers:
    if metric in ("rmse", "draw_rmse"):
        return values / unit
    return values - math.log(unit) if metric == "nll" else values  # a density is per unit


def plain(values: Any) -> Any:
    """Numbers as JSON keeps them, to six significant digits; what is not a number is None."""
    if np.ndim(values) > 0:
        return [plain(each) for each in values]
    return float(f"{float(values):.6g}") if math.isfinite(values) else None


@dataclass(frozen=True)
class Areas:
    """Every test row's area under its information curve, for each combination."""

    combinations: tuple[Combination, ...]
    cases: Mapping[tuple[str, int], Numbers]  # dataset and seed: [rows, combinations]
    n_seen: int  # cases of which some run is finished

    @classmethod
    def of(
        cls, outcomes: Sequence[Outcome], metric: str, combinations: Sequence[Combination]
    ) -> "Areas":
        """The areas of all cases that are finished for every combination."""
        found: dict[tuple[str, int], dict[Combination, list[float]]] = {}
        for outcome in outcomes:
            case = (str(outcome.settings.get("dataset", "")), int(outcome.settings["seed"]))
            encoder = outcome.settings["set_encoder"]
            here = found.setdefault(case, {})
            for strategy, told in outcome.figures["strategies"].items():
                here[strategy, encoder] = told["auic"][metric]
        wanted = tuple(combinations)
        whole = {case: areas for case, areas in found.items() if set(wanted) <= set(areas)}
        stacked = {
            case: np.array([areas[one] for one in wanted], dtype=np.float64).T
            for case, areas in sorted(whole.items())
        }
        return cls(wanted, stacked, len(found))

    @cached_property
    def ranks(self) -> Numbers:
        """Mean rank of each combination over all rows of a repetition [repetitions, combinations].

        1 is best, ties share; every row counts alike, whichever dataset it is of (the paper's r_i).
        """
        by_seed: dict[int, list[Numbers]] = {}
        for (_, seed), areas in self.cases.items():
            by_seed.setdefault(seed, []).append(stats.rankdata(areas, axis=1))
        means = [np.concatenate(ranks).mean(0) for ranks in by_seed.values()]
        return np.array(means).reshape(-1, len(self.combinations))

    def saved(self, one: Combination, other: Combination) -> dict[tuple[str, int], Numbers]:
        """How much smaller each row's area is with ``one`` than with ``other``, by case."""
        a, b = self.combinations.index(one), self.combinations.index(other)
        return {case: areas[:, b] - areas[:, a] for case, areas in self.cases.items()}

    def words(self) -> str:
        """How much of the suite these are."""
        n_sets, n_seeds = (len({case[place] for case in self.cases}) for place in (0, 1))
        n_rows = sum(len(areas) for areas in self.cases.values())
        whole = f"{n_rows:,} test rows (datasets: {n_sets}, repetitions: {n_seeds})"
        if len(self.cases) == self.n_seen:
            return f"{whole}."
        return f"{whole}: {len(self.cases)} of {self.n_seen} dataset-repetitions are finished so far."


@dataclass(frozen=True)
class Contest:
    """How one combination did against another: two paired signed-rank tests, and by how much."""

    p_rows: float
    p_cases: float
    saved: float  # mean of the other's area less that of the one

    @classmethod
    def of(cls, areas: Areas, one: Combination, other: Combination) -> "Contest":
        saved = areas.saved(one, other)
        rows = np.concatenate(list(saved.values()))
        cases = np.array([each.mean() for each in saved.values()])
        return cls(signed_rank(rows), signed_rank(cases), float(rows.mean()))

    @property
    def won(self) -> bool:
        return self.p_rows < SIGNIFICANT and self.saved > 0


def signed_rank(differences: Numbers) -> float:
    """p-value of the two-sided signed-rank test (Wilcoxon 1945); 1 where nothing differs."""
    differing = differences[differences != 0]
    return float(stats.wilcoxon(differing).pvalue) if len(differing) else 1.0


def mean_and_error(repetitions: Numbers) -> tuple[Numbers, Numbers]:
    """Mean over the first axis and its standard error; NaN where there are too few to tell."""
    n = len(repetitions)
    unknown = np.full(repetitions.shape[1:], np.nan)
    error = repetitions.std(0, ddof=1) / math.sqrt(n) if n > 1 else unknown
    return (repetitions.mean(0) if n else unknown), error


def rank_grid(
    outcomes: Sequence[Outcome],
    metric: str,
    *,
    theirs: Mapping[Combination, float | None],
    title: str,
) -> Grid:
    """Average rank of the combinations named in ``theirs``, beside the paper's, and the difference.

    Where the paper prints no number (None), ours stand alone.
    """
    areas = Areas.of(outcomes, metric, list(theirs))
    mean, error = mean_and_error(areas.ranks)
    ours = dict(zip(theirs, mean.tolist(), strict=True))
    spread = dict(zip(theirs, error.tolist(), strict=True))
    encoders = [encoder for encoder in ENCODERS if any(encoder == pair[1] for pair in theirs)]
    printed = {pair: rank for pair, rank in theirs.items() if rank is not None}
    rows: list[tuple[str, ...]] = []
    best: set[tuple[int, int]] = set()
    for strategy in dict.fromkeys(strategy for strategy, _ in theirs):
        pairs = [(strategy, encoder) for encoder in encoders]
        best |= {(len(rows), 2 + k) for k, pair in enumerate(pairs) if ours[pair] == min(ours.values())}
        cells = (_with_error(ours[pair], spread[pair]) for pair in pairs)
        rows.append((STRATEGIES[strategy], "ours", *cells))
        if set(pairs) <= set(printed):
            least = min(printed.values())
            best |= {(len(rows), 2 + k) for k, pair in enumerate(pairs) if printed[pair] == least}
            rows.append(("", "paper", *(f"{printed[pair]:.2f}" for pair in pairs)))
            rows.append(("", "difference", *(_signed(ours[pair] - printed[pair], 2) for pair in pairs)))
    note = (
        f"Average rank of a test row's AUIC among the {len(theirs)} combinations, 1 being best; "
        f"± is the standard error over repetitions. Ours: {areas.words()}"
    )
    columns = ("", "", *(ENCODERS[encoder] for encoder in encoders))
    return Grid(title, columns, tuple(rows), note, frozenset(best))


def test_grid(
    outcomes: Sequence[Outcome],
    metric: str,
    *,
    against: Combination = ("eddi", "pnp"),  # noqa: PT028  # not a test of pytest's
    strategies: Sequence[str] = COMPARED,  # noqa: PT028
    theirs: Mapping[Combination, str] | None = None,  # noqa: PT028
    title: str,
) -> Grid:
    """Paired tests of ``against`` with every other combination, and of EDDI with RAND in each encoder.

    Args:
        outcomes: of the runs.
        metric: whose areas are compared.
        against: the combination that is compared with all others.
        strategies: of the others.
        theirs: the paper's p-values as it prints them.
        title: of the grid.
    """
    combinations = [(strategy, encoder) for strategy in strategies for encoder in ENCODERS]
    areas = Areas.of(outcomes, metric, combinations)
    the_one = f"{STRATEGIES[against[0]]}-{ENCODERS[against[1]]}"
    lines = _Lines(areas, [], set())
    for strategy in strategies:
        pairs = [None if (strategy, e) == against else (against, (strategy, e)) for e in ENCODERS]
        printed = [theirs.get((strategy, e), NOT_YET) for e in ENCODERS] if theirs else None
        lines.add(f"{the_one} against {STRATEGIES[strategy]}", pairs, printed)
    if {"eddi", "rand"} <= set(strategies):
        lines.add("EDDI against Random, same encoder", [(("eddi", e), ("rand", e)) for e in ENCODERS])
    columns = ("", "", *ENCODERS.values())
    return Grid(title, columns, tuple(lines.rows), f"{TESTS} {areas.words()}", frozenset(lines.best))


def pair_grid(
    outcomes: Sequence[Outcome],
    metric: str,
    *,
    strategies: tuple[str, str],
    theirs: Mapping[str, str] | None = None,
    title: str,
) -> Grid:
    """Paired tests of one strategy against another within each encoder; ``theirs`` by encoder."""
    one, other = strategies
    areas = Areas.of(outcomes, metric, [(s, encoder) for s in strategies for encoder in ENCODERS])
    lines = _Lines(areas, [], set())
    pairs = [((one, encoder), (other, encoder)) for encoder in ENCODERS]
    printed = [theirs[encoder] for encoder in ENCODERS] if theirs else None
    lines.add(f"{STRATEGIES[one]} against {STRATEGIES[other]}", pairs, printed)
    columns = ("", "", *ENCODERS.values())
    return Grid(title, columns, tuple(lines.rows), f"{TESTS} {areas.words()}", frozenset(lines.best))


@dataclass(frozen=True)
class _Lines:
    """The rows of a grid of tests, as they are added."""

    areas: Areas
    rows: list[tuple[str, ...]]
    best: set[tuple[int, int]]

    def add(
        self,
        words: str,
        pairs: Sequence[tuple[Combination, Combination] | None],
        printed: Sequence[str] | None = None,
    ) -> None:
        """Test each pair, a column each; None leaves its column empty."""
        contests = [
            Contest.of(self.areas, *pair) if pair and self.areas.cases else None for pair in pairs
        ]
        for place, contest in enumerate(contests):
            if contest and contest.won:
                self.best.add((len(self.rows) + 2, 2 + place))
        self.rows.append((words, "p, rows", *(p_words(c.p_rows if c else None) for c in contests)))
        self.rows.append(("", "p, repetitions", *(p_words(c.p_cases if c else None) for c in contests)))
        self.rows.append(("", "saved", *(_signed(c.saved, 4) if c else NOT_YET for c in contests)))
        if printed:
            self.rows.append(("", "paper's p", *printed))


def p_words(p: float | None) -> str:
    """A p-value as a table shows it."""
    if p is None:
        return NOT_YET
    if p < LEAST_P:
        return f"< {LEAST_P:.0e}"
    return f"{p:.3f}" if p >= 0.001 else f"{p:.0e}"


def _with_error(value: float, error: float) -> str:
    if math.isnan(value):
        return NOT_YET
    return f"{value:.2f}" if math.isnan(error) else f"{value:.2f} ± {error:.2f}"


def _signed(value: float, digits: int) -> str:
    return NOT_YET if math.isnan(value) else f"{value:+.{digits}f}"
