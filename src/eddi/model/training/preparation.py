"""Preparation of training: check and code the table, and build the network."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray

from eddi.errors import TableError, TrainingError
from eddi.model.network.likelihood import VariableSpec
from eddi.model.network.network import Network
from eddi.model.recipe import Recipe, check_set_encoder
from eddi.model.training.extra_rows import ExtraRows, join_rows, repeat_rows
from eddi.model.training.question_weights import QuestionWeights, attach_weights
from eddi.model.training.streaming import StreamedEvidence, first_window
from eddi.model.training.validation import count_validation_rows
from eddi.table import columns, formats
from eddi.table.beliefs.prior_rows import draw_prior_rows, find_related
from eddi.table.checks.training_table import find_training_warnings
from eddi.table.coding import Coding, RunningStats, find_logarithmic
from eddi.table.evidence import Evidence
from eddi.table.schema import Schema
from eddi.table.streaming import ParquetStream
from eddi.table.survival.time_bins import split_numbers
from eddi.table.text import format_list
from eddi.table.variable import Kind, Variable

N_PRIOR_ROWS = 1_000  # rows drawn from beliefs; they count as fewer rows of data
MAX_ROWS_BY_EVENTS = 5_000  # of a table whose events are counted; folds of more rows take too long
MIN_TABLE_ROWS = 10  # fewer rows of data cannot be held out: only rows drawn from beliefs are


@dataclass(frozen=True)
class PreparedTable:
    """A coded training table, in memory or streamed.

    Args:
        coding: of its values.
        rows: what is trained on; some of them are held out.
        n_rows: number of rows of the table.
        fingerprint: SHA-256 of the schema and the rows.
        warnings: about the table.
        extra: rows that are trained on, too, but never held out.
        is_prior: whether ``rows`` are drawn from beliefs, because the table has too few.
        n_events: of the survival target with the fewest; None without survival targets.
        n_answers: number of rows of the table with a value of each variable and of a target.
    """

    coding: Coding
    rows: Evidence | StreamedEvidence
    n_rows: int
    fingerprint: str
    warnings: tuple[str, ...] = ()
    extra: ExtraRows | None = None
    is_prior: bool = False
    n_events: int | None = None
    n_answers: tuple[int, ...] = ()

    @property
    def n_main_rows(self) -> int:
        """The number of independent ``rows``, or groups of rows."""
        return self.n_rows if isinstance(self.rows, StreamedEvidence) else self.rows.n_groups

    @property
    def n_complete_rows(self) -> int:
        """How many complete rows tell as much about the targets; see `Evidence.n_complete_rows`.

        A censored row tells little about a survival target, so that its events are counted.
        """
        if isinstance(self.rows, StreamedEvidence):
            return self.n_rows
        n_complete = self.rows.n_complete_rows
        if self.n_events is None or len(self.rows) > MAX_ROWS_BY_EVENTS:
            return n_complete
        return min(n_complete, self.n_events)


def prepare(
    table: pa.Table | ParquetStream,
    schema: Schema,
    recipe: Recipe,
    *,
    seed: int,
    targets: Sequence[str] = (),
    prior_rows: int = 0,
    coding: Coding | None = None,
    question_weights: QuestionWeights | None = None,
) -> PreparedTable:
    """Check and code a training table; a table on disk is read once and never held in memory.

    The beliefs of the schema count as ``prior_rows`` rows. A table on disk is so large that they do not.
    An earlier ``coding`` is kept; it is learned from the table if it is None. ``question_weights`` are those
    of its rows; they are ignored for a table on disk.
    """
    if isinstance(table, ParquetStream):
        return _prepare_stream(table, schema, recipe, seed)
    numbers = columns.table_to_numbers(table, schema)
    if prior_rows > 0:
        prior = draw_prior_rows(schema, N_PRIOR_ROWS, seed=seed, numbers=numbers)
        weight = prior_rows / N_PRIOR_ROWS
        joined = repeat_rows(numbers, prior, weight)
        learned = coding.widen(joined) if coding else Coding.fit(schema, joined, recipe.scaling)
        related = tuple(find_related(schema))
        beliefs = ExtraRows(learned.encode(prior), weight, is_prior=True, related=related)
        return _prepare_with_beliefs(numbers, beliefs, schema, learned, targets, question_weights)
    check_observed(schema, len(numbers), (~np.isnan(numbers)).sum(0))
    coding = coding.widen(numbers) if coding else Coding.fit(schema, numbers, recipe.scaling)
    evidence = replace(coding.encode(numbers), groups=find_groups(table, schema))
    evidence = attach_weights(evidence, question_weights)
    independent = draw_independent_rows(numbers, evidence.groups)
    warnings = tuple(map(str, find_training_warnings(schema, independent, targets)))
    n_events = count_target_events(schema, numbers, targets, evidence.groups)
    digest = fingerprint(schema, evidence)
    n_answers = count_answers(schema, numbers, targets)
    return PreparedTable(
        coding, evidence, len(numbers), digest, warnings, n_events=n_events, n_answers=n_answers
    )


def find_groups(table: pa.Table, schema: Schema) -> NDArray[np.int64] | None:
    """A number for the person of each row, which depends on the name alone; None for a static table."""
    if schema.time is None or schema.time.person not in table.column_names:
        return None
    cells = table[schema.time.person].dictionary_encode().combine_chunks()
    array = cells if isinstance(cells, pa.DictionaryArray) else cells.chunk(0)
    names = (repr(name).encode() for name in array.dictionary.to_pylist())
    digests = [hashlib.blake2b(name, digest_size=8).digest() for name in names]
    hashes = np.array([int.from_bytes(digest, "big") >> 1 for digest in digests], dtype=np.int64)
    return np.asarray(hashes[array.indices.to_numpy()])


def draw_independent_rows(
    numbers: NDArray[np.float64], groups: NDArray[np.int64] | None
) -> NDArray[np.float64]:
    """One random row of each group: several rows of a person would look like strong relations."""
    if groups is None:
        return numbers
    order = np.random.default_rng(0).permutation(len(numbers))
    _, first = np.unique(groups[order], return_index=True)
    return np.asarray(numbers[np.sort(order[first])])


def count_answers(
    schema: Schema, numbers: NDArray[np.float64], targets: Sequence[str]
) -> tuple[int, ...]:
    """The number of rows with a value of each variable and of a target; of any row without targets."""
    is_observed = ~np.isnan(numbers)
    if targets:
        is_observed = is_observed[is_observed[:, schema.positions(targets)].any(1)]
    return tuple(is_observed.sum(0).tolist())


def count_target_events(
    schema: Schema,
    numbers: NDArray[np.float64],
    targets: Sequence[str],
    groups: NDArray[np.int64] | None = None,
) -> int | None:
    """Events of the survival target with the fewest, at most one per group; None without such a target."""
    names = [name for name in targets if schema[name].survival is not None]
    persons = np.arange(len(numbers)) if groups is None else groups
    counts = []
    for name in names:
        column = numbers[:, schema.position(name)]
        is_event = ~np.isnan(column) & split_numbers(np.nan_to_num(column))[2]
        counts.append(len(np.unique(persons[is_event])))
    return min(counts, default=None)


def _prepare_with_beliefs(
    numbers: NDArray[np.float64],
    beliefs: ExtraRows,
    schema: Schema,
    coding: Coding,
    targets: Sequence[str],
    question_weights: QuestionWeights | None,
) -> PreparedTable:
    """Join a table, which may be empty, and rows drawn from the beliefs of the schema."""
    table = coding.encode(numbers)
    is_prior = len(numbers) < MIN_TABLE_ROWS
    if is_prior:
        rows, extra = beliefs.rows, ExtraRows(table, 1 / beliefs.weight) if len(numbers) else None
        warnings: tuple[str, ...] = ()
    else:
        rows, extra = attach_weights(table, question_weights), beliefs
        warnings = tuple(map(str, find_training_warnings(schema, numbers, targets)))
    digest = fingerprint(schema, join_rows(rows, extra))
    n_events = None if is_prior else count_target_events(schema, numbers, targets)
    return PreparedTable(
        coding,
        rows,
        len(numbers),
        digest,
        warnings,
        extra,
        is_prior,
        n_events=n_events,
        n_answers=count_answers(schema, numbers, targets),
    )


def _prepare_stream(stream: ParquetStream, schema: Schema, recipe: Recipe, seed: int) -> PreparedTable:
    digest = hashlib.sha256(replace(schema, notes=()).to_toml().encode())
    is_logarithmic = find_logarithmic(schema, recipe.scaling)
    stats = RunningStats.from_numbers(np.zeros((0, len(schema.variables))), is_logarithmic)
    for numbers in stream.iter_numbers(schema):
        digest.update(numbers.tobytes())
        stats = stats.merge(RunningStats.from_numbers(numbers, is_logarithmic))
    check_observed(schema, stream.n_rows, stats.n_observed)
    coding = Coding.from_stats(schema, stats, recipe.scaling)
    n_held_out = count_validation_rows(stream.n_rows, recipe)
    rows = StreamedEvidence.split(stream, schema, coding, n_held_out=n_held_out, seed=seed)
    n_answers = tuple(stats.n_observed.tolist())  # so many that a few unknown targets do not matter
    return PreparedTable(coding, rows, stream.n_rows, digest.hexdigest(), n_answers=n_answers)


def build_network(
    schema: Schema,
    coding: Coding,
    set_encoder: str,
    recipe: Recipe,
    *,
    seed: int,
    rows: Evidence | StreamedEvidence | None = None,
    extra: ExtraRows | None = None,
) -> Network:
    """A new network for the variables of a schema.

    ``rows`` are the training rows; None if the weights are loaded from a file.
    """
    scales = zip(schema.variables, coding.shift, coding.scale, strict=True)
    specs = [
        _variable_spec(v, shift, scale, as_number=recipe.scaling == "unit") for v, shift, scale in scales
    ]
    with torch.random.fork_rng(devices=[]):  # torch initialises layers from its global generator
        torch.manual_seed(seed)
        network = Network(specs, check_set_encoder(set_encoder), recipe)
    if rows is not None and network.needs_data_init:
        network.init_from_data(join_rows(first_window(rows), extra))
    return network


def _variable_spec(variable: Variable, shift: float, scale: float, *, as_number: bool) -> VariableSpec:
    if as_number and variable.kind not in (Kind.BINARY, Kind.SURVIVAL):
        return VariableSpec(Kind.REAL, variable.n_levels, float(shift), float(scale))
    return VariableSpec(variable.kind, variable.n_levels, float(shift), float(scale))


def find_device(name: str) -> torch.device:
    """The device of this name; "auto" is a GPU if there is one."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        torch.empty(0, device=name)
    except (RuntimeError, AssertionError) as error:
        raise TrainingError(
            f"device {name!r} is not available on this machine ({str(error).splitlines()[0]}). "
            'Use device="auto" or device="cpu".'
        ) from error
    return torch.device(name)


