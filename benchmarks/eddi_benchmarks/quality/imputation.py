"""How well holes are filled: ours against the imputers people use, on the six UCI sets.

30% of the cells are hidden completely at random. The error of a method is the RMSE of the hidden cells
of a column over that column's standard deviation in the full table, averaged over the columns.
"""

import json
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from rich.table import Table
from scipy.stats import rankdata
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.experimental import enable_iterative_imputer  # noqa: F401  # allows the import below
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer

import eddi
from eddi.model import recipe
from eddi.table.variable import Kind
from eddi_benchmarks.data import datasets
from eddi_benchmarks.harness import results

HIDDEN_SHARE = 0.3
N_SEEDS = 5
FOREST_TREES = 50
FOREST_ROUNDS = 10

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Method:
    """A way to fill holes, and the settings that its results depend on."""

    name: str
    fill: Callable[[pa.Table, int], Numbers]  # a table with holes and a seed give whole numbers
    settings: dict[str, Any]


@dataclass(frozen=True)
class Result:
    """One method on one set with one seed."""

    dataset: str
    seed: int
    method: str
    error: float  # mean of by_column
    by_column: dict[str, float]  # RMSE of hidden cells in standard deviations of the column
    seconds: float
    inputs: dict[str, Any]  # where these differ, the result is of another run and is taken anew
    circumstances: dict[str, Any]


def methods(*, forest: bool = True, max_steps: int | None = None) -> list[Method]:
    """The methods compared; ``max_steps`` cuts our training short."""
    ours = {"recipe": asdict(recipe.resolve("default")), "max_steps": max_steps}
    compared = [
        Method("mean", _peer(lambda _: SimpleImputer()), {}),
        Method("KNN", _peer(lambda _: KNNImputer()), {}),
        Method("iterative", _peer(lambda seed: IterativeImputer(random_state=seed)), {}),
        Method("forest", _peer(_forest), {"trees": FOREST_TREES, "rounds": FOREST_ROUNDS}),
        Method("PNP", lambda holes, seed: _ours(holes, seed, _all_real(holes), max_steps), ours),
        Method("PNP, inferred kinds", lambda holes, seed: _ours(holes, seed, None, max_steps), ours),
    ]
    return [method for method in compared if forest or method.name != "forest"]


