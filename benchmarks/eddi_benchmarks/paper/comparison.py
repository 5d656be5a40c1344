"""Compare set encoders and strategies: run all strategies on one model, rank and test them by row.

A run trains one model, so its result contains all strategies for one (dataset, set encoder, seed). A
dataset and a seed determine a *split* into training and test rows, which is the same for every encoder.
So all combinations of strategy and encoder can be compared row by row. One seed over all datasets is a
repetition.
"""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from scipy.stats import rankdata

from eddi import PartialVAE, simulate
from eddi.evaluate.curves import Curves, Metric
from eddi.strategy.base import Strategy
from eddi_benchmarks.harness.run_result import Measurements, RunResult, to_json_values
from eddi_benchmarks.report.statistics import SIGNIFICANT, Numbers, signed_rank_test

ENCODERS = {"zi": "ZI", "zi-m": "ZI-m", "pnp": "PNP", "pn": "PN"}  # in the order of the paper's tables
STRATEGIES = {"eddi": "EDDI", "rand": "Random", "sing": "Single best", "lasso": "LASSO"}
COMPARED_STRATEGIES = ("eddi", "rand", "sing")

Combination = tuple[str, str]
"""A strategy and a set encoder, by the keys of `STRATEGIES` and `ENCODERS`."""
Split = tuple[str, int]
"""A dataset and a seed."""


def combination_name(combination: Combination) -> str:
    """Such as "EDDI-PNP"."""
    strategy, encoder = combination
    return f"{STRATEGIES[strategy]}-{ENCODERS[encoder]}"


def run_strategies(
    model: PartialVAE,
    test: Any,
    target: str,
    *,
    strategies: Mapping[str, Strategy],
    metrics: Sequence[str],
) -> Measurements:
    """Interview the ``test`` rows with every strategy; return curves, areas and seconds.

    Errors of a real-valued target are in coded units, so that datasets are comparable.
    """
    curves, seconds = {}, {"fit": model.history_[-1].seconds if model.history_ else 0.0}
    for name, strategy in strategies.items():
        start = time.perf_counter()
        curves[name] = simulate(model, test, target, strategy=strategy)
        seconds[name] = time.perf_counter() - start
    unit = coded_unit(model, target)
    n_steps = max((c.n_steps for c in curves.values()), default=0)
    return {
        "n_rows": {"train": model.n_rows_, "test": next(iter(curves.values())).n_rows},
        "seconds": {name: round(spent, 3) for name, spent in seconds.items()},
        "strategies": {
            name: _measurements(c, metrics, n_steps, unit=unit) for name, c in curves.items()
        },
    }


def coded_unit(model: PartialVAE, target: str) -> float:
    """The size of one coded unit of a real-valued target; 1 if the coding is not linear."""
    position = model.schema_.position(target)
    is_nonlinear = model.schema_[target].kind.has_levels or model.coding_.logarithmic[position]
    return 1.0 if is_nonlinear else float(model.coding_.scale[position])


def _measurements(curves: Curves, metrics: Sequence[str], n_steps: int, *, unit: float) -> Measurements:
    """The curves and areas of a strategy; one that stops early keeps its last prediction."""
    measurements: Measurements = {
        "n_asked": to_json_values(curves.n_asked.mean()),
        "curves": {},
        "auic": {},
    }
    for name in metrics:
        metric = cast(Metric, name)
        by_row = _extend(curves.row_values(metric)[curves.known], n_steps)  # [rows, steps + 1]
        curve = _extend(getattr(curves, metric), n_steps)
        measurements["curves"][name] = to_json_values(_in_coded_units(curve, metric, unit))
        measurements["auic"][name] = to_json_values(_in_coded_units(by_row.mean(1), metric, unit))
    return measurements


def _extend(values: Numbers, n_steps: int) -> Numbers:
    """Repeat the last value up to ``n_steps``."""
    padding = np.repeat(values[..., -1:], n_steps + 1 - values.shape[-1], axis=-1)
    return np.concatenate([values, padding], axis=-1)


def _in_coded_units(values: Numbers, metric: Metric, unit: float) -> Numbers:
    if metric in ("rmse", "draw_rmse"):
        return values / unit
    return values - math.log(unit) if metric == "nll" else values  # a density is per unit


@dataclass(frozen=True)
class RowAreas:
    """The area under the information curve of every test row, for each combination."""

    combinations: tuple[Combination, ...]
    by_split: Mapping[Split, Numbers]  # [rows, combinations]
    n_started: int  # splits with any finished run

    @classmethod
    def from_results(
        cls, results: Sequence[RunResult], metric: str, combinations: Sequence[Combination]
    ) -> "RowAreas":
        """The areas of all splits for which every combination is finished."""
        started: dict[Split, dict[Combination, list[float]]] = {}
        for result in results:
            split = (str(result.settings.get("dataset", "")), int(result.settings["seed"]))
            encoder = result.settings["set_encoder"]
            areas = started.setdefault(split, {})
            for strategy, measurements in result.measurements["strategies"].items():
                areas[strategy, encoder] = measurements["auic"][metric]
        complete = {
            split: np.array([areas[c] for c in combinations], dtype=np.float64).T
            for split, areas in sorted(started.items())
            if set(combinations) <= set(areas)
        }
        return cls(tuple(combinations), complete, len(started))

    @cached_property
    def mean_ranks(self) -> Numbers:
        """Mean rank of each combination over the rows of a repetition [repetitions, combinations].

        1 is best and ties share a rank. Every row has the same weight, whatever its dataset (the
        paper's r_i).
        """
        by_seed: dict[int, list[Numbers]] = {}
        for (_, seed), areas in self.by_split.items():
            by_seed.setdefault(seed, []).append(rankdata(areas, axis=1))
        means = [np.concatenate(row_ranks).mean(0) for row_ranks in by_seed.values()]
        return np.array(means).reshape(-1, len(self.combinations))

    def savings(self, first: Combination, second: Combination) -> dict[Split, Numbers]:
        """By how much the area of each row is smaller with ``first`` than with ``second``."""
        a, b = self.combinations.index(first), self.combinations.index(second)
        return {split: areas[:, b] - areas[:, a] for split, areas in self.by_split.items()}

    def describe(self) -> str:
        """How many rows, datasets and repetitions these are."""
        n_datasets, n_seeds = (len({split[i] for split in self.by_split}) for i in (0, 1))
        n_rows = sum(len(areas) for areas in self.by_split.values())
        text = f"{n_rows:,} test rows (datasets: {n_datasets}, repetitions: {n_seeds})"
        if len(self.by_split) == self.n_started:
            return f"{text}."
        return f"{text}; {len(self.by_split)} of {self.n_started} splits are finished so far."


@dataclass(frozen=True)
class PairedTest:
    """The comparison of two combinations by paired signed-rank tests."""

    p_rows: float  # over test rows
    p_splits: float  # over the means of splits
    mean_saving: float  # mean area of the second less that of the first

    @classmethod
    def from_areas(cls, areas: RowAreas, first: Combination, second: Combination) -> "PairedTest":
        savings = areas.savings(first, second)
        by_row = np.concatenate(list(savings.values()))
        by_split = np.array([saving.mean() for saving in savings.values()])
        return cls(signed_rank_test(by_row), signed_rank_test(by_split), float(by_row.mean()))

    @property
    def is_win(self) -> bool:
        """Whether the first combination is significantly better."""
        return self.p_rows < SIGNIFICANT and self.mean_saving > 0
