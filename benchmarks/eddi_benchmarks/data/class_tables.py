"""Small public tables whose target is a class: where they come from, and how each is read.

The target is the last column. What would give it away, or is a person's number, is left out.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from eddi.table import formats

CC_BY = "licence CC BY 4.0"
UCI = "of the UCI Machine Learning Repository"
PHQ_ITEMS = tuple(f"DPQ0{place}0" for place in range(1, 10))


@dataclass(frozen=True)
class ClassTable:
    """One file, what it is, and what of it is the table."""

    source: str
    licence: str
    file: str
    sha256: str
    read: Callable[[Path], pa.Table]


def _as_it_is(path: Path) -> pa.Table:
    return formats.read(path)


def _heart(path: Path) -> pa.Table:
    """Any narrowing of a vessel counts as the disease, as most authors have it."""
    table = formats.read(path)
    disease = pc.cast(pc.greater(table["num"], 0), pa.int64())
    return table.drop_columns(["num"]).append_column("disease", disease)


def _bank(path: Path) -> pa.Table:
    """Without the length of the call, which is known only when its outcome is."""
    return formats.read(path).drop_columns(["duration"])


def _symptoms(path: Path) -> pa.Table:
    """Each distinct row once: half are copies, and a copy in the training rows gives a row away."""
    table = formats.read(path)
    return table.group_by(table.column_names, use_threads=False).aggregate([]).select(table.column_names)


def _phq9(path: Path) -> pa.Table:
    """The nine items, and whether their sum says depression; rows without a sum are left out."""
    table = formats.read(path).select([*PHQ_ITEMS, "depression_ge10"])
    return table.filter(pc.is_valid(table["depression_ge10"]))


CLASS_TABLES = {
    "spam": ClassTable(
        f"Spambase, number 94 {UCI}, with a line of names",
        CC_BY,
        "spam.csv.gz",
        "91f8ff05d19356a6d8a462ba7378363d7a08b964dcfbfad74c9bb0bc289e2bf4",
        _as_it_is,
    ),
    "ckd": ClassTable(
        f"Chronic Kidney Disease, number 336 {UCI}, as CSV with a line of names",
        CC_BY,
        "ckd.csv",
        "962bc6d7026f443c6041dbe1c33416fc6d40f1953a60758b35a72a9f3124f6ed",
        _as_it_is,
    ),
    "heart_cleveland": ClassTable(
        f"Heart Disease (Cleveland), number 45 {UCI}, as CSV with a line of names",
        CC_BY,
        "heart_cleveland.csv",
        "c62392cce6a715ef063ff42c1557df0675df2d8612e272abed377932e8e475c7",
        _heart,
    ),
    "bank_marketing": ClassTable(
        f"Bank Marketing (bank-full), number 222 {UCI}, separated by commas",
        CC_BY,
        "bank_full.csv.gz",
        "7c397ab6e198a56127db89f5b7f4fbef26373bb7f0cf57e6c4ae23f63b55216c",
        _bank,
    ),
    "diabetes_symptoms": ClassTable(
        f"Early-stage diabetes risk, number 529 {UCI}",
        CC_BY,
        "diabetes_data_upload.csv",
        "7889d9d0beb7dd1ccc58da99f72763f16afb259b5dbbaa086f8195366ff66137",
        _symptoms,
    ),
    "phq9_nhanes": ClassTable(
        "the depression screener DPQ_I of NHANES 2015-2016 (wwwn.cdc.gov/nchs/nhanes), with the sum of "
        "its nine items and whether that is 10 or more, as CSV",
        "public domain (a work of the US government), for statistics only, never to identify a person",
        "phq9.csv",
        "1dcb77fef7608713993ed96633be7555f221afa5807f03b916cff2d5df381eb2",
        _phq9,
    ),
}
