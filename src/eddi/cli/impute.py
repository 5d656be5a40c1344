"""`eddi impute`: replace the missing values of a table by predictions."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eddi.cli import terminal
from eddi.cli.errors import check_writable
from eddi.cli.options import (
    EngineOption,
    ModelPath,
    Seed,
    TablePath,
    UnknownOption,
    UnknownRule,
    Workers,
)
from eddi.engine import Engine, EngineName
from eddi.errors import EddiError

if TYPE_CHECKING:
    import pyarrow as pa

    from eddi.table.streaming import ParquetStream


def impute(
    model: ModelPath,
    table: TablePath,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="A .csv, .tsv or .parquet file. Default: CSV to standard output."
        ),
    ] = None,
    draws: Annotated[
        int | None,
        typer.Option(
            min=1, help="Write this many tables with random imputations: OUTPUT-1, OUTPUT-2 ..."
        ),
    ] = None,
    seed: Seed = 0,
    unknown: UnknownOption = UnknownRule.IGNORE,
    engine: EngineOption = EngineName.THIS,
    workers: Workers = None,
) -> None:
    """Fill the missing values of a table. Observed cells keep their exact text.

    For example: eddi impute people.eddi incomplete.csv > filled.csv
    """
    if output is not None:
        check_writable(output)
    elif draws is not None and draws > 1:
        raise EddiError(
            f"cannot print {draws} tables to standard output. Name a file with -o filled.csv; "
            f"the tables are written to filled-1.csv ... filled-{draws}.csv."
        )
    from eddi.cli.csv_cells import restore_observed_text
    from eddi.model.bulk_impute import BulkImputation
    from eddi.table.streaming import ParquetStream, open_table

    rows = open_table(table)
    outputs = [output] if draws is None else [number_path(output, n + 1) for n in range(draws)]
    with terminal.show_progress("imputing") as on_progress:
        imputation = BulkImputation(
            model, draws, seed, Engine(engine, workers), on_progress, unknown.value
        )
        if isinstance(rows, ParquetStream):
            return imputation.fill_file(rows, _require_parquet(rows, outputs))
        tables = imputation.fill_table(rows)
    for path, filled in zip(outputs, tables, strict=True):
        _write_table(restore_observed_text(table, rows, filled, imputation.schema), path)
    return None


def number_path(path: Path | None, number: int) -> Path | None:
    """Return the path of one of several tables: filled.csv.gz becomes filled-1.csv.gz."""
    if path is None:
        return None
    stem, dot, suffixes = path.name.partition(".")
    return path.with_name(f"{stem}-{number}{dot}{suffixes}")


def _require_parquet(rows: "ParquetStream", outputs: list[Path | None]) -> list[Path]:
    from eddi.table import formats

    files = [path for path in outputs if path is not None and formats.is_parquet(path)]
    if len(files) < len(outputs):
        raise EddiError(
            f"{rows.path.name!r} has {rows.n_rows:,} rows and is imputed in parts, which requires "
            "Parquet output. Name a file with -o filled.parquet."
        )
    return files


def _write_table(table: "pa.Table", output: Path | None) -> None:
    from eddi.cli.csv_cells import to_csv
    from eddi.table import formats

    if output is None:
        return terminal.print_data(to_csv(table))
    formats.write(table, output)
    return terminal.print_message(f"wrote {output}")
