"""The inferred kinds of real-world tables are those a careful person would choose."""

import csv
import importlib.util
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from eddi.table.schema import Schema

_SPEC = importlib.util.spec_from_file_location("corpus", Path(__file__).with_name("corpus.py"))
corpus = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(corpus)

MIN_CORRECT = 0.95
MAX_FLAGGED = 0.2  # of the columns; a schema in which everything is uncertain helps nobody
HALVES = {"design": corpus.read_corpus(corpus.DESIGN), "held out": corpus.read_corpus(corpus.HELD_OUT)}
TABLES = {title: columns for half in HALVES.values() for title, columns in half.items()}


def write_csv(columns, path):
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(column.name for column in columns)
        writer.writerows(zip(*(column.cells for column in columns), strict=True))
    return path


def find_kinds(schema):
    """The kind of each column: that of its variable, "several", or how it was set aside."""
    kinds = {column.name: column.role for column in schema.set_aside}
    for variable in schema.variables:
        kinds[variable.column] = str(variable.kind) if variable.source is None else "several"
    return kinds


def judge(tables, folder):
    """The names of all columns, of those with a wrong kind, and of those with a note."""
    everything, wrong, noted = [], [], []
    for title, columns in tables.items():
        schema = Schema.infer(write_csv(columns, folder / "table.csv"))
        kinds = find_kinds(schema)
        everything += [f"{title}/{column.name}" for column in columns]
        wrong += [
            f"{title}/{column.name}: {kinds[column.name]}, not {'/'.join(column.kinds)}"
            for column in columns
            if kinds[column.name] not in column.kinds
        ]
        noted += [f"{title}/{name}" for name in {note.column for note in schema.notes}]
    return everything, wrong, noted


def test_the_corpus_has_at_least_sixty_tables():
    assert len(TABLES) == sum(map(len, HALVES.values())) >= 60


@pytest.mark.parametrize("half", HALVES)
def test_nearly_all_kinds_are_right_and_the_others_are_flagged(half, tmp_path):
    everything, wrong, noted = judge(HALVES[half], tmp_path)
    assert len(wrong) <= (1 - MIN_CORRECT) * len(everything), wrong
    assert [column for column in wrong if column.split(": ")[0] not in noted] == []
    assert len(noted) <= MAX_FLAGGED * len(everything), noted


@pytest.mark.parametrize("title", TABLES)
def test_a_path_and_every_library_give_the_same_schema(title, tmp_path):
    # pandas and polars drop leading zeros when they read numbers, so codes are not compared.
    columns = [
        c
        for c in TABLES[title]
        if not any(cell.startswith("0") and cell[1:2].isdigit() for cell in c.cells)
    ]
    path = write_csv(columns, tmp_path / "table.csv")
    schema = Schema.infer(path)
    frame = pd.read_csv(path)
    assert Schema.infer(frame) == schema
    assert Schema.infer(pl.read_csv(path, infer_schema_length=None)) == schema
    assert Schema.infer(pa.Table.from_pandas(frame, preserve_index=False)) == schema
    assert Schema.from_toml(schema.to_toml()) == schema
