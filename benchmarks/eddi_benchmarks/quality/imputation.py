"""Imputation error of our model and of common imputers on the six UCI tables.

30% of the cells are hidden completely at random. The error of a method is the RMSE of the hidden cells
of a column over that column's standard deviation in the complete table, averaged over the columns.
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
from eddi_benchmarks.harness.environment import describe_environment
from eddi_benchmarks.harness.files import read_json, write_json
from eddi_benchmarks.report.statistics import Numbers

HIDDEN_SHARE = 0.3
N_SEEDS = 5
N_TREES = 50
N_FOREST_ROUNDS = 10

Impute = Callable[[pa.Table, int], Numbers]
"""Imputes a table with missing values, given a seed; returns numbers without NaN."""


@dataclass(frozen=True)
class Method:
    """An imputation method and the settings that its results depend on."""

    name: str
    impute: Impute
    settings: dict[str, Any]


@dataclass(frozen=True)
class Result:
    """The result of one method on one dataset with one seed; the fields are those of its JSON file."""

    dataset: str
    seed: int
    method: str
    error: float  # mean of by_column
    by_column: dict[str, float]  # RMSE of hidden cells in standard deviations of the column
    seconds: float
    inputs: dict[str, Any]  # a stored result with other inputs is computed again
    circumstances: dict[str, Any]  # versions, machine and commit


def methods(*, forest: bool = True, max_steps: int | None = None) -> list[Method]:
    """The methods to compare; ``max_steps`` limits the training of our model."""
    settings = {
        "recipe": asdict(recipe.resolve("default")),
        "steps_factor": recipe.NO_TARGET_FACTOR,
        "max_steps": max_steps,
    }

    def impute_as_real(table: pa.Table, seed: int) -> Numbers:
        return _impute_with_eddi(table, seed, schema=_all_real(table), max_steps=max_steps)

    def impute_as_inferred(table: pa.Table, seed: int) -> Numbers:
        return _impute_with_eddi(table, seed, schema=None, max_steps=max_steps)

    all_methods = [
        Method("mean", _from_scikit_learn(lambda _: SimpleImputer()), {}),
        Method("KNN", _from_scikit_learn(lambda _: KNNImputer()), {}),
        Method("iterative", _from_scikit_learn(lambda seed: IterativeImputer(random_state=seed)), {}),
        Method("forest", _from_scikit_learn(_forest), {"trees": N_TREES, "rounds": N_FOREST_ROUNDS}),
        Method("EDDI", impute_as_real, settings),
        Method("EDDI, inferred kinds", impute_as_inferred, settings),
    ]
    return [method for method in all_methods if forest or method.name != "forest"]


def _from_scikit_learn(make_imputer: Callable[[int], Any]) -> Impute:
    """Use a scikit-learn imputer on standardised columns, because some depend on distances."""

    def impute(table: pa.Table, seed: int) -> Numbers:
        numbers = to_numbers(table)
        mean, sd = np.nanmean(numbers, axis=0), np.nanstd(numbers, axis=0)
        sd = np.where(sd > 0, sd, 1.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            imputed = make_imputer(seed).fit_transform((numbers - mean) / sd)
        return np.asarray(imputed * sd + mean, dtype=np.float64)

    return impute


def _forest(seed: int) -> Any:
    # On all cores, as torch does; the trees do not depend on their number.
    trees = ExtraTreesRegressor(n_estimators=N_TREES, random_state=seed, n_jobs=-1)
    return IterativeImputer(trees, max_iter=N_FOREST_ROUNDS, random_state=seed)


def _all_real(table: pa.Table) -> eddi.Schema:
    return eddi.Schema(tuple(eddi.Variable(name, Kind.REAL) for name in table.column_names))


def _impute_with_eddi(
    table: pa.Table, seed: int, *, schema: eddi.Schema | None, max_steps: int | None
) -> Numbers:
    model = eddi.PartialVAE(schema=schema, recipe="default", max_steps=max_steps, random_state=seed)
    imputed = to_numbers(model.fit(table).transform(table))
    # A column that inference leaves out of the schema is not imputed; use its mean, as a user would.
    return np.where(np.isnan(imputed), np.nanmean(to_numbers(table), axis=0), imputed)


def to_numbers(table: pa.Table) -> Numbers:
    """The table as numbers [rows, columns], with NaN for missing values."""
    return np.column_stack([column.cast(pa.float64()).to_numpy() for column in table.columns])


def draw_hidden(shape: tuple[int, int], seed: int) -> NDArray[np.bool_]:
    """A random mask that hides exactly `HIDDEN_SHARE` of the cells."""
    n_cells = shape[0] * shape[1]
    hidden = np.zeros(n_cells, dtype=np.bool_)
    chosen = np.random.default_rng(seed).choice(n_cells, round(HIDDEN_SHARE * n_cells), replace=False)
    hidden[chosen] = True
    return hidden.reshape(shape)


def hide_cells(table: pa.Table, hidden: NDArray[np.bool_]) -> pa.Table:
    """The table with the hidden cells missing; columns keep their types."""
    columns = [
        pc.if_else(pa.array(mask), pa.scalar(None, column.type), column)
        for column, mask in zip(table.columns, hidden.T, strict=True)
    ]
    return pa.table(columns, names=table.column_names)


def column_errors(truth: Numbers, imputed: Numbers, hidden: NDArray[np.bool_]) -> Numbers:
    """RMSE of the hidden cells in standard deviations of the column; NaN if none is hidden."""
    squares = np.where(hidden, np.square(imputed - truth), 0.0).sum(axis=0)
    n_hidden = hidden.sum(axis=0)
    mean = np.divide(squares, n_hidden, out=np.full(len(n_hidden), np.nan), where=n_hidden > 0)
    return np.asarray(np.sqrt(mean) / truth.std(axis=0), dtype=np.float64)


def run(
    names: Sequence[str],
    seeds: Sequence[int],
    methods: Sequence[Method],
    folder: Path,
    *,
    say: Callable[[str], None] = print,
) -> list[Result]:
    """Run every method on every dataset with every seed; results in ``folder`` are reused."""
    results = []
    for name in names:
        table, sha256 = datasets.load(name), datasets.checksum(name)
        for seed in seeds:
            for method in methods:
                path = folder / f"{name}-{seed}-{_file_name(method.name)}.json"
                inputs = {"sha256": sha256, "hidden_share": HIDDEN_SHARE, **method.settings}
                result = _read_result(path, inputs)
                if result is None:
                    result = _measure(name, table, seed, method=method, inputs=inputs, say=say)
                    write_json(path, asdict(result))
                results.append(result)
    return results


def _file_name(method: str) -> str:
    return method.lower().replace(", ", "-").replace(" ", "-")


def _read_result(path: Path, inputs: dict[str, Any]) -> Result | None:
    """The stored result, if its inputs are the same."""
    document = read_json(path)
    if document is None or document.get("inputs") != json.loads(json.dumps(inputs)):
        return None
    return Result(**document)


def _measure(
    name: str,
    table: pa.Table,
    seed: int,
    *,
    method: Method,
    inputs: dict[str, Any],
    say: Callable[[str], None],
) -> Result:
    say(f"{name}, seed {seed}: {method.name} ...")
    truth = to_numbers(table)
    hidden = draw_hidden((table.num_rows, table.num_columns), seed)
    start = time.perf_counter()
    imputed = method.impute(hide_cells(table, hidden), seed)
    seconds = time.perf_counter() - start
    errors = column_errors(truth, imputed, hidden)
    result = Result(
        name,
        seed,
        method.name,
        error=float(np.nanmean(errors)),
        by_column=dict(zip(table.column_names, errors.tolist(), strict=True)),
        seconds=seconds,
        inputs=inputs,
        circumstances=describe_environment(),
    )
    say(f"{name}, seed {seed}: {method.name} {result.error:.4f} in {seconds:.1f} s")
    return result


def average_ranks(results: Sequence[Result]) -> dict[str, float]:
    """The rank of each method by error (1 is best, ties share), averaged over datasets and seeds."""
    names = list(dict.fromkeys(result.method for result in results))
    by_split: dict[tuple[str, int], dict[str, float]] = {}
    for result in results:
        by_split.setdefault((result.dataset, result.seed), {})[result.method] = result.error
    by_method = [rankdata([errors[name] for name in names]) for errors in by_split.values()]
    return dict(zip(names, np.mean(by_method, axis=0).tolist(), strict=True))


def as_table(results: Sequence[Result]) -> Table:
    """A row per method, a column per dataset: mean error ± standard error over seeds, mean seconds."""
    names = list(dict.fromkeys(result.dataset for result in results))
    table = Table(title=f"RMSE over column sd, {HIDDEN_SHARE:.0%} of cells hidden")
    table.add_column("method")
    for name in [*names, "average rank"]:
        table.add_column(name, justify="right")
    for method, rank in sorted(average_ranks(results).items(), key=lambda item: item[1]):
        of_method = [result for result in results if result.method == method]
        cells = [_format_cell([r for r in of_method if r.dataset == name]) for name in names]
        table.add_row(method, *cells, f"{rank:.2f}")
    return table


def _format_cell(results: Sequence[Result]) -> str:
    errors = np.array([result.error for result in results])
    error = f" ±{errors.std(ddof=1) / np.sqrt(len(errors)):.3f}" if len(errors) > 1 else ""
    return f"{errors.mean():.3f}{error}\n{np.mean([result.seconds for result in results]):.1f} s"
