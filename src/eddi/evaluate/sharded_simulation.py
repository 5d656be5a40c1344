"""Simulate a table shard by shard on any engine. Results do not depend on the engine."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eddi.engine import Engine, map_shards
from eddi.errors import StopError
from eddi.evaluate.curves import Curves
from eddi.evaluate.simulate import (
    OnProgress,
    check_static,
    check_target_observed,
    resolve_target,
    simulate_evidence,
)
from eddi.evaluate.streaming_curves import StreamingCurves
from eddi.model.base import Model
from eddi.model.files.archive import load_cached
from eddi.strategy.base import Strategy
from eddi.strategy.stopping import StoppingRule
from eddi.table.columns import table_to_numbers
from eddi.table.evidence import Evidence
from eddi.table.mismatches import Mismatches, Unknown
from eddi.table.streaming import ParquetStream, iter_batches

SHARD_ROWS = 1_000  # larger shards are not faster and need more memory

StrategyFactory = Callable[[int], Strategy | None]
"""Makes the strategy of a shard from the shard's index, which serves as a random seed."""


@dataclass(frozen=True)
class Shard:
    """Rows and everything their simulation depends on."""

    model: Path
    truth: Evidence
    target: str
    strategy: Strategy | None  # None for the default
    stop: StoppingRule | None
    max_steps: int | None
    keep_rows: bool  # return `Curves`, otherwise only their sums


def simulate_shards(
    path: Path,
    table: Any,
    target: str | None = None,
    *,
    make_strategy: StrategyFactory = lambda _: None,
    stop: StoppingRule | None = None,
    max_steps: int | None = None,
    engine: Engine | None = None,
    on_progress: OnProgress | None = None,
    unknown: Unknown = "ignore",
) -> Curves | StreamingCurves:
    """`simulate` in shards of `SHARD_ROWS` rows.

    Returns `Curves` for a table in memory and `StreamingCurves` for a stream.

    Args:
        path: path of the model file. Every worker loads it; machines of a cluster must share it.
        table: held-out rows, in memory or as a `ParquetStream`.
        target: the variable to predict; None means the model's own target.
        make_strategy: makes the strategy of each shard; that of `Interview` by default.
        stop: ends an interview; None means once no question is left.
        max_steps: maximum number of questions per row.
        engine: where to compute; None means in this process.
        on_progress: called with the number of finished shards and the number of all shards.
        unknown: what happens to values that the model does not know; see `simulate`.

    Raises:
        TargetError: there is not exactly one target, or no row of the table has a value of it.
    """
    model = load_cached(path)
    check_static(model)
    name = resolve_target(model, target)
    if max_steps is not None and max_steps < 0:
        raise StopError(f"max_steps must be 0 or more questions, got {max_steps}.")
    is_stream, mismatches = isinstance(table, ParquetStream), Mismatches.collect(unknown)
    n_rows = table.n_rows if is_stream else table.num_rows
    shards: Iterable[Shard] = (
        Shard(path, truth, name, make_strategy(index), stop, max_steps, keep_rows=not is_stream)
        for index, truth in enumerate(_read_evidence(model, table, name, mismatches))
    )
    if not is_stream:
        shards = list(shards)
        position = model.schema.position(name)
        check_target_observed(name, sum(int(s.truth.observed[:, position].sum()) for s in shards))
    on_done = _count_shards(on_progress, n_shards=max(1, -(-n_rows // SHARD_ROWS)))
    results = map_shards(_simulate_shard, shards, engine=engine, on_done=on_done)
    if not is_stream:
        return Curves.concatenate([part for part in results if isinstance(part, Curves)])
    curves = StreamingCurves.concatenate(part for part in results if isinstance(part, StreamingCurves))
    check_target_observed(name, curves.n_known)
    return curves


def _read_evidence(
    model: Model, table: Any, target: str, mismatches: Mismatches | None
) -> Iterator[Evidence]:
    """The rows of each shard. After the last one, a warning reports what did not fit."""
    for batch in iter_batches(table, SHARD_ROWS):
        numbers = table_to_numbers(batch, model.schema, optional=(target,), mismatches=mismatches)
        yield model.coding.encode(numbers)
    if mismatches is not None:
        mismatches.warn()


def _count_shards(on_progress: OnProgress | None, *, n_shards: int) -> Callable[..., None]:
    counts = iter(range(1, n_shards + 1))

    def on_done(*_: object) -> None:
        if on_progress:
            on_progress(next(counts), n_shards)

    return on_done


def _simulate_shard(shard: Shard) -> Curves | StreamingCurves:
    """Simulate the interviews of a shard in a worker."""
    model = load_cached(shard.model)
    curves = simulate_evidence(
        model,
        shard.truth,
        shard.target,
        strategy=shard.strategy,
        stop=shard.stop,
        max_steps=shard.max_steps,
    )
    return curves if shard.keep_rows else StreamingCurves.from_curves(curves)
