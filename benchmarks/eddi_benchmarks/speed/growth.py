"""Growth of cost with rows, variables, draws, questions and workers, each as a power law.

Costs are CPU seconds on one thread, so that other programs on the machine hardly matter. Networks are
trained for a step only, because their weights do not affect the cost of a pass.
"""

import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from rich.table import Table

from eddi import PartialVAE, simulate
from eddi.engine import Engine, EngineName
from eddi.evaluate import figures
from eddi.evaluate.sharded_simulation import SHARD_ROWS, simulate_shards
from eddi.strategy.information import Information
from eddi.table.evidence import Evidence
from eddi.table.streaming import ParquetStream
from eddi.table.variable import Kind
from eddi_benchmarks.harness.environment import describe_environment, peak_memory_mb, torch_threads
from eddi_benchmarks.harness.files import write_json
from eddi_benchmarks.speed.training_speed import make_schema

BOSTON_VARIABLES = 14  # 13 questions and the target
FIT_VARIABLES = 20
DRAWS = (10, 25, 50, 100, 200)
QUESTIONS = (1, 2, 4, 8, 13)
N_REPEATS = 2  # of each measurement; the minimum is kept, because disturbances only add time
N_TRAINING_STEPS = 100
N_TRAINING_ROWS = 400  # of a model that is not trained: enough for the sizes of a large table
N_PEOPLE = 120  # single decisions: from the hundredth on, they are traced
N_PLOT_COLUMNS = 4


