"""The results of the decisions suite by method and dataset."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from eddi_benchmarks.harness.run_result import Measurements, RunResult
from eddi_benchmarks.report.statistics import Numbers, signed_rank_test

METHODS = {
    "ours": "ours",
    "ours-ahead": "ours, lookahead",
    "ours-cost": "ours, per cost",
    "static": "fixed order",
    "random": "random order",
    "paper": "paper's EDDI",
    "gdfs": "GDFS",
    "dime": "DIME",
    "dime-cost": "DIME, per cost",
    "trees": "boosted trees",
    "extra_trees": "extra trees",
    "linear": "linear",
    "exact-greedy": "exact, greedy",
    "exact": "exact, lookahead",
}
EXACT_METHODS = ("exact-greedy", "exact")  # upper bounds: they know the true distribution
COST_METHODS = ("ours-cost", "dime-cost")  # reported against cost only


@dataclass(frozen=True)
class DecisionResults:
    """All finished runs with real-valued targets, or all with classes."""

    results: tuple[RunResult, ...]
    is_class: bool

    @classmethod
    def select(cls, results: Sequence[RunResult], *, is_class: bool) -> "DecisionResults":
        return cls(tuple(r for r in results if r.measurements["is_class"] == is_class), is_class)

    @property
    def metric(self) -> str:
        return "accuracy" if self.is_class else "rmse"

    @cached_property
    def datasets(self) -> list[str]:
        return list(dict.fromkeys(str(result.settings["dataset"]) for result in self.results))

    @cached_property
    def methods(self) -> list[str]:
        """The methods with results, in the order of `METHODS`."""
        measured = {name for result in self.results for name in result.measurements["methods"]}
        return [name for name in METHODS if name in measured]

    @property
    def has_groups(self) -> bool:
        """Whether all rows of a group are on the same side of every split."""
        return any(result.settings.get("keep_groups") for result in self.results)

    @property
    def methods_without_cost(self) -> list[str]:
        """The methods that do not take costs into account."""
        return [name for name in self.methods if name not in COST_METHODS]

    def of_dataset(self, dataset: str) -> list[RunResult]:
        return [result for result in self.results if result.settings["dataset"] == dataset]

    def by_seed(self, dataset: str, method: str) -> dict[int, Measurements]:
        """What each seed measured of a method."""
        return {
            int(result.settings["seed"]): result.measurements["methods"][method]
            for result in self.of_dataset(dataset)
            if method in result.measurements["methods"]
        }

    def curves(self, dataset: str, method: str, metric: str) -> Numbers:
        """The curves of a method [seeds, steps + 1]."""
        by_seed = self.by_seed(dataset, method).values()
        return np.array([measured["curves"][metric] for measured in by_seed], dtype=np.float64)

    def areas(self, dataset: str, method: str, metric: str | None = None) -> dict[int, float]:
        """The mean of a curve by seed; for classes without the step before the first question."""
        first = 1 if self.is_class else 0
        return {
            seed: float(np.mean(measured["curves"][metric or self.metric][first:]))
            for seed, measured in self.by_seed(dataset, method).items()
        }

    def gains(self, dataset: str, first: str, second: str) -> Numbers:
        """By how much method ``first`` is better than ``second``, for the seeds of both [seeds]."""
        a, b = self.areas(dataset, first), self.areas(dataset, second)
        sign = 1 if self.is_class else -1
        return np.array([sign * (a[seed] - b[seed]) for seed in sorted(a.keys() & b.keys())])

    def best_methods(self, dataset: str) -> set[str]:
        """The methods with the best mean, apart from exact ones and those that minimise cost."""
        means = {
            name: np.mean(list(areas.values()))
            for name in self.methods
            if name not in (*EXACT_METHODS, *COST_METHODS) and (areas := self.areas(dataset, name))
        }
        best = (max if self.is_class else min)(means.values(), default=None)
        return {name for name, mean in means.items() if mean == best}

    def compare(self, first: str, second: str) -> tuple[float, int, int]:
        """Compare two methods over all datasets.

        Returns:
            The p-value of the signed-rank test over all datasets and seeds, the number of datasets on
            which ``first`` is better on average, and the number of datasets compared.
        """
        gains = [self.gains(dataset, first, second) for dataset in self.datasets]
        gains = [of_dataset for of_dataset in gains if len(of_dataset)]
        pooled = np.concatenate(gains) if gains else np.zeros(0)
        n_wins = sum(of_dataset.mean() > 0 for of_dataset in gains)
        return signed_rank_test(pooled), n_wins, len(gains)
