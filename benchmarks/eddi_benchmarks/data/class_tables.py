"""Small public tables whose target is a class.

The target is the last column. Columns that reveal it, or identify a person, are left out.
"""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from eddi.table import formats
from eddi_benchmarks.data.dataset import CC_BY, Dataset

UCI = "of the UCI Machine Learning Repository"
PHQ_ITEMS = tuple(f"DPQ0{item}0" for item in range(1, 10))


def _read_heart(path: Path) -> pa.Table:
    """Any narrowing of a vessel counts as disease, as in most publications."""
    table = formats.read(path)
    disease = pc.cast(pc.greater(table["num"], 0), pa.int64())
    return table.drop_columns(["num"]).append_column("disease", disease)


def _read_bank(path: Path) -> pa.Table:
    """Leave out the duration of the call, which is known only once its outcome is."""
    return formats.read(path).drop_columns(["duration"])


def _read_symptoms(path: Path) -> pa.Table:
    """Keep each distinct row once: half are duplicates, which would leak from training to test rows."""
    table = formats.read(path)
    return table.group_by(table.column_names, use_threads=False).aggregate([]).select(table.column_names)


def _read_phq9(path: Path) -> pa.Table:
    """The nine items, and whether their sum indicates depression; rows without a sum are left out."""
    table = formats.read(path).select([*PHQ_ITEMS, "depression_ge10"])
    return table.filter(pc.is_valid(table["depression_ge10"]))


def _class_table(
    source: str,
    file: str,
    sha256: str,
    *,
    licence: str = CC_BY,
    read: Callable[[Path], pa.Table] = formats.read,
) -> Dataset:
    return Dataset(source, licence, {file: sha256}, read=lambda folder: read(folder / file))


CLASS_TABLES = {
    "spam": _class_table(
        f"Spambase, number 94 {UCI}, with a header",
        "spam.csv.gz",
        "91f8ff05d19356a6d8a462ba7378363d7a08b964dcfbfad74c9bb0bc289e2bf4",
    ),
    "ckd": _class_table(
        f"Chronic Kidney Disease, number 336 {UCI}, as CSV with a header",
        "ckd.csv",
        "962bc6d7026f443c6041dbe1c33416fc6d40f1953a60758b35a72a9f3124f6ed",
    ),
    "heart_cleveland": _class_table(
        f"Heart Disease (Cleveland), number 45 {UCI}, as CSV with a header",
        "heart_cleveland.csv",
        "c62392cce6a715ef063ff42c1557df0675df2d8612e272abed377932e8e475c7",
        read=_read_heart,
    ),
    "bank_marketing": _class_table(
        f"Bank Marketing (bank-full), number 222 {UCI}, separated by commas",
        "bank_full.csv.gz",
        "7c397ab6e198a56127db89f5b7f4fbef26373bb7f0cf57e6c4ae23f63b55216c",
        read=_read_bank,
    ),
    "diabetes_symptoms": _class_table(
        f"Early-stage diabetes risk, number 529 {UCI}",
        "diabetes_data_upload.csv",
        "7889d9d0beb7dd1ccc58da99f72763f16afb259b5dbbaa086f8195366ff66137",
        read=_read_symptoms,
    ),
    "phq9_nhanes": _class_table(
        "the depression screener DPQ_I of NHANES 2015-2016 (wwwn.cdc.gov/nchs/nhanes), with the sum of "
        "its nine items and whether it is 10 or more, as CSV",
        "phq9.csv",
        "1dcb77fef7608713993ed96633be7555f221afa5807f03b916cff2d5df381eb2",
        licence="public domain (US government); for statistics only, never to identify a person",
        read=_read_phq9,
    ),
}
