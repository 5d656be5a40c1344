"""What `PartialVAE` does around the network: check, code and build, and frame what it gives back."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray

from eddi.errors import TableError, TrainingError
from eddi.model.network.likelihood import Form
from eddi.model.network.network import Network
from eddi.model.recipe import Recipe, check_set_encoder
from eddi.model.training.loop import n_validation
from eddi.model.training.streaming import Windows
from eddi.table import columns, formats
from eddi.table.coding import Coding, RunningStats, find_logarithmic
from eddi.table.evidence import Evidence
from eddi.table.schema import Schema
from eddi.table.streaming import ParquetStream
from eddi.table.text import format_names
from eddi.table.variable import Kind, Variable


@dataclass(frozen=True)
class Prepared:
    """A training table as the network learns from it: in memory, or a window of it at a time."""

    coding: Coding
    rows: Evidence | Windows
    n_rows: int
    fingerprint: str


def prepare(table: pa.Table | ParquetStream, schema: Schema, recipe: Recipe, *, seed: int) -> Prepared:
    """Check and code a training table; one on disk is read once, and held nowhere."""
    if isinstance(table, ParquetStream):
        return _prepare_stream(table, schema, recipe, seed)
    numbers = columns.table_to_numbers(table, schema)
    check_known(schema, len(numbers), (~np.isnan(numbers)).sum(0))
    coding = Coding.fit(schema, numbers, recipe.scaling)
    evidence = coding.encode(numbers)
    return Prepared(coding, evidence, len(numbers), fingerprint(schema, evidence))


def _prepare_stream(stream: ParquetStream, schema: Schema, recipe: Recipe, seed: int) -> Prepared:
    digest = hashlib.sha256(schema.to_toml().encode())
    bends = find_logarithmic(schema, recipe.scaling)
    spread = RunningStats.from_numbers(np.zeros((0, len(schema.variables))), bends)
    for numbers in stream.iter_numbers(schema):
        digest.update(numbers.tobytes())
        spread = spread.merge(RunningStats.from_numbers(numbers, bends))
    check_known(schema, stream.n_rows, spread.n_observed)
    coding = Coding.from_stats(schema, spread, recipe.scaling)
    n_held_out = n_validation(stream.n_rows, recipe)
    windows = Windows.of(stream, schema, coding, n_held_out=n_held_out, seed=seed)
    return Prepared(coding, windows, stream.n_rows, digest.hexdigest())


def build(
    schema: Schema,
    coding: Coding,
    set_encoder: str,
    recipe: Recipe,
    *,
    seed: int,
    rows: Evidence | Windows | None = None,
) -> Network:
    """A fresh network for a schema's variables as this recipe sees them.

    Args:
        rows: that it will learn from; None where it will be given weights.
    """
    scales = zip(schema.variables, coding.shift, coding.scale, strict=True)
    forms = [_form(v, shift, scale, as_number=recipe.scaling == "unit") for v, shift, scale in scales]
    with torch.random.fork_rng(devices=[]):  # torch initialises layers from its global generator
        torch.manual_seed(seed)
        network = Network(forms, check_set_encoder(set_encoder), recipe)
    if rows is not None and network.stands:
        network.stand(rows if isinstance(rows, Evidence) else rows.window(0))
    return network


def _form(variable: Variable, shift: float, scale: float, *, as_number: bool) -> Form:
    if as_number and variable.kind is not Kind.BINARY:
        return Form(Kind.REAL, variable.n_levels, float(shift), float(scale))
    return Form(variable.kind, variable.n_levels, float(shift), float(scale))


def find_device(name: str) -> torch.device:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        torch.empty(0, device=name)
    except (RuntimeError, AssertionError) as error:
        raise TrainingError(
            f"the device {name!r} is not to be had here ({str(error).splitlines()[0]}). "
            'Use device="auto" or device="cpu".'
        ) from error
    return torch.device(name)


def check_known(schema: Schema, n_rows: int, n_known: NDArray[np.int64]) -> None:
    """Refuse a table from which nothing could be learnt, by how much is known of each variable."""
    if n_rows < 2:
        rows = "one row" if n_rows else "no rows"
        raise TableError(
            f"n_samples={n_rows}: a table of {rows} shows no variation to learn from. "
            "Give at least two rows, better hundreds."
        )
    if not n_known.any():
        raise TableError("every cell of the table is missing; there is nothing to learn from.")
    empty = [schema.names[d] for d in np.flatnonzero(n_known == 0)]
    if empty:
        raise TableError(
            f"no value of {', '.join(map(repr, empty[:5]))} was ever observed. "
            "Set the variable aside in the schema."
        )


def fingerprint(schema: Schema, evidence: Evidence) -> str:
    """What the training table was, in 64 letters: its schema and every coded cell."""
    digest = hashlib.sha256(schema.to_toml().encode())
    digest.update(evidence.values.tobytes())
    digest.update(np.packbits(evidence.observed).tobytes())
    return digest.hexdigest()


def framed(table: pa.Table, X: Any, library: str, names: Sequence[str]) -> Any:
    """What `set_output` promises: a frame of the columns given to fit, in that order."""
    lacking = [name for name in names if name not in table.column_names]
    if lacking:
        raise TableError(
            f"the table has no column {format_names(lacking)}, which "
            "the table given to fit had and set_output promises. Add it, or drop set_output."
        )
    table = table.select(list(names))
    frame = formats.convert_like(table, X)
    if type(frame).__module__.split(".")[0] == library:
        return frame
    return table.to_pandas() if library == "pandas" else table
