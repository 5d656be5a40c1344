"""Simulate a table shard by shard, on any engine: the same numbers wherever a shard is played."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from eddi.engine import Engine, map_shards
from eddi.errors import StopError
from eddi.evaluate.curves import BY_STEP, Curves
from eddi.evaluate.simulate import follow, refuse_unjudged, the_target
from eddi.evaluate.streaming_curves import Tally
from eddi.model.base import Model
from eddi.model.files.archive import load_cached
from eddi.strategy.base import Strategy
from eddi.strategy.information import Information
from eddi.table.columns import table_to_numbers
from eddi.table.evidence import Evidence
from eddi.table.streaming import ParquetStream, iter_batches

SHARD_ROWS = 1_000  # of a simulation; more gain nothing in speed, and take memory

OnShard = Callable[[int, int], None]
StrategyOf = Callable[[int], Strategy]
"""The strategy of a shard by its number: what is random takes its seed from there."""


@dataclass(frozen=True)
class Shard:
    """Some rows, and all that their simulation depends on."""

    model: Path
    truth: Evidence
    target: str
    strategy: Strategy
    max_steps: int | None
    whole: bool  # whether each row is wanted, or only their sums


def simulate_shards(
    path: Path,
    table: Any,
    target: str | None = None,
    *,
    strategy_of: StrategyOf = lambda _: Information(),
    max_steps: int | None = None,
    engine: Engine | None = None,
    on_progress: OnShard | None = None,
) -> Curves | Tally:
    """`simulate`, `SHARD_ROWS` at a time: `Curves` of a table in memory, the `Tally` of a stream.

    Args:
        path: of the model, which every worker loads; on a cluster, in a place its machines share.
        table: held-out rows, in memory or a `ParquetStream`.
        target: what one wants to know; the model's own target where None.
        strategy_of: who chooses; EDDI by default.
        max_steps: the most questions a row is asked.
        engine: this process where None.
        on_progress: called with the shards done and how many there are.

    Raises:
        TargetError: there is not one target, or no row of the table knows it.
    """
    model = load_cached(path)
    name = the_target(model, target)
    if max_steps is not None and max_steps < 0:
        raise StopError(f"max_steps must be 0 or more questions, got {max_steps}.")
    whole = not isinstance(table, ParquetStream)
    n_rows = table.num_rows if whole else table.n_rows
    n_shards = max(1, -(-n_rows // SHARD_ROWS))
    done = iter(range(1, n_shards + 1))

    def tell(*_: object) -> None:
        if on_progress:
            on_progress(next(done), n_shards)

    truths = _truths(model, iter_batches(table, SHARD_ROWS), name)
    shards: Iterable[Shard] = (
        Shard(path, truth, name, strategy_of(place), max_steps, whole)
        for place, truth in enumerate(truths)
    )
    if whole:
        shards = list(shards)
        position = model.schema.position(name)
        refuse_unjudged(name, sum(int(s.truth.observed[:, position].sum()) for s in shards))
    results = map_shards(_play, shards, engine=engine, on_done=tell)
    if whole:
        return joined([one for one in results if isinstance(one, Curves)])
    tally = Tally.total(one for one in results if isinstance(one, Tally))
    refuse_unjudged(name, tally.n_known)
    return tally


def _truths(model: Model, batches: Iterable[Any], target: str) -> Iterator[Evidence]:
    for batch in batches:
        yield model.coding.encode(table_to_numbers(batch, model.schema, optional=(target,)))


def _play(shard: Shard) -> Curves | Tally:
    """In a worker: follow the interviews of a shard's rows."""
    model = load_cached(shard.model)
    curves = follow(model, shard.truth, shard.target, strategy=shard.strategy, max_steps=shard.max_steps)
    return curves if shard.whole else Tally.of(curves)


def joined(parts: Sequence[Curves]) -> Curves:
    """The curves of consecutive rows as one; rows that stopped early keep their last prediction."""
    if len(parts) == 1:
        return parts[0]
    n_steps = max(part.n_steps for part in parts)
    longer = [_longer(part, n_steps) for part in parts]
    by_row = [one.name for one in fields(Curves) if one.name in (*BY_STEP, "truth", "order")]
    each = {name: [getattr(part, name) for part in longer] for name in by_row}
    rows: dict[str, Any] = {
        name: None if of[0] is None else np.concatenate(of) for name, of in each.items()
    }
    return replace(parts[0], **rows)


def _longer(curves: Curves, n_steps: int) -> Curves:
    more = n_steps - curves.n_steps
    nothing = np.full((curves.n_rows, more), -1, dtype=np.int64)
    by_step = {name: getattr(curves, name) for name in BY_STEP}
    kept: dict[str, Any] = {
        name: None if each is None else np.concatenate([each, np.repeat(each[:, -1:], more, 1)], 1)
        for name, each in by_step.items()
    }
    return replace(curves, order=np.concatenate([curves.order, nothing], 1), **kept)
