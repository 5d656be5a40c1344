"""Fill the holes of a table shard by shard, on any engine: the same numbers wherever it is done."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from eddi.engine import Engine, map_shards
from eddi.model.files.archive import load_once
from eddi.model.partial_vae import PartialVAE
from eddi.table.columns import fill_missing, table_to_numbers, types_after_filling
from eddi.table.streaming import ParquetStream, iter_batches, open_writer

SHARD_CELLS = 200_000  # filled at once; more gain nothing in speed, and take memory

OnShard = Callable[[int, int], None]
Filled = NDArray[np.float64]  # [tables, rows, variables]


@dataclass(frozen=True)
class Filling:
    """How to fill tables: by the best guess, or ``n_draws`` times at random, and where.

    Args:
        model: the model's file; on a cluster, in a place its machines share.
        n_draws: tables drawn at random; the best guess where None.
        seed: of the draws.
        engine: this process where None.
        on_progress: called with the shards done and how many there are.
    """

    model: Path
    n_draws: int | None = None
    seed: int = 0
    engine: Engine | None = None
    on_progress: OnShard | None = None

    def tables(self, table: pa.Table) -> list[pa.Table]:
        """The table filled, once or ``n_draws`` times; what was observed is untouched."""
        parts = [part for _, part in self._parts(table)]
        schema = self._fitted.schema_
        return [fill_missing(table, schema, one) for one in np.concatenate(parts, axis=1)]

    def files(self, table: ParquetStream, outputs: Sequence[Path]) -> None:
        """Write the filled tables to Parquet ``outputs``, a row group a shard, and hold none whole."""
        schema = self._fitted.schema_
        types = types_after_filling(table.columns, schema, table.has_missing)
        with ExitStack() as stack:
            writers = [stack.enter_context(open_writer(output, types)) for output in outputs]
            for batch, part in self._parts(table):
                for writer, one in zip(writers, part, strict=True):
                    writer.write(fill_missing(batch, schema, one))

    def _parts(self, table: pa.Table | ParquetStream) -> Iterator[tuple[pa.Table, Filled]]:
        """Some rows after the other, and the numbers that fill them."""
        fitted = self._fitted
        n_rows = table.n_rows if isinstance(table, ParquetStream) else table.num_rows
        size = max(1, SHARD_CELLS // (len(fitted.schema_.variables) * (self.n_draws or 1)))
        n_shards = max(1, -(-n_rows // size))
        done = iter(range(1, n_shards + 1))
        waiting: list[pa.Table] = []

        def shards() -> Iterator[_Shard]:
            for place, batch in enumerate(iter_batches(table, size)):
                waiting.append(batch)
                numbers = table_to_numbers(batch, fitted.schema_)
                yield _Shard(self.model, numbers, self.n_draws, (self.seed, place))

        def tell(*_: object) -> None:
            if self.on_progress:
                self.on_progress(next(done), n_shards)

        for part in map_shards(_fill, shards(), engine=self.engine, on_done=tell):
            yield waiting.pop(0), part

    @property
    def _fitted(self) -> PartialVAE:
        return load_once(self.model)


@dataclass(frozen=True)
class _Shard:
    """Some rows, and all that their filling depends on."""

    model: Path
    numbers: NDArray[np.float64]  # [rows, variables], NaN = missing
    n_draws: int | None
    seed: tuple[int, int]  # the user's, and the shard's place


def _fill(shard: _Shard) -> Filled:
    """In a worker: a number for every cell of a shard."""
    model = load_once(shard.model)
    evidence = model.coding_.encode(shard.numbers)
    if shard.n_draws is None:
        return model.guesses(evidence)[None]
    (seed,) = np.random.SeedSequence(shard.seed).generate_state(1).tolist()
    return model.draw_tables(evidence, shard.n_draws, seed=seed)
