"""`eddi fit`: train a model on a table and write it to a file."""

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, redirect_stderr
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eddi.cli import terminal
from eddi.cli.errors import EXIT_INTERRUPTED, check_writable
from eddi.cli.options import Json, Seed, Targets, single_or_list
from eddi.table.text import format_names

if TYPE_CHECKING:
    import pyarrow as pa

    from eddi.partial_vae import PartialVAE
    from eddi.table.schema import Schema
    from eddi.table.streaming import ParquetStream


class RecipeName(StrEnum):
    """A named set of training settings."""

    DEFAULT = "default"
    PAPER = "paper"


class EncoderName(StrEnum):
    """An encoder of partially observed rows."""

    ZI = "zi"
    ZI_M = "zi-m"
    PN = "pn"
    PNP = "pnp"
    PRECISION = "precision"


Steps = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Maximum number of training steps. Default: the recipe's."),
]
Encoder = Annotated[EncoderName | None, typer.Option(help="The set encoder. Default: the recipe's.")]
OptionalTable = Annotated[
    Path | None,
    typer.Argument(
        help="A CSV, TSV, Parquet or Excel file. Empty cells are missing values. Without a table, the "
        "model follows from the beliefs of the schema.",
        show_default=False,
    ),
]
StaticTable = Annotated[
    Path | None,
    typer.Argument(
        help="With repeated measurements ([time] in the schema): a table with one row per person.",
        show_default=False,
    ),
]
SchemaPath = Annotated[
    Path | None,
    typer.Option("--schema", "-s", help="A schema from `eddi schema`. Default: inferred."),
]
TestShare = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE",
        min=0.0,
        max=0.9,
        help="Hold out this share of the rows, such as 0.2, write it to OUTPUT's name with .test.csv, "
        "and measure the quality of predictions on it.",
    ),
]


def fit(
    output: Annotated[Path, typer.Option("--output", "-o", help="The model file to write.")],
    table: OptionalTable = None,
    static: StaticTable = None,
    schema: SchemaPath = None,
    target: Targets = None,
    recipe: Annotated[
        RecipeName, typer.Option(help="Training settings: our best, or those of the paper.")
    ] = RecipeName.DEFAULT,
    encoder: Encoder = None,
    steps: Steps = None,
    test: TestShare = None,
    seed: Seed = 0,
    device: Annotated[str, typer.Option(metavar="NAME", help="auto, cpu, cuda, cuda:1 ...")] = "auto",
    json: Json = False,
) -> None:
    """Train a model on a table with missing values.

    For example: eddi fit people.csv --schema people.toml --target risk -o people.eddi

    Repeated measurements: eddi fit visits.parquet people.csv --schema visits.toml -o people.eddi

    Without a table, the model follows from the ranges, [beliefs] and [[relations]] of the schema.

    Training saves checkpoints to OUTPUT.partial. To resume after an
    interruption, run the same command.
    To train with several processes: torchrun --nproc-per-node 8 -m eddi fit ...
    """
    check_writable(output)
    checkpoint = output.with_name(output.name + ".partial")
    with silence_other_ranks() as is_main:
        rows, row_schema = _read_table(table, schema, target)
        row_schema.target_names(target)  # rejects an unknown target before torch is imported
        rows, person = _read_series(rows, static, row_schema)
        rows, test_rows = (None, None) if rows is None else _hold_out(rows, test, seed, person=person)
        from eddi.partial_vae import PartialVAE

        if checkpoint.exists():
            terminal.print_message(f"resuming from {checkpoint}")
        with report_interruption(checkpoint), terminal.show_training_progress() as on_progress:
            model = PartialVAE(
                row_schema,
                single_or_list(target),
                recipe=str(recipe),
                set_encoder=None if encoder is None else str(encoder),
                max_steps=steps,
                random_state=seed,
                device=device,
                checkpoint=checkpoint,
                on_progress=on_progress,
            ).fit(rows)
            if is_main:
                if test_rows is not None:
                    _write_test_rows(test_rows, output)
                    model.measure_quality(test_rows)
                model.save(output)
    if is_main:
        checkpoint.unlink(missing_ok=True)
        _print_report(model, output, json=json)


@contextmanager
def silence_other_ranks() -> Iterator[bool]:
    """Yield whether this is the main process of torchrun, and silence standard error if it is not."""
    is_main = os.environ.get("RANK", "0") == "0"
    with nullcontext() if is_main else redirect_stderr(io.StringIO()):
        yield is_main