@dataclass(frozen=True)
class Growth:
    """The cost of an operation at growing sizes."""

    of: str  # what grows
    cost: str  # what is measured, with its unit
    sizes: list[float]
    costs: list[float]

    @property
    def exponent(self) -> float:
        """The power of the size that the cost grows with, fitted to the larger half of the sizes."""
        half = min(len(self.sizes) // 2, len(self.sizes) - 2)
        sizes, costs = np.log(self.sizes[half:]), np.log(self.costs[half:])
        return float(np.polyfit(sizes, costs, 1)[0])


def run(folder: Path, *, quick: bool = False) -> list[Growth]:
    """Measure all costs; store each in ``folder`` when it is measured, and a figure at the end."""
    growths: list[Growth] = []
    with torch_threads(1):
        for growth in _measure_all(0.1 if quick else 1.0):
            growths.append(growth)
            document = {
                "growth": [{**asdict(g), "exponent": g.exponent} for g in growths],
                "circumstances": describe_environment(),
            }
            write_json(folder / "growth.json", document)
    plot(growths, folder / "growth.png")
    return growths


def _measure_all(share: float) -> Iterator[Growth]:
    """Measure all costs, with this share of the rows of a full measurement."""
    rows = [int(share * n) for n in (500, 1_000, 2_000, 4_000)]
    many_rows = [int(share * n) for n in (125_000, 250_000, 500_000, 1_000_000)]
    variables = (16, 32, 64) if share < 1 else (16, 32, 64, 128, 256)
    memory = f"memory of a fit of {FIT_VARIABLES} variables (MB)"
    training = f"training, {N_TRAINING_STEPS} steps (s)"
    yield _measure("rows", memory, many_rows, _fit_memory)
    yield _measure("rows", "simulate, two questions per row (s)", rows, _seconds(_simulate_rows))
    yield _measure("variables", "one question of 64 rows (s)", variables, _seconds(_score_variables))
    one_person = f"{N_PEOPLE} questions, one person each (s)"
    yield _measure("variables", one_person, variables, _seconds(_score_one_person))
    yield _measure("variables", training, variables, _seconds(_fit_variables))
    yield _measure("draws", "64 rows, paper's network (s)", DRAWS, _seconds(_score_draws))
    yield _measure("questions", "simulate, 200 rows (s)", QUESTIONS, _seconds(_simulate_questions))
    yield _measure_workers(1 if share < 1 else 4)


def _measure(of: str, cost: str, sizes: Sequence[int], measure: Callable[[int], float]) -> Growth:
    return Growth(of, cost, [float(size) for size in sizes], [measure(size) for size in sizes])


def _seconds(prepare: Callable[[int], Callable[[], Any]]) -> Callable[[int], float]:
    """A function that measures the prepared work of a given size."""
    return lambda size: _min_seconds(prepare(size))


def _min_seconds(work: Callable[[], Any]) -> float:
    work()  # warm up
    seconds = []
    for _ in range(N_REPEATS):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return min(seconds)


def _make_table(n_rows: int, n_variables: int, seed: int = 0) -> pa.Table:
    """Random rows whose columns depend on three latent factors."""
    random = np.random.default_rng(seed)
    factors = random.standard_normal((n_rows, 3))
    loadings = random.standard_normal((3, n_variables))
    columns = factors @ loadings + random.standard_normal((n_rows, n_variables))
    return pa.table({f"x{i}": column for i, column in enumerate(columns.T)})


def _make_model(n_variables: int, recipe: Literal["default", "paper"] = "default") -> PartialVAE:
    """A model after one training step."""
    schema = make_schema(n_variables, Kind.REAL)
    model = PartialVAE(schema, recipe=recipe, max_steps=1, random_state=0, device="cpu")
    return model.fit(_make_table(N_TRAINING_ROWS, n_variables))


def _default_model(n_variables: int) -> PartialVAE:
    """An unfitted model with the default recipe."""
    schema = make_schema(n_variables, Kind.REAL)
    return PartialVAE(schema, max_steps=N_TRAINING_STEPS, random_state=0, device="cpu")


def _simulate_rows(n_rows: int) -> Callable[[], Any]:
    model, table = _make_model(BOSTON_VARIABLES), _make_table(n_rows, BOSTON_VARIABLES, seed=1)
    return lambda: simulate(model, table, "x0", max_steps=2)


def _simulate_questions(n_questions: int) -> Callable[[], Any]:
    model, table = _make_model(BOSTON_VARIABLES), _make_table(200, BOSTON_VARIABLES, seed=1)
    return lambda: simulate(model, table, "x0", max_steps=n_questions)


def _half_observed(n_rows: int, n_variables: int) -> Evidence:
    random = np.random.default_rng(0)
    values = random.standard_normal((n_rows, n_variables)).astype(np.float32)
    observed = np.zeros((n_rows, n_variables), dtype=bool)
    observed[:, 1 : n_variables // 2] = True
    return Evidence(values, observed)


def _score_variables(n_variables: int) -> Callable[[], Any]:
    model, evidence = _make_model(n_variables), _half_observed(64, n_variables)
    return lambda: Information().score(model.fitted(), evidence, ("x0",))


def _score_one_person(n_variables: int) -> Callable[[], Any]:
    """Decisions about one person at a time, with half of the answers; the first ones are not measured."""
    model, rows = _make_model(n_variables).fitted(), _half_observed(N_PEOPLE, n_variables)
    people = [rows[place : place + 1] for place in range(N_PEOPLE)]

    def decide() -> None:
        for evidence in people:
            Information().score(model, evidence, ("x0",))

    decide()
    return decide


def _score_draws(n_draws: int) -> Callable[[], Any]:
    model, evidence = _make_model(BOSTON_VARIABLES, "paper"), _half_observed(64, BOSTON_VARIABLES)
    return lambda: Information(n_draws=n_draws).score(model.fitted(), evidence, ("x0",))


def _fit_variables(n_variables: int) -> Callable[[], Any]:
    table = _make_table(1_000, n_variables)
    return lambda: _default_model(n_variables).fit(table)


def _measure_workers(n_questions: int) -> Growth:
    """The cost of a simulation for each of 1, 2, ... workers, including their start."""
    sizes = [n for n in (1, 2, 4, 8, 16) if n <= multiprocessing.cpu_count()]
    table = _make_table(4 * sizes[-1] * SHARD_ROWS, BOSTON_VARIABLES, seed=1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.eddi"
        _make_model(BOSTON_VARIABLES).save(path)
        measure = partial(_seconds_per_worker, path, table, n_questions)
        return _measure("workers", "simulate (s per worker)", sizes, measure)


def _seconds_per_worker(path: Path, table: pa.Table, n_questions: int, n_workers: int) -> float:
    before = os.times()
    engine = Engine(EngineName.PROCESSES, n_workers)
    simulate_shards(path, table, "x0", max_steps=n_questions, engine=engine)
    after = os.times()
    user = after.children_user - before.children_user
    return (user + after.children_system - before.children_system) / n_workers


def _fit_memory(n_rows: int) -> float:
    """The peak memory in megabytes of a process that fits ``n_rows`` from a Parquet file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        write_rows(path, n_rows, FIT_VARIABLES)
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            return pool.apply(_peak_memory_of_fit, (path,))


def write_rows(path: Path, n_rows: int, n_variables: int, *, group_size: int = 50_000) -> None:
    """Write a Parquet file of random rows, one row group at a time."""
    with pq.ParquetWriter(path, _make_table(1, n_variables).schema) as writer:
        for start in range(0, n_rows, group_size):
            n_group_rows = min(group_size, n_rows - start)
            writer.write_table(_make_table(n_group_rows, n_variables, seed=start))


def _peak_memory_of_fit(path: Path) -> float:
    """Fit a file as a stream and return the peak memory; runs in a process of its own."""
    with torch_threads(1):
        _default_model(FIT_VARIABLES).fit(ParquetStream(path))
    return float(peak_memory_mb() or 0)


def as_table(growths: Sequence[Growth]) -> Table:
    """A row for each cost."""
    table = Table(title="Growth of cost: power of the size", box=None, padding=(0, 2, 0, 0))
    for heading in ("of", "cost", "power", "sizes", "costs"):
        table.add_column(heading, justify="right" if heading == "power" else "left")
    for growth in growths:
        sizes, costs = (", ".join(f"{x:.3g}" for x in xs) for xs in (growth.sizes, growth.costs))
        table.add_row(growth.of, growth.cost, f"{growth.exponent:.2f}", sizes, costs)
    return table


def plot(growths: Sequence[Growth], path: Path) -> None:
    """Plot every cost on logarithmic axes, with its power law."""
    n_lines = -(-len(growths) // N_PLOT_COLUMNS)
    figure = figures.figure(3.0 * N_PLOT_COLUMNS, 2.7 * n_lines)
    panels = figure.subplots(n_lines, N_PLOT_COLUMNS, squeeze=False).ravel()
    for axes, growth in zip(panels, growths, strict=False):
        _plot_panel(axes, growth)
    for axes in panels[len(growths) :]:
        axes.set_visible(False)
    figures.save(figure, path)


def _plot_panel(axes: Any, growth: Growth) -> None:
    sizes, costs = np.array(growth.sizes), np.array(growth.costs)
    line = costs[-1] * (sizes / sizes[-1]) ** growth.exponent
    axes.loglog(sizes, line, color=figures.FAINT, lw=1.2, ls=(0, (4, 3)))
    axes.loglog(sizes, costs, "o", color=figures.BLUE, ms=5)
    figures.tidy(axes, grid="both")
    axes.set_xlabel(growth.of, color=figures.INK)
    axes.set_ylabel(growth.cost, color=figures.INK, fontsize=figures.SMALL)
    low, high = costs.min(), costs.max()
    if high < 3 * low:  # do not exaggerate a small growth
        axes.set_ylim(low / 3, high * 3)
    ticks = [costs[0], costs[-1]] if high > 1.3 * low else [costs[-1]]
    axes.set_yticks(ticks, [f"{cost:.2g}" if cost < 100 else f"{cost:,.0f}" for cost in ticks])
    axes.set_xticks(sizes, [f"{size:,.0f}" for size in sizes], rotation=30)
    axes.minorticks_off()
    figures.title(axes, f"power {growth.exponent:.2f}")