def check_observed(schema: Schema, n_rows: int, n_observed: NDArray[np.int64]) -> None:
    """Raise `TableError` if nothing can be learned, from the number of values of each variable."""
    if n_rows < 2:
        rows = "one row" if n_rows else "no rows"
        raise TableError(
            f"n_samples={n_rows}: a table with {rows} has no variation to learn from. "
            "Give at least two rows, better hundreds."
        )
    if not n_observed.any():
        raise TableError("every cell of the table is missing; there is nothing to learn from.")
    empty = [schema.names[d] for d in np.flatnonzero(n_observed == 0)]
    derived = () if schema.time is None else schema.time.derived_names()
    if windows := [name for name in empty if name in derived]:
        raise TableError(
            f"{format_list([repr(name) for name in windows[:3]])} has no value at any decision. Change the "
            "windows or the decisions in [time]. If nobody has more than one visit, remove [time]."
        )
    names = ", ".join(map(repr, empty[:5]))
    if empty and schema.time is not None and not set(empty) <= set(schema.time.repeats):
        raise TableError(
            f"{names} has no observed value. Give the table with one row per person, too, or exclude the "
            "variable in the schema."
        )
    if empty:
        raise TableError(f"{names} has no observed value. Exclude the variable in the schema.")


def fingerprint(schema: Schema, evidence: Evidence) -> str:
    """SHA-256 of a schema and a coded table."""
    digest = hashlib.sha256(replace(schema, notes=()).to_toml().encode())
    digest.update(evidence.values.tobytes())
    digest.update(np.packbits(evidence.observed).tobytes())
    return digest.hexdigest()


def to_frame(table: pa.Table, X: Any, library: str, names: Sequence[str]) -> Any:
    """A data frame with the columns given to `fit`, in that order, as `set_output` requires."""
    missing = [name for name in names if name not in table.column_names]
    if missing:
        raise TableError(
            f"the table has no column {format_list([repr(name) for name in missing])}, which "
            "the table given to fit had and set_output requires. Add it, or do not use set_output."
        )
    table = table.select(list(names))
    frame = formats.convert_like(table, X)
    if type(frame).__module__.split(".")[0] == library:
        return frame
    return table.to_pandas() if library == "pandas" else table