def _peer(imputer: Callable[[int], Any]) -> Callable[[pa.Table, int], Numbers]:
    """A scikit-learn imputer, given columns of mean 0 and sd 1, since some of them measure distances."""

    def fill(holes: pa.Table, seed: int) -> Numbers:
        observed = numbers(holes)
        mean, sd = np.nanmean(observed, axis=0), np.nanstd(observed, axis=0)
        sd = np.where(sd > 0, sd, 1.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            filled = imputer(seed).fit_transform((observed - mean) / sd)
        return np.asarray(filled * sd + mean, dtype=np.float64)

    return fill


def _forest(seed: int) -> Any:
    # All cores, as torch takes them too; the trees do not depend on how many.
    trees = ExtraTreesRegressor(n_estimators=FOREST_TREES, random_state=seed, n_jobs=-1)
    return IterativeImputer(trees, max_iter=FOREST_ROUNDS, random_state=seed)


def _all_real(table: pa.Table) -> eddi.Schema:
    return eddi.Schema(tuple(eddi.Variable(name, Kind.REAL) for name in table.column_names))


def _ours(holes: pa.Table, seed: int, schema: eddi.Schema | None, max_steps: int | None) -> Numbers:
    model = eddi.PartialVAE(
        schema=schema, recipe="default", set_encoder="pnp", max_steps=max_steps, random_state=seed
    )
    filled = numbers(model.fit(holes).transform(holes))
    # A column that inference set aside keeps its holes; its mean is what a user would be left with.
    return np.where(np.isnan(filled), np.nanmean(numbers(holes), axis=0), filled)


def numbers(table: pa.Table) -> Numbers:
    """The table as numbers [rows, columns], NaN where a cell is a hole."""
    return np.column_stack([column.cast(pa.float64()).to_numpy() for column in table.columns])


def hide(shape: tuple[int, int], seed: int) -> NDArray[np.bool_]:
    """True where a cell is to be hidden: exactly `HIDDEN_SHARE` of them, completely at random."""
    n_cells = shape[0] * shape[1]
    hidden = np.zeros(n_cells, dtype=np.bool_)
    chosen = np.random.default_rng(seed).choice(n_cells, round(HIDDEN_SHARE * n_cells), replace=False)
    hidden[chosen] = True
    return hidden.reshape(shape)


def with_holes(table: pa.Table, hidden: NDArray[np.bool_]) -> pa.Table:
    """The table without the hidden cells; the columns keep their types."""
    columns = [
        pc.if_else(pa.array(mask), pa.scalar(None, column.type), column)
        for column, mask in zip(table.columns, hidden.T, strict=True)
    ]
    return pa.table(columns, names=table.column_names)


def column_errors(truth: Numbers, filled: Numbers, hidden: NDArray[np.bool_]) -> Numbers:
    """RMSE of the hidden cells in standard deviations of the column; NaN where none is hidden."""
    squared = np.where(hidden, np.square(filled - truth), 0.0).sum(axis=0)
    n_hidden = hidden.sum(axis=0)
    mean = np.divide(squared, n_hidden, out=np.full(len(n_hidden), np.nan), where=n_hidden > 0)
    return np.asarray(np.sqrt(mean) / truth.std(axis=0), dtype=np.float64)


def run(
    sets: Sequence[str],
    seeds: Sequence[int],
    compared: Sequence[Method],
    folder: Path,
    *,
    say: Callable[[str], None] = print,
) -> list[Result]:
    """Every method on every set with every seed; what ``folder`` already holds is not taken again."""
    found = []
    for name in sets:
        table, sha256 = datasets.load(name), datasets.checksum(name)
        for seed in seeds:
            for method in compared:
                path = folder / f"{name}-{seed}-{_file_name(method.name)}.json"
                inputs = {"sha256": sha256, "hidden_share": HIDDEN_SHARE, **method.settings}
                result = _kept(path, inputs)
                if result is None:
                    result = _measure(name, table, seed, method, inputs, say=say)
                    results.write(path, asdict(result))
                found.append(result)
    return found


def _file_name(method: str) -> str:
    return method.lower().replace(", ", "-").replace(" ", "-")


def _kept(path: Path, inputs: dict[str, Any]) -> Result | None:
    """The result in ``path``, if it is of these very inputs."""
    content = results.read(path)
    if content is None or content.get("inputs") != json.loads(json.dumps(inputs)):
        return None
    return Result(**content)


def _measure(
    name: str,
    table: pa.Table,
    seed: int,
    method: Method,
    inputs: dict[str, Any],
    *,
    say: Callable[[str], None],
) -> Result:
    say(f"{name}, seed {seed}: {method.name} ...")
    truth = numbers(table)
    hidden = hide((table.num_rows, table.num_columns), seed)
    began = time.perf_counter()
    filled = method.fill(with_holes(table, hidden), seed)
    seconds = time.perf_counter() - began
    errors = column_errors(truth, filled, hidden)
    result = Result(
        name,
        seed,
        method.name,
        error=float(np.nanmean(errors)),
        by_column=dict(zip(table.column_names, errors.tolist(), strict=True)),
        seconds=seconds,
        inputs=inputs,
        circumstances=results.circumstances(),
    )
    say(f"{name}, seed {seed}: {method.name} {result.error:.4f} in {seconds:.1f} s")
    return result


def average_ranks(found: Sequence[Result]) -> dict[str, float]:
    """Each method's rank by error (1 is best, ties share), averaged over sets and seeds."""
    names = list(dict.fromkeys(result.method for result in found))
    by_case: dict[tuple[str, int], dict[str, float]] = {}
    for result in found:
        by_case.setdefault((result.dataset, result.seed), {})[result.method] = result.error
    ranks = [rankdata([case[name] for name in names]) for case in by_case.values()]
    return dict(zip(names, np.mean(ranks, axis=0).tolist(), strict=True))


def as_table(found: Sequence[Result]) -> Table:
    """Methods down, sets across: mean error ± standard error over seeds, and mean seconds."""
    sets = list(dict.fromkeys(result.dataset for result in found))
    title = f"RMSE over column sd, {HIDDEN_SHARE:.0%} of cells hidden"
    table = Table(title=title)
    table.add_column("method")
    for name in [*sets, "average rank"]:
        table.add_column(name, justify="right")
    for method, rank in sorted(average_ranks(found).items(), key=lambda pair: pair[1]):
        cells = [_cell([r for r in found if (r.dataset, r.method) == (name, method)]) for name in sets]
        table.add_row(method, *cells, f"{rank:.2f}")
    return table


def _cell(seeds: Sequence[Result]) -> str:
    errors = np.array([result.error for result in seeds])
    spread = f" ±{errors.std(ddof=1) / np.sqrt(len(errors)):.3f}" if len(errors) > 1 else ""
    return f"{errors.mean():.3f}{spread}\n{np.mean([result.seconds for result in seeds]):.1f} s"
