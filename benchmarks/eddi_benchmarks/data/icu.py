"""Intensive care stays, one row each: what mimic3-benchmarks writes, and the PhysioNet 2012 challenge.

The paper averages every series over the stay's first 48 hours and turns levels into numbers by what they
mean medically. The target, death in hospital, is the last column.
"""

import csv
from collections.abc import Iterator
from math import nan
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from eddi.errors import TableError
from eddi.table.schema import Schema
from eddi.table.variable import Kind, Variable

TARGET = "death"
PHYSIONET_TARGET = "In-hospital_death"
PHYSIONET_UNUSED = ("RecordID", "set")  # who it is, and which of the challenge's three parts

HOURS = "Hours"
SERIES = (  # mimic3-benchmarks' own names, its spelling of Glasgow included
    *("Capillary refill rate", "Diastolic blood pressure", "Fraction inspired oxygen"),
    *("Glascow coma scale eye opening", "Glascow coma scale motor response"),
    *("Glascow coma scale total", "Glascow coma scale verbal response"),
    *("Glucose", "Heart Rate", "Height", "Mean blood pressure", "Oxygen saturation"),
    *("Respiratory rate", "Systolic blood pressure", "Temperature", "Weight", "pH"),
)

# The Glasgow coma scale, from no response up, as two hospital systems write it. "None" is what one of
# them calls no eye opening: a level, not a missing value, and the same one as "no response" (the table
# that comes with mimic3-benchmarks puts it below, at 0, where the scale has nothing).
EYES = {"none": 1, "no response": 1, "to pain": 2, "to speech": 3, "spontaneously": 4}
MOTOR = {
    **{"no response": 1, "abnorm extensn": 2, "abnormal extension": 2, "abnorm flexion": 3},
    **{"abnormal flexion": 3, "flex-withdraws": 4, "localizes pain": 5, "obeys commands": 6},
}
VERBAL = {  # who has a tube in the throat cannot speak, and scores as who does not respond
    **{"no response": 1, "no response-ett": 1, "et/trach": 1, "incomp sounds": 2},
    **{"incomprehensible sounds": 2, "inapprop words": 3, "inappropriate words": 3},
    **{"confused": 4, "oriented": 5},
}
SCALES = {
    "Glascow coma scale eye opening": EYES,
    "Glascow coma scale motor response": MOTOR,
    "Glascow coma scale verbal response": VERBAL,
}


def schema(table: pa.Table) -> Schema:
    """The paper's view of the stays: quantities, and a target of two levels."""
    quantities = (Variable(name, Kind.REAL) for name in table.column_names if name != TARGET)
    death = Variable(TARGET, Kind.BINARY, levels=(0, 1))
    return Schema((*quantities, death), targets=(TARGET,))


def read_physionet(folder: Path) -> pa.Table:
    """The 12,000 stays of the PhysioNet/CinC Challenge 2012; a series' value is its mean."""
    stays = pa_csv.read_csv(folder / "stays_mean.csv.gz")
    names = [name for name in stays.column_names if name not in (*PHYSIONET_UNUSED, PHYSIONET_TARGET)]
    numbers = {name: stays[name].cast(pa.float64()) for name in names}
    # Recorded only while it is on: who has no record was never ventilated.
    numbers["MechVent"] = pc.fill_null(numbers["MechVent"], 0.0)
    return pa.table({**numbers, TARGET: stays[PHYSIONET_TARGET].cast(pa.int64())})


def read_mimic(folder: Path) -> pa.Table:
    """The stays that mimic3-benchmarks wrote for in-hospital mortality, training and test together."""
    home = folder / "in-hospital-mortality"
    stays = [
        {**averages(part / stay), TARGET: died}
        for part in (home / "train", home / "test")
        for stay, died in _listed(part / "listfile.csv")
    ]
    columns = {name: [stay[name] for stay in stays] for name in (*SERIES, TARGET)}
    numbers = {name: pa.array(each, from_pandas=True) for name, each in columns.items()}
    return pa.table({**numbers, TARGET: pa.array([int(stay[TARGET]) for stay in stays])})


def _listed(path: Path) -> Iterator[tuple[str, float]]:
    """Each stay's file and whether the patient died in hospital."""
    with path.open(newline="", encoding="utf-8") as file:
        for line in csv.DictReader(file):
            if "stay" not in line or line.get("y_true") not in ("0", "1"):
                raise TableError(
                    f"{path} must have the columns stay and y_true, 0 or 1, as mimic3-benchmarks writes "
                    f"them; got {dict(line)}."
                )
            yield line["stay"], float(line["y_true"])


def averages(path: Path) -> dict[str, float]:
    """The mean of each series of one stay, NaN where it was never measured."""
    totals, counts = dict.fromkeys(SERIES, 0.0), dict.fromkeys(SERIES, 0)
    with path.open(newline="", encoding="utf-8") as file:
        lines = csv.reader(file)
        header = next(lines, [])
        if absent := {HOURS, *SERIES} - set(header):
            raise TableError(
                f"{path} has no column {', '.join(sorted(absent))}. Give the folder that "
                "mimic3-benchmarks wrote, unchanged."
            )
        series = [(place, name) for place, name in enumerate(header) if name in totals]
        for line in lines:
            for place, name in series:
                if line[place]:
                    totals[name] += reading(name, line[place])
                    counts[name] += 1
    return {name: totals[name] / counts[name] if counts[name] else nan for name in SERIES}


def reading(name: str, text: str) -> float:
    """The number that a reading stands for: itself, or the place of its words on their scale."""
    scale = SCALES.get(name)
    try:
        if scale is None:
            return float(text)
        return float(scale[_words(text)])
    except (KeyError, ValueError):
        known = f"one of {', '.join(scale)}" if scale else "a number"
        raise TableError(f"{name!r} must be {known}, got {text!r}.") from None


def _words(text: str) -> str:
    """The words of a level, without the number that one of the two systems writes before them."""
    number, _, words = text.strip().partition(" ")
    return (words if number.replace(".", "", 1).isdigit() else text.strip()).lower()
