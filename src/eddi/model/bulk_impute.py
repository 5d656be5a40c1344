"""Imputation of large tables shard by shard, on any engine, with the same numbers on each."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from eddi.engine import Engine, map_shards
from eddi.model.files.archive import load_cached_network
from eddi.model.fitted import FittedModel
from eddi.table.columns import table_to_numbers
from eddi.table.fill import fill_missing, types_after_filling
from eddi.table.mismatches import Mismatches, Unknown
from eddi.table.schema import Schema
from eddi.table.streaming import ParquetStream, iter_batches, open_writer

SHARD_CELLS = 200_000  # per shard; larger ones are not faster, and take memory

OnShard = Callable[[int, int], None]
Tables = NDArray[np.float64]  # [tables, rows, variables]


@dataclass(frozen=True)
class BulkImputation:
    """Fills tables with the best guess, or with ``n_draws`` random draws.

    Args:
        model: the model file; on a cluster, in a place that its machines share.
        n_draws: number of tables drawn at random; None for the best guess.
        seed: of the draws.
        engine: where shards are computed; this process if None.
        on_progress: called with the number of finished shards and of all shards.
        unknown: what happens to values that the model does not know; see `FittedModel.evidence`.
    """

    model: Path
    n_draws: int | None = None
    seed: int = 0
    engine: Engine | None = None
    on_progress: OnShard | None = None
    unknown: Unknown = "ignore"

    def fill_table(self, table: pa.Table) -> list[pa.Table]:
        """The filled table, once or ``n_draws`` times; observed values do not change."""
        parts = [part for _, part in self._filled_batches(table)]
        schema = self._fitted.schema
        return [fill_missing(table, schema, draw) for draw in np.concatenate(parts, axis=1)]

    def fill_file(self, table: ParquetStream, outputs: Sequence[Path]) -> None:
        """Write the filled tables to Parquet files, one row group per shard."""
        schema = self._fitted.schema
        types = types_after_filling(table.columns, schema, table.has_missing)
        with ExitStack() as stack:
            writers = [stack.enter_context(open_writer(output, types)) for output in outputs]
            for batch, part in self._filled_batches(table):
                for writer, draw in zip(writers, part, strict=True):
                    writer.write(fill_missing(batch, schema, draw))

    def _filled_batches(self, table: pa.Table | ParquetStream) -> Iterator[tuple[pa.Table, Tables]]:
        """Consecutive batches of rows, and the numbers that fill them."""
        fitted = self._fitted
        n_rows = table.n_rows if isinstance(table, ParquetStream) else table.num_rows
        shard_rows = max(1, SHARD_CELLS // (len(fitted.schema.variables) * (self.n_draws or 1)))
        n_shards = max(1, -(-n_rows // shard_rows))
        n_finished = iter(range(1, n_shards + 1))
        pending: list[pa.Table] = []
        mismatches = Mismatches.collect(self.unknown)

        def shards() -> Iterator[_Shard]:
            for place, batch in enumerate(iter_batches(table, shard_rows)):
                pending.append(batch)
                numbers = table_to_numbers(batch, fitted.schema, mismatches=mismatches)
                yield _Shard(self.model, numbers, self.n_draws, (self.seed, place))
            if mismatches is not None:
                mismatches.warn()

        def report(*_: object) -> None:
            if self.on_progress:
                self.on_progress(next(n_finished), n_shards)

        for part in map_shards(_fill_shard, shards(), engine=self.engine, on_done=report):
            yield pending.pop(0), part

    @property
    def schema(self) -> Schema:
        """The schema of the model."""
        return self._fitted.schema

    @property
    def _fitted(self) -> FittedModel:
        return load_cached_network(self.model)


@dataclass(frozen=True)
class _Shard:
    """Some rows, and everything that their imputation depends on."""

    model: Path
    numbers: NDArray[np.float64]  # [rows, variables], NaN = missing
    n_draws: int | None
    seed: tuple[int, int]  # the user's seed, and the position of the shard


def _fill_shard(shard: _Shard) -> Tables:
    """In a worker: a number for every cell of a shard."""
    model = load_cached_network(shard.model)
    evidence = model.coding.encode(shard.numbers)
    if shard.n_draws is None:
        return model.best_guesses(evidence)[None]
    (seed,) = np.random.SeedSequence(shard.seed).generate_state(1).tolist()
    return model.draw_tables(evidence, shard.n_draws, seed=seed)
