"""The outcomes of the decisions suite by method and dataset."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import stats

from eddi_benchmarks.harness.experiment import Outcome
from eddi_benchmarks.paper.comparison import Numbers, mean_and_error, signed_rank

METHODS = {
    "ours": "ours",
    "ours-ahead": "ours, ahead",
    "ours-cost": "ours, per cost",
    "static": "one order",
    "random": "random order",
    "paper": "paper's EDDI",
    "gdfs": "GDFS",
    "dime": "DIME",
    "dime-cost": "DIME, per cost",
    "exact-greedy": "exact, greedy",
    "exact": "exact, two ahead",
}
BOUNDS = ("exact-greedy", "exact")  # they know the world, so nothing is to be won against them
BY_COST = ("ours-cost", "dime-cost")  # they aim at the cost, and are told only there


@dataclass(frozen=True)
class Results:
    """Everything that is finished, of problems whose target is a quantity or of those with classes."""

    outcomes: tuple[Outcome, ...]
    is_class: bool

    @classmethod
    def of(cls, outcomes: Sequence[Outcome], *, is_class: bool) -> "Results":
        return cls(tuple(o for o in outcomes if o.figures["is_class"] == is_class), is_class)

    @property
    def metric(self) -> str:
        return "accuracy" if self.is_class else "rmse"

    @cached_property
    def datasets(self) -> list[str]:
        return list(dict.fromkeys(str(each.settings["dataset"]) for each in self.outcomes))

    @cached_property
    def methods(self) -> list[str]:
        """Those of which anything is finished, in the order of `METHODS`."""
        found = {name for each in self.outcomes for name in each.figures["methods"]}
        return [name for name in METHODS if name in found]

    def told(self, dataset: str, method: str) -> dict[int, dict[str, Any]]:
        """What each seed found."""
        here = (each for each in self.outcomes if each.settings["dataset"] == dataset)
        return {
            int(each.settings["seed"]): each.figures["methods"][method]
            for each in here
            if method in each.figures["methods"]
        }

    def curves(self, dataset: str, method: str, metric: str) -> Numbers:
        """[seeds, steps + 1]."""
        found = [each["curves"][metric] for each in self.told(dataset, method).values()]
        return np.array(found, dtype=np.float64)

    def areas(self, dataset: str, method: str, metric: str | None = None) -> dict[int, float]:
        """By seed, the mean of a curve: of errors from before the first question on, else after it."""
        first = 1 if self.is_class else 0
        return {
            seed: float(np.mean(each["curves"][metric or self.metric][first:]))
            for seed, each in self.told(dataset, method).items()
        }

    def gains(self, dataset: str, one: str, other: str) -> Numbers:
        """By how much ``one`` is better than ``other``, on the seeds both have [seeds]."""
        a, b = self.areas(dataset, one), self.areas(dataset, other)
        sign = 1 if self.is_class else -1
        return np.array([sign * (a[seed] - b[seed]) for seed in sorted(a.keys() & b.keys())])

    def best(self, dataset: str) -> set[str]:
        """The method with the best mean, of those that do not know the world."""
        means = {
            name: np.mean(list(areas.values()))
            for name in self.methods
            if name not in (*BOUNDS, *BY_COST) and (areas := self.areas(dataset, name))
        }
        most = (max if self.is_class else min)(means.values(), default=None)
        return {name for name, mean in means.items() if mean == most}


def cell(areas: dict[int, float], digits: int = 3) -> str:
    """Mean and standard error as a table shows them."""
    if not areas:
        return "-"
    mean, error = mean_and_error(np.array(list(areas.values())))
    return f"{mean:.{digits}f}" if np.isnan(error) else f"{mean:.{digits}f} ± {error:.{digits}f}"


def paired_t(differences: Numbers) -> float | None:
    """p-value of the two-sided paired t-test (Student 1908); None where two cannot be told apart."""
    if len(differences) < 2 or np.ptp(differences) == 0:
        return None
    return float(stats.ttest_1samp(differences, 0.0).pvalue)


def over_sets(results: Results, one: str, other: str) -> tuple[float, int, int]:
    """The signed-rank test over all datasets and seeds, sets won on average, and sets compared."""
    gains = [results.gains(dataset, one, other) for dataset in results.datasets]
    some = [each for each in gains if len(each)]
    together = np.concatenate(some) if some else np.zeros(0)
    return signed_rank(together), sum(each.mean() > 0 for each in some), len(some)
