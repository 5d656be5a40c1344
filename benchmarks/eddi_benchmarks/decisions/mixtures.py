"""How low the error of interviews could be: the best mixtures of all methods, chosen on the test rows.

A mixture is a weighted mean of the methods' predictions of a row after each number of answers, each along
its own order. Its weights are chosen such that the error on the test rows is lowest. No method can know
them, so the error of a mixture is a bound for combinations of these methods, and no result.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from rich.table import Table
from scipy.optimize import minimize
from scipy.special import softmax

import eddi
from eddi.evaluate.curves import Curves, Numbers
from eddi_benchmarks.baselines.masked import TrainingSettings
from eddi_benchmarks.data import datasets
from eddi_benchmarks.decisions.experiment import fit
from eddi_benchmarks.decisions.fixed_order_baseline import FixedOrderBaseline
from eddi_benchmarks.decisions.problem import Problem, load_problem
from eddi_benchmarks.decisions.trained_baseline import TrainedBaseline
from eddi_benchmarks.harness.files import write_json
from eddi_benchmarks.harness.suite import Suite

PEERS = ("gdfs", "dime")
METHODS = ("ours", "ours, lookahead", *PEERS, "trees", "extra_trees", "linear")
EQUAL = ("ours", *PEERS, "trees", "extra_trees")
N_SPLITS, N_TREE_SPLITS = 5, {"kin8nm": 2}  # trees that are refitted to each prefix take long there
N_STARTS = 3  # of each search for weights


@dataclass(frozen=True)
class Split:
    """The predictions of all methods for the test rows of one split, in units of the target's range."""

    means: Numbers  # [methods, rows, steps + 1]
    truth: Numbers  # [rows]

    def errors(self, weights: Numbers) -> Numbers:
        """The RMSE of a mixture [steps + 1] with weights [methods] or [methods, steps + 1]."""
        by_step = weights if weights.ndim == 2 else weights[:, None]
        mixed = (by_step[:, None] * self.means).sum(0)
        return np.asarray(np.sqrt(np.square(mixed - self.truth[:, None]).mean(0)))

    def steps(self, place: int) -> "Split":
        """The predictions after ``place`` answers."""
        return Split(self.means[:, :, place : place + 1], self.truth)


@dataclass(frozen=True)
class Bounds:
    """Areas under the error curve of one dataset, relative to the better of GDFS and DIME."""

    dataset: str
    n_splits: int
    ours: float
    best_method: float
    equal_mixture: float
    mixture: float  # the best one with the same weights at every step
    mixture_by_step: float
    share_before: float  # of the better peer's area that is the error before the first answer


def run(folder: Path, *, names: Sequence[str] = datasets.UCI, quick: bool = False) -> list[Bounds]:
    """Compute the bounds of some datasets with a real-valued target; store them in ``folder``."""
    bounds = []
    for name in names:
        n_splits = 1 if quick else N_TREE_SPLITS.get(name, N_SPLITS)
        splits = [predict_split(name, seed, quick=quick) for seed in range(n_splits)]
        bounds.append(compute_bounds(name, splits))
        write_json(folder / "mixtures.json", {"bounds": [asdict(item) for item in bounds]})
    return bounds


def predict_split(dataset: str, seed: int, *, quick: bool = False) -> Split:
    """Train all methods on one split, and interview its test rows."""
    suite = Suite.load("decisions", quick=quick)
    shared = {"dataset": dataset, "seed": seed, "model": "ours"}
    settings = {**suite.runs[0].settings, **shared}
    problem = load_problem(settings)
    curves = list(_interview(problem, settings))
    means = np.stack([_pad(curve.mean, problem.n_steps) for curve in curves])
    return Split(means / problem.unit, curves[0].truth / problem.unit)


def _interview(problem: Problem, settings: dict[str, object]) -> Iterator[Curves]:
    """The curves of each of METHODS."""
    seed, model = int(str(settings["seed"])), fit(problem, settings)
    for strategy in (eddi.strategy.Information(), eddi.strategy.Lookahead()):
        yield eddi.simulate(
            model, problem.test, problem.target, strategy=strategy, max_steps=problem.n_steps
        )
    training = TrainingSettings(max_steps=int(str(settings["peer_steps"])))
    for name in PEERS:
        yield TrainedBaseline.fit(name, problem, seed=seed, settings=training).interview()
    for name in METHODS[4:]:
        yield FixedOrderBaseline.fit(name, problem, seed=seed).interview()


def _pad(mean: Numbers, n_steps: int) -> Numbers:
    """The predictions [rows, steps + 1] with the last one repeated."""
    return np.pad(mean, ((0, 0), (0, n_steps + 1 - mean.shape[1])), mode="edge")


def compute_bounds(dataset: str, splits: Sequence[Split]) -> Bounds:
    """The areas of single methods and of mixtures, means over the splits."""
    areas = [_area(splits, weights) for weights in np.eye(len(METHODS))]
    reference = min(areas[METHODS.index(name)] for name in PEERS)
    equal = np.array([name in EQUAL for name in METHODS]) / len(EQUAL)
    n_steps = splits[0].means.shape[2]
    by_step = [_find_lowest([split.steps(place) for split in splits]) for place in range(n_steps)]
    before = np.mean([split.errors(np.eye(len(METHODS))[0])[0] for split in splits])
    return Bounds(
        dataset,
        len(splits),
        ours=areas[0] / reference,
        best_method=min(areas) / reference,
        equal_mixture=_area(splits, equal) / reference,
        mixture=_find_lowest(splits) / reference,
        mixture_by_step=float(np.mean(by_step)) / reference,
        share_before=float(before) / n_steps / reference,
    )


def _area(splits: Sequence[Split], weights: Numbers) -> float:
    return float(np.mean([split.errors(weights).mean() for split in splits]))


def _find_lowest(splits: Sequence[Split]) -> float:
    """The lowest area of a mixture with the same weights in all splits and steps."""
    area: Callable[[Numbers], float] = lambda logits: _area(splits, softmax(logits))  # noqa: E731
    random = np.random.default_rng(0)
    starts = random.standard_normal((N_STARTS, len(METHODS)))
    return min(float(minimize(area, start, method="L-BFGS-B").fun) for start in starts)


def as_table(bounds: Sequence[Bounds]) -> Table:
    """The bounds, and their means over the datasets."""
    table = Table(title="Area under the error curve, relative to the better of GDFS and DIME")
    fields = list(asdict(bounds[0]))[2:]
    for column in ("dataset", "splits", *(field.replace("_", " ") for field in fields)):
        table.add_column(column, justify="left" if column == "dataset" else "right")
    for item in bounds:
        cells = (f"{getattr(item, field):.3f}" for field in fields)
        table.add_row(item.dataset, str(item.n_splits), *cells)
    means = (f"{np.mean([getattr(item, field) for item in bounds]):.3f}" for field in fields)
    table.add_row("mean", "", *means)
    return table
