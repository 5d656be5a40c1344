"""NHANES 2015-2016 as the paper asks about it: grouped questionnaire variables, laboratory targets.

The paper names 665 questionnaire variables in 73 groups and 139 laboratory variables, and no more. What
is taken here are the tables published by spring 2018 (``in_eddi_candidate`` in variables.csv.gz), less a
survey weight, two columns that are names of cigarettes and one column that stands there twice: 665
and 139. A group is what one file asks of the same people: 75 groups.
"""

import csv
import gzip
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from eddi.errors import TableError
from eddi.table.question import Question
from eddi.table.schema import Schema
from eddi.table.variable import Kind, Variable

MERGED = "nhanes_2015_2016_merged.parquet"
VARIABLES = "variables.csv.gz"
CODEBOOK = "codebook.csv.gz"

# A survey weight among the laboratory results; the barcode and the name of a brand of cigarettes; and
# a flag of the smoking file (how it was asked) that stands in a second file too.
LEFT_OUT = {
    ("PBCD_I", "WTSH2YR"),
    ("SMQ_I", "SMDUPCA"),
    ("SMQ_I", "SMD100BR"),
    ("SMQSHS_I", "SMAQUEX"),
}
NOT_ANSWERS = ("refused", "don't know", "don't know/not sure")  # as the codebook words them
CLOCK = re.compile(r"(\d+):(\d+)")  # a time of day such as 23:30
STEM = re.compile(r"(?<=\d)[A-Z]+$")  # the letters that tell the items of one list apart

Key = tuple[str, str]
"""A table and a variable of it."""


@dataclass(frozen=True)
class Survey:
    """The rows, what the columns are and in which groups they are asked, and the laboratory's share."""

    table: pa.Table
    schema: Schema
    labs: tuple[str, ...]


@dataclass(frozen=True)
class Column:
    """One variable: where it comes from, what it is called in the joined table, whom it is asked of."""

    table: str
    variable: str
    name: str
    is_lab: bool
    asked_of: str  # empty where nobody says

    @property
    def key(self) -> Key:
        return self.table, self.variable

    @property
    def stem(self) -> Key:
        return self.table, STEM.sub("", self.variable)


def read_survey(folder: Path) -> Survey:
    """The survey in ``folder``: every column a number, no answer that is none."""
    columns = _columns(folder / VARIABLES)
    labs = tuple(column.name for column in columns if column.is_lab)
    schema = Schema(
        variables=tuple(Variable(column.name, Kind.REAL) for column in columns),
        explicit_questions=groups([column for column in columns if not column.is_lab]),
        targets=labs,
    )
    return Survey(_numbers(folder, columns), schema, labs)


def read_table(folder: Path) -> pa.Table:
    """The table alone: questionnaire variables, then laboratory variables."""
    return read_survey(folder).table


def groups(columns: Sequence[Column]) -> tuple[Question, ...]:
    """The questions: what one file asks of the same people.

    Of the items of a list ("which of these ...") nobody says whom they are asked of. They share a number
    (MCQ160A, MCQ160B, ...) and go together, to those whom what stands before most of them is asked of.
    """
    before: dict[Key, Counter[str]] = {}
    last: dict[str, str] = {}
    for column in columns:
        last[column.table] = column.asked_of or last.get(column.table, "everybody")
        before.setdefault(column.stem, Counter())[last[column.table]] += 1
    found: dict[str, list[str]] = {}
    for column in columns:
        asked_of = column.asked_of or before[column.stem].most_common(1)[0][0]
        found.setdefault(f"{column.table.removesuffix('_I')}: {asked_of}", []).append(column.name)
    return tuple(Question(name, tuple(reveals)) for name, reveals in found.items())


def _columns(path: Path) -> list[Column]:
    """The variables of the experiment in the files' order, the questionnaire first."""
    found = [
        Column(
            table=line["table"],
            variable=line["variable"],
            name=line["merged_column"],
            is_lab=line["in_eddi_candidate"] == "lab",
            asked_of=line["target_population"],
        )
        for line in _lines(path)
        if line["in_eddi_candidate"]
    ]
    kept = [column for column in found if column.key not in LEFT_OUT]
    return sorted(kept, key=lambda column: column.is_lab)


def _lines(path: Path) -> Iterator[dict[str, str]]:
    with gzip.open(path, "rt", newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)


def _numbers(folder: Path, columns: Sequence[Column]) -> pa.Table:
    names = [column.name for column in columns]
    there = set(pq.read_schema(folder / MERGED).names)
    if missing := [name for name in names if name not in there]:
        raise TableError(
            f"{MERGED} has no column {', '.join(missing[:5])}, which {VARIABLES} names. "
            "The two files must be of one release."
        )
    raw = pq.read_table(folder / MERGED, columns=names)  # the file has three times as many
    refusals = _refusals(folder / CODEBOOK)
    arrays = []
    for column in columns:
        values = _as_numbers(raw[column.name])
        codes = refusals.get(column.key)
        none = undescribed_refusals(values) if codes is None else codes
        arrays.append(pa.array(np.where(np.isin(values, list(none)), np.nan, values), from_pandas=True))
    return pa.table(arrays, names=names)


def _as_numbers(column: pa.ChunkedArray) -> NDArray[np.float64]:
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return np.array([_number(text) for text in column.to_pylist()], dtype=np.float64)
    return np.array(column.to_numpy(), dtype=np.float64)


def _number(text: str | None) -> float:
    """A number that was written as text, or the hour of a time of day; NaN where it is neither."""
    if clock := CLOCK.fullmatch((text or "").strip()):
        return int(clock[1]) + int(clock[2]) / 60
    try:
        return float(text or "nan")
    except ValueError:
        return float("nan")


def _refusals(path: Path) -> dict[Key, set[float]]:
    """Codes that mean no answer, for each variable that the codebook describes; maybe none."""
    found: dict[Key, set[float]] = {}
    for line in _lines(path):
        codes = found.setdefault((line["TableName"], line["Variable"]), set())
        if line["ValueDescription"].strip().lower() in NOT_ANSWERS:
            codes.add(_number(line["CodeOrValue"]))
    return found


def undescribed_refusals(values: NDArray[np.float64]) -> set[float]:
    """Codes that mean no answer in a column the codebook does not describe.

    NHANES writes them in sevens (refused) or nines (don't know), as wide as the field. So they are the
    column's widest values, and stand far above every other: at least twice as high.
    """
    known = np.unique(values[~np.isnan(values)])
    if known.size == 0:
        return set()
    width = len(f"{known[-1]:.0f}")
    codes = {float(digit * width) for digit in "79"} & set(known.tolist())
    others = [value for value in known if value not in codes]
    return codes if others and min(codes, default=0) >= 2 * max(others) else set()