def _read_table(
    table: Path | None, schema_path: Path | None, target: list[str] | None
) -> tuple["pa.Table | ParquetStream | None", "Schema"]:
    from eddi.table.schema import Schema
    from eddi.table.streaming import open_table

    if table is None:
        if schema_path is None:
            raise typer.BadParameter("give a table, or --schema with beliefs about the variables.")
        return None, Schema.from_toml(schema_path)
    rows = open_table(table)
    if schema_path is not None:
        return rows, Schema.from_toml(schema_path)
    schema = Schema.infer(rows, targets=target or ())
    terminal.print_message("no --schema was given; inferred this one:")
    terminal.open_console(stderr=True).print(terminal.build_schema_table(schema))
    if uncertain := list(dict.fromkeys(note.column for note in schema.notes)):
        names = terminal.join_names(uncertain)
        terminal.print_message(f"check {names}: `eddi schema {table}` says why, and what to change.")
    return rows, schema


def _read_series(
    rows: "pa.Table | ParquetStream | None", static: Path | None, schema: "Schema"
) -> "tuple[pa.Table | ParquetStream | None, str | None]":
    """Return the decision rows of repeated measurements, and the column that names the person."""
    if schema.time is None:
        if static is not None:
            raise typer.BadParameter("a second table needs a --schema with a section [time].")
        return rows, None
    from eddi.table.series.decision_rows import Series, decision_rows

    table = None if rows is None else decision_rows(Series(rows, static), schema, later=True)
    return table, schema.time.person


def _hold_out(
    rows: "pa.Table | ParquetStream", share: float | None, seed: int, *, person: str | None = None
) -> "tuple[pa.Table | ParquetStream, pa.Table | None]":
    """Return the training rows and, if a share is given, the test rows, which are drawn at random.

    All rows of a ``person`` are in the same part.
    """
    if not share:
        return rows, None
    import numpy as np
    import pyarrow as pa

    from eddi.errors import TableError

    if not isinstance(rows, pa.Table):
        raise TableError("--test needs a table that fits into memory. Split this file yourself.")
    groups, n_groups = np.arange(rows.num_rows), rows.num_rows
    if person is not None:
        names, groups = np.unique(rows[person].to_numpy(zero_copy_only=False), return_inverse=True)
        n_groups = len(names)
    order = np.random.default_rng(seed).permutation(n_groups)
    n_test = round(share * n_groups)
    if n_test == 0:
        unit = "rows is no row" if person is None else "persons is nobody"
        raise TableError(f"--test {share:g} of {n_groups} {unit}. Use a larger share.")
    is_test = np.isin(groups, order[:n_test])
    return rows.filter(pa.array(~is_test)), rows.filter(pa.array(is_test))


def _write_test_rows(rows: "pa.Table", output: Path) -> None:
    from eddi.table import formats

    path = output.with_suffix(".test.csv")
    formats.write(rows, path)
    terminal.print_message(f"wrote {rows.num_rows:,} test rows to {path}")


@contextmanager
def report_interruption(checkpoint: Path) -> Iterator[None]:
    """Say how to resume if training ends early."""
    try:
        yield
    except KeyboardInterrupt:
        if checkpoint.exists():
            message = f"progress is saved in {checkpoint}. Run the same command to resume."
        else:
            message = "no checkpoint was saved yet. Run the same command to start again."
        terminal.print_message(f"training was interrupted; {message}")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    except OSError:
        if checkpoint.exists():
            terminal.print_message(f"progress is saved in {checkpoint}. Run the same command to resume.")
        raise


def _format_rows(n_rows: int) -> str:
    return f"{n_rows:,} rows" if n_rows else "no data, only beliefs"


def _print_report(model: "PartialVAE", output: Path, *, json: bool) -> None:
    last, n_bytes = model.history_[-1], output.stat().st_size
    early = " (stopped improving)" if last.step < last.max_steps else ""
    terminal.print_message(
        f"{output} ({terminal.format_size(n_bytes)}): {_format_rows(model.n_rows_)}, "
        f"{last.step:,} steps{early}, {terminal.format_duration(last.seconds)}.",
        style="green",
    )
    for name, quality in model.fitted().quality.items():
        terminal.print_message(f"{name}: {' '.join(quality.describe())}")
    for name, ignored in model.ignored_variables_.items():
        names = format_names(ignored)
        terminal.print_message(f"{name}: {names} did not improve predictions of held-out rows: ignored.")
    if json:
        report = {
            "model": str(output),
            "bytes": n_bytes,
            "rows": model.n_rows_,
            "variables": len(model.schema_.variables),
            "target": list(model.target_),
            "steps": last.step,
            "seconds": round(last.seconds, 3),
            "score": last.best,
            "quality": [quality.to_document() for quality in model.fitted().quality.values()],
            "ignored_variables": {name: list(names) for name, names in model.ignored_variables_.items()},
            "warnings": list(model.fitted().training.warnings),
        }
        terminal.print_data(terminal.to_json(report))
