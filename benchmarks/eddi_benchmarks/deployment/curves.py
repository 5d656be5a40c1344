"""The curves of deployments: the error of each model against the cumulative cost, paired by seed."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eddi_benchmarks.harness.run_result import RunResult
from eddi_benchmarks.report.statistics import Numbers

OURS, GREEDY, ORACLE, COMPLETE = "ours", "greedy", "oracle", "all-300"
EXPERT, INFORMED = "expert", "informed"
APPROACHES = {
    "ours": "ours: exploration, learning",
    "expert": "ours, with stated beliefs",
    "all-50": "ask everything of the first 50, then train once",
    "all-100": "ask everything of the first 100, then train once",
    "all-300": "ask everything of all 300, then train once",
    "greedy": "learning without exploration",
    "informed": "learning, with the full table's questions",
    "oracle": "trained on the full table",
}
N_COSTS = 41  # points of the grid of cumulative costs


@dataclass(frozen=True)
class DeploymentCurve:
    """The error of one deployment after each model, against the cumulative cost."""

    dataset: str
    approach: str
    seed: int
    costs: Numbers  # before each model's first respondent [models]
    errors: Numbers  # on the test rows [models]
    respondent_costs: Numbers  # [respondents]
    respondent_errors: Numbers  # at the end of each interview [respondents]

    @classmethod
    def from_result(cls, result: RunResult) -> "DeploymentCurve":
        """The curve of a finished run."""
        settings, measured = result.settings, result.measurements
        return cls(
            str(settings["dataset"]),
            str(settings["approach"]),
            int(settings["seed"]),
            np.array([checkpoint["cost"] for checkpoint in measured["checkpoints"]]),
            np.array([checkpoint["error"] for checkpoint in measured["checkpoints"]]),
            np.array(measured["costs"]),
            np.array(measured["errors"]),
        )

    def error_at(self, costs: Numbers) -> Numbers:
        """The error of the model in use at each cumulative cost."""
        places = np.searchsorted(self.costs, costs, side="right") - 1
        return np.asarray(self.errors[np.maximum(places, 0)])

    @property
    def final_error(self) -> float:
        return float(self.errors[-1])

    @property
    def total_cost(self) -> float:
        return float(self.respondent_costs.sum())


@dataclass(frozen=True)
class Deployments:
    """All curves, by dataset, approach and seed."""

    curves: dict[tuple[str, str, int], DeploymentCurve]

    @classmethod
    def from_results(cls, results: Sequence[RunResult]) -> "Deployments":
        curves = map(DeploymentCurve.from_result, results)
        return cls({(curve.dataset, curve.approach, curve.seed): curve for curve in curves})

    @property
    def datasets(self) -> list[str]:
        return list(dict.fromkeys(dataset for dataset, _, _ in self.curves))

    @property
    def approaches(self) -> list[str]:
        present = {approach for _, approach, _ in self.curves}
        return [approach for approach in APPROACHES if approach in present]

    def of(self, dataset: str, approach: str) -> list[DeploymentCurve]:
        """The curves of one approach, by seed."""
        keys = sorted(key for key in self.curves if key[:2] == (dataset, approach))
        return [self.curves[key] for key in keys]

    @property
    def others(self) -> list[str]:
        """The approaches that ours must beat at every cumulative cost; the rest are reference points."""
        return [n for n in self.approaches if n not in (OURS, EXPERT, INFORMED, ORACLE, COMPLETE)]

    def pairs(
        self, dataset: str, other: str, *, own: str = OURS
    ) -> list[tuple[DeploymentCurve, DeploymentCurve]]:
        """Our curve, or that of ``own``, and another one with the same seed."""
        curves = {curve.seed: curve for curve in self.of(dataset, own)}
        return [(curves[curve.seed], curve) for curve in self.of(dataset, other) if curve.seed in curves]

    def excess(self, dataset: str, approach: str = OURS) -> Numbers:
        """The last error of an approach relative to that of the full table, by seed [seeds]."""
        pairs = self.pairs(dataset, ORACLE, own=approach)
        return np.array([own.final_error / other.final_error for own, other in pairs])

    def ratios(self, dataset: str, other: str, *, own: str = OURS) -> Numbers:
        """Our error, or that of ``own``, relative to another one's [seeds, cumulative costs]."""
        ratios = []
        for curve, other_curve in self.pairs(dataset, other, own=own):
            costs = cost_grid(curve, other_curve)
            ratios.append(curve.error_at(costs) / other_curve.error_at(costs))
        return np.array(ratios).reshape(-1, N_COSTS)

    def all_ratios(self, other: str, *, own: str = OURS) -> Numbers:
        """The ratios of all tables [tables and seeds, costs]."""
        return np.concatenate([self.ratios(dataset, other, own=own) for dataset in self.datasets])


def cost_grid(first: DeploymentCurve, second: DeploymentCurve) -> Numbers:
    """Cumulative costs that both deployments reach."""
    return np.linspace(0, min(first.total_cost, second.total_cost), N_COSTS)
