"""NHANES 2015-2016 as in the paper: grouped questionnaire variables, laboratory results as targets.

The paper reports 665 questionnaire variables in 73 groups and 139 laboratory variables without listing
them. We use the tables published by spring 2018 (``in_eddi_candidate`` in variables.csv.gz) without a
survey weight, two columns that name cigarette brands, and a duplicate column: 665 and 139 variables. A
group is what one file asks of the same people, which gives 75 groups.
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

EXCLUDED = {
    ("PBCD_I", "WTSH2YR"),  # a survey weight among the laboratory results
    ("SMQ_I", "SMDUPCA"),  # the barcode of a cigarette brand
    ("SMQ_I", "SMD100BR"),  # the name of a cigarette brand
    ("SMQSHS_I", "SMAQUEX"),  # a flag of the smoking file that a second file repeats
}
NON_ANSWERS = ("refused", "don't know", "don't know/not sure")  # as the codebook words them
CLOCK_TIME = re.compile(r"(\d+):(\d+)")  # such as 23:30
ITEM_LETTERS = re.compile(r"(?<=\d)[A-Z]+$")  # distinguish the items of one list

Key = tuple[str, str]
"""A table and one of its variables."""


@dataclass(frozen=True)
class Survey:
    """The respondents, the schema with its groups of questions, and the laboratory variables."""

    table: pa.Table
    schema: Schema
    labs: tuple[str, ...]


@dataclass(frozen=True)
class Column:
    """One variable: its source, its name in the merged table, and the population it is asked of."""

    table: str
    variable: str
    name: str
    is_lab: bool
    population: str  # empty if not stated

    @property
    def key(self) -> Key:
        return self.table, self.variable

    @property
    def stem(self) -> Key:
        """The key without the letters that distinguish the items of one list."""
        return self.table, ITEM_LETTERS.sub("", self.variable)


def read_survey(folder: Path) -> Survey:
    """Read the survey with every column as numbers and non-answers as missing values."""
    columns = _read_columns(folder / VARIABLES)
    labs = tuple(column.name for column in columns if column.is_lab)
    schema = Schema(
        variables=tuple(Variable(column.name, Kind.REAL) for column in columns),
        explicit_questions=group_questions([column for column in columns if not column.is_lab]),
        targets=labs,
    )
    return Survey(_read_numbers(folder, columns), schema, labs)


def read_table(folder: Path) -> pa.Table:
    """Read the table only: questionnaire variables, then laboratory variables."""
    return read_survey(folder).table


def group_questions(columns: Sequence[Column]) -> tuple[Question, ...]:
    """The questions: one for each file and population.

    The population is not stated for the items of a list ("which of these ..."). Items of a list share a
    number (MCQ160A, MCQ160B, ...) and form one group with the variables of the most frequent population
    among those that precede the items.
    """
    preceding: dict[Key, Counter[str]] = {}
    last: dict[str, str] = {}
    for column in columns:
        last[column.table] = column.population or last.get(column.table, "everybody")
        preceding.setdefault(column.stem, Counter())[last[column.table]] += 1
    groups: dict[str, list[str]] = {}
    for column in columns:
        population = column.population or preceding[column.stem].most_common(1)[0][0]
        groups.setdefault(f"{column.table.removesuffix('_I')}: {population}", []).append(column.name)
    return tuple(Question(name, tuple(reveals)) for name, reveals in groups.items())


def _read_columns(path: Path) -> list[Column]:
    """The variables of the experiment in file order, the questionnaire first."""
    columns = [
        Column(
            table=line["table"],
            variable=line["variable"],
            name=line["merged_column"],
            is_lab=line["in_eddi_candidate"] == "lab",
            population=line["target_population"],
        )
        for line in _read_lines(path)
        if line["in_eddi_candidate"]
    ]
    included = [column for column in columns if column.key not in EXCLUDED]
    return sorted(included, key=lambda column: column.is_lab)


def _read_lines(path: Path) -> Iterator[dict[str, str]]:
    with gzip.open(path, "rt", newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)


def _read_numbers(folder: Path, columns: Sequence[Column]) -> pa.Table:
    names = [column.name for column in columns]
    available = set(pq.read_schema(folder / MERGED).names)
    if missing := [name for name in names if name not in available]:
        raise TableError(
            f"{MERGED} has no column {', '.join(missing[:5])}, which {VARIABLES} names. "
            "Use two files of the same release."
        )
    raw = pq.read_table(folder / MERGED, columns=names)  # the file has three times as many columns
    codes_by_variable = _read_non_answer_codes(folder / CODEBOOK)
    arrays = []
    for column in columns:
        values = _as_numbers(raw[column.name])
        codes = codes_by_variable.get(column.key)
        if codes is None:
            codes = guess_non_answer_codes(values)
        arrays.append(pa.array(np.where(np.isin(values, list(codes)), np.nan, values), from_pandas=True))
    return pa.table(arrays, names=names)


def _as_numbers(column: pa.ChunkedArray) -> NDArray[np.float64]:
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return np.array([_parse_number(text) for text in column.to_pylist()], dtype=np.float64)
    return np.array(column.to_numpy(), dtype=np.float64)


def _parse_number(text: str | None) -> float:
    """A number, or the hour of a clock time; NaN if the text is neither."""
    if time := CLOCK_TIME.fullmatch((text or "").strip()):
        return int(time[1]) + int(time[2]) / 60
    try:
        return float(text or "nan")
    except ValueError:
        return float("nan")


def _read_non_answer_codes(path: Path) -> dict[Key, set[float]]:
    """Codes of non-answers for each variable in the codebook; possibly none."""
    codes: dict[Key, set[float]] = {}
    for line in _read_lines(path):
        of_variable = codes.setdefault((line["TableName"], line["Variable"]), set())
        if line["ValueDescription"].strip().lower() in NON_ANSWERS:
            of_variable.add(_parse_number(line["CodeOrValue"]))
    return codes


def guess_non_answer_codes(values: NDArray[np.float64]) -> set[float]:
    """Codes of non-answers in a column that is not in the codebook.

    NHANES fills the width of a field with sevens (refused) or nines (don't know). So the codes are the
    widest values of the column, and at least twice as large as all others.
    """
    distinct = np.unique(values[~np.isnan(values)])
    if distinct.size == 0:
        return set()
    width = len(f"{distinct[-1]:.0f}")
    codes = {float(digit * width) for digit in "79"} & set(distinct.tolist())
    others = [value for value in distinct if value not in codes]
    return codes if others and min(codes, default=0) >= 2 * max(others) else set()
