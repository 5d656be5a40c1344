"""How cost grows: with rows, variables, draws, questions and workers, each as a power with its exponent.

Seconds are of the processor, in one thread, so that what else the machine does hardly matters. Networks
are hardly trained, for their weights do not change what a pass costs.
"""

import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from rich.table import Table

from eddi.engine import Engine, EngineName
from eddi.evaluate import figures
from eddi.evaluate.sharded import SHARD_ROWS, simulate_shards
from eddi.evaluate.simulate import simulate
from eddi.model.partial_vae import PartialVAE
from eddi.strategy.information import Information
from eddi.table.evidence import Evidence
from eddi.table.schema import Schema
from eddi.table.streaming import Stream
from eddi.table.variable import Kind, Variable
from eddi_benchmarks.harness import results
from eddi_benchmarks.harness.runner import peak_memory

BOSTON = 14  # variables of the table that most figures are for: 13 questions and the target
FIT_VARIABLES = 20
DRAWS = (10, 25, 50, 100, 200)
QUESTIONS = (1, 2, 4, 8, 13)
N_TURNS = 2  # each is measured so often, and the least is kept: what disturbs only adds
STEPS = 100  # of a training that is timed


@dataclass(frozen=True)
class Growth:
    """What something costs at growing sizes."""

    of: str  # what grows
    cost: str  # what is measured, and its unit
    sizes: list[float]
    costs: list[float]

    @property
    def exponent(self) -> float:
        """The power of the size that the cost grows with, over the larger half of the sizes."""
        half = min(len(self.sizes) // 2, len(self.sizes) - 2)
        sizes, costs = np.log(self.sizes[half:]), np.log(self.costs[half:])
        return float(np.polyfit(sizes, costs, 1)[0])


def run(folder: Path, *, quick: bool = False) -> list[Growth]:
    """Measure all growth, and keep it in ``folder`` as it is found, with a picture in the end."""
    given = torch.get_num_threads()
    torch.set_num_threads(1)
    found: list[Growth] = []
    try:
        for growth in _measured(0.1 if quick else 1.0):
            found.append(growth)
            facts = [{**asdict(each), "exponent": each.exponent} for each in found]
            content = {"growth": facts, "circumstances": results.circumstances()}
            results.write(folder / "growth.json", content)
    finally:
        torch.set_num_threads(given)
    picture(found, folder / "growth.png")
    return found


def _measured(share: float) -> Iterator[Growth]:
    """Every growth, with the given share of the rows of a full measurement."""
    rows = [int(share * n) for n in (500, 1_000, 2_000, 4_000)]
    many = [int(share * n) for n in (125_000, 250_000, 500_000, 1_000_000)]
    variables = (16, 32, 64) if share < 1 else (16, 32, 64, 128, 256)
    memory = f"memory of a fit of {FIT_VARIABLES} variables (MB)"
    yield _grown("rows", memory, many, _fit_memory)
    yield _grown("rows", "simulate, two questions a row (s)", rows, _seconds(_simulate_rows))
    yield _grown("variables", "one question of 64 rows (s)", variables, _seconds(_reward_variables))
    yield _grown("variables", f"training, {STEPS} steps (s)", variables, _seconds(_fit_variables))
    yield _grown("draws", "one question of 64 rows (s)", DRAWS, _seconds(_reward_draws))
    yield _grown("questions", "simulate, 200 rows (s)", QUESTIONS, _seconds(_simulate_questions))
    yield _workers(1 if share < 1 else 4)


def _grown(of: str, cost: str, sizes: Sequence[int], measure: Callable[[int], float]) -> Growth:
    return Growth(of, cost, [float(size) for size in sizes], [measure(size) for size in sizes])


def _seconds(prepare: Callable[[int], Callable[[], Any]]) -> Callable[[int], float]:
    return lambda size: _least_seconds(prepare(size))


def _least_seconds(act: Callable[[], Any]) -> float:
    act()  # once for what is only made once
    seconds = []
    for _ in range(N_TURNS):
        start = time.process_time()
        act()
        seconds.append(time.process_time() - start)
    return min(seconds)


def _table(n_rows: int, n_variables: int, seed: int = 0) -> pa.Table:
    """Made-up rows whose columns lean on three hidden numbers."""
    random = np.random.default_rng(seed)
    hidden = random.standard_normal((n_rows, 3))
    columns = hidden @ random.standard_normal((3, n_variables)) + random.standard_normal(
        (n_rows, n_variables)
    )
    return pa.table({f"x{place}": column for place, column in enumerate(columns.T)})


def _schema(n_variables: int) -> Schema:
    return Schema(tuple(Variable(f"x{place}", Kind.REAL) for place in range(n_variables)))


def _model(n_variables: int, steps: int = 1) -> PartialVAE:
    """A model of the paper's sizes."""
    model = PartialVAE(
        _schema(n_variables), recipe="paper", max_steps=steps, random_state=0, device="cpu"
    )
    return model.fit(_table(256, n_variables))


def _simulate_rows(n_rows: int) -> Callable[[], Any]:
    model, table = _model(BOSTON), _table(n_rows, BOSTON, seed=1)
    return lambda: simulate(model, table, "x0", max_steps=2)


def _simulate_questions(n_questions: int) -> Callable[[], Any]:
    model, table = _model(BOSTON), _table(200, BOSTON, seed=1)
    return lambda: simulate(model, table, "x0", max_steps=n_questions)


def _half_seen(n_rows: int, n_variables: int) -> Evidence:
    random = np.random.default_rng(0)
    values = random.standard_normal((n_rows, n_variables)).astype(np.float32)
    observed = np.zeros((n_rows, n_variables), dtype=bool)
    observed[:, 1 : n_variables // 2] = True
    return Evidence(values, observed)


def _reward_variables(n_variables: int) -> Callable[[], Any]:
    model, evidence = _model(n_variables), _half_seen(64, n_variables)
    return lambda: Information().score(model, evidence, ("x0",))


def _reward_draws(n_draws: int) -> Callable[[], Any]:
    model, evidence = _model(BOSTON), _half_seen(64, BOSTON)
    return lambda: Information(n_draws=n_draws).score(model, evidence, ("x0",))


def _fit_variables(n_variables: int) -> Callable[[], Any]:
    table = _table(1_000, n_variables)
    return lambda: PartialVAE(_schema(n_variables), max_steps=STEPS, random_state=0, device="cpu").fit(
        table
    )


def _workers(n_questions: int) -> Growth:
    """What a simulation costs each of 1, 2, ... workers, starting it included."""
    sizes = [n for n in (1, 2, 4, 8, 16) if n <= multiprocessing.cpu_count()]
    table = _table(4 * sizes[-1] * SHARD_ROWS, BOSTON, seed=1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.eddi"
        _model(BOSTON).save(path)
        measure = partial(_seconds_a_worker, path, table, n_questions)
        return _grown("workers", "simulate (s a worker)", sizes, measure)


def _seconds_a_worker(path: Path, table: pa.Table, n_questions: int, n_workers: int) -> float:
    before = os.times()
    engine = Engine(EngineName.PROCESSES, n_workers)
    simulate_shards(path, table, "x0", max_steps=n_questions, engine=engine)
    after = os.times()
    user = after.children_user - before.children_user
    return (user + after.children_system - before.children_system) / n_workers


def _fit_memory(n_rows: int) -> float:
    """The most memory a process has that fits ``n_rows`` from a Parquet file, in megabytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        write_rows(path, n_rows, FIT_VARIABLES)
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            return pool.apply(_fit_and_weigh, (path,))


def write_rows(path: Path, n_rows: int, n_variables: int, *, at_once: int = 50_000) -> None:
    """A Parquet file of made-up rows, written a row group at a time."""
    with pq.ParquetWriter(path, _table(1, n_variables).schema) as writer:
        for start in range(0, n_rows, at_once):
            writer.write_table(_table(min(at_once, n_rows - start), n_variables, seed=start))


def _fit_and_weigh(path: Path) -> float:
    """In a process of its own: fit a file as a stream; returns the process's peak memory."""
    torch.set_num_threads(1)
    PartialVAE(_schema(FIT_VARIABLES), max_steps=STEPS, random_state=0, device="cpu").fit(Stream(path))
    return float(peak_memory() or 0)


def as_table(found: Sequence[Growth]) -> Table:
    """What grew how, a line each."""
    table = Table(title="Growth: cost = size to the power of", box=None, padding=(0, 2, 0, 0))
    for heading in ("of", "cost", "power", "sizes", "costs"):
        table.add_column(heading, justify="right" if heading == "power" else "left")
    for each in found:
        sizes, costs = (", ".join(f"{one:.3g}" for one in many) for many in (each.sizes, each.costs))
        table.add_row(each.of, each.cost, f"{each.exponent:.2f}", sizes, costs)
    return table


def picture(found: Sequence[Growth], path: Path) -> None:
    """Every growth on logarithmic axes, its points and its power."""
    n_columns = 4
    n_lines = -(-len(found) // n_columns)
    figure = figures.figure(3.0 * n_columns, 2.7 * n_lines)
    panels = figure.subplots(n_lines, n_columns, squeeze=False).ravel()
    for axes, each in zip(panels, found, strict=False):
        sizes, costs = np.array(each.sizes), np.array(each.costs)
        line = costs[-1] * (sizes / sizes[-1]) ** each.exponent
        axes.loglog(sizes, line, color=figures.FAINT, lw=1.2, ls=(0, (4, 3)))
        axes.loglog(sizes, costs, "o", color=figures.BLUE, ms=5)
        figures.tidy(axes, grid="both")
        axes.set_xlabel(each.of, color=figures.INK)
        axes.set_ylabel(each.cost, color=figures.INK, fontsize=figures.SMALL)
        low, high = costs.min(), costs.max()
        if high < 3 * low:  # what hardly grows must not look as if it did
            axes.set_ylim(low / 3, high * 3)
        apart = [costs[0], costs[-1]] if high > 1.3 * low else [costs[-1]]
        axes.set_yticks(apart, [f"{cost:.2g}" if cost < 100 else f"{cost:,.0f}" for cost in apart])
        axes.set_xticks(sizes, [f"{size:,.0f}" for size in sizes], rotation=30)
        axes.minorticks_off()
        figures.title(axes, f"power {each.exponent:.2f}")
    for axes in panels[len(found) :]:
        axes.set_visible(False)
    figures.save(figure, path)
