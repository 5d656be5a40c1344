"""Intensive care stays, one row each: files of mimic3-benchmarks, and the PhysioNet 2012 challenge.

As in the paper, every time series is averaged over the first 48 hours of a stay, and levels become
numbers by their medical meaning. The target, death in hospital, is the last column.
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
PHYSIONET_UNUSED = ("RecordID", "set")  # the patient, and the part of the challenge

HOURS = "Hours"
SERIES = (  # the names of mimic3-benchmarks, including its spelling of Glasgow
    *("Capillary refill rate", "Diastolic blood pressure", "Fraction inspired oxygen"),
    *("Glascow coma scale eye opening", "Glascow coma scale motor response"),
    *("Glascow coma scale total", "Glascow coma scale verbal response"),
    *("Glucose", "Heart Rate", "Height", "Mean blood pressure", "Oxygen saturation"),
    *("Respiratory rate", "Systolic blood pressure", "Temperature", "Weight", "pH"),
)

# The Glasgow coma scale in the wording of two hospital systems, from no response upwards. One of them
# writes "None" for no eye opening. This is a level, not a missing value, and the same level as "no
# response". (The table of mimic3-benchmarks maps it to 0, which the scale does not have.)
EYES = {"none": 1, "no response": 1, "to pain": 2, "to speech": 3, "spontaneously": 4}
MOTOR = {
    **{"no response": 1, "abnorm extensn": 2, "abnormal extension": 2, "abnorm flexion": 3},
    **{"abnormal flexion": 3, "flex-withdraws": 4, "localizes pain": 5, "obeys commands": 6},
}
VERBAL = {  # an intubated patient cannot speak and scores as not responding
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
    """The schema of the paper: real-valued measurements and a binary target."""
    measurements = (Variable(name, Kind.REAL) for name in table.column_names if name != TARGET)
    death = Variable(TARGET, Kind.BINARY, levels=(0, 1))
    return Schema((*measurements, death), targets=(TARGET,))


def read_physionet(folder: Path) -> pa.Table:
    """Read the 12,000 stays of the PhysioNet/CinC Challenge 2012, already averaged over time."""
    stays = pa_csv.read_csv(folder / "stays_mean.csv.gz")
    names = [name for name in stays.column_names if name not in (*PHYSIONET_UNUSED, PHYSIONET_TARGET)]
    columns = {name: stays[name].cast(pa.float64()) for name in names}
    # Ventilation is recorded only while it is on: a patient without a record was never ventilated.
    columns["MechVent"] = pc.fill_null(columns["MechVent"], 0.0)
    return pa.table({**columns, TARGET: stays[PHYSIONET_TARGET].cast(pa.int64())})


def read_mimic(folder: Path) -> pa.Table:
    """Read the stays that mimic3-benchmarks wrote for in-hospital mortality, both training and test."""
    root = folder / "in-hospital-mortality"
    stays = [
        {**series_means(part / stay), TARGET: died}
        for part in (root / "train", root / "test")
        for stay, died in _listed_stays(part / "listfile.csv")
    ]
    columns = {name: pa.array([stay[name] for stay in stays], from_pandas=True) for name in SERIES}
    return pa.table({**columns, TARGET: pa.array([int(stay[TARGET]) for stay in stays])})


def _listed_stays(path: Path) -> Iterator[tuple[str, float]]:
    """The file of each stay, and whether the patient died in hospital."""
    with path.open(newline="", encoding="utf-8") as file:
        for line in csv.DictReader(file):
            if "stay" not in line or line.get("y_true") not in ("0", "1"):
                raise TableError(
                    f"{path} must have the columns stay and y_true (0 or 1), as mimic3-benchmarks "
                    f"writes them; got {dict(line)}."
                )
            yield line["stay"], float(line["y_true"])


def series_means(path: Path) -> dict[str, float]:
    """The mean of each time series of one stay, NaN if it was never measured."""
    totals, counts = dict.fromkeys(SERIES, 0.0), dict.fromkeys(SERIES, 0)
    with path.open(newline="", encoding="utf-8") as file:
        lines = csv.reader(file)
        header = next(lines, [])
        if missing := {HOURS, *SERIES} - set(header):
            raise TableError(
                f"{path} has no column {', '.join(sorted(missing))}. Use the folder that "
                "mimic3-benchmarks wrote, unchanged."
            )
        series = [(index, name) for index, name in enumerate(header) if name in totals]
        for line in lines:
            for index, name in series:
                if line[index]:
                    totals[name] += parse_reading(name, line[index])
                    counts[name] += 1
    return {name: totals[name] / counts[name] if counts[name] else nan for name in SERIES}


def parse_reading(name: str, text: str) -> float:
    """The value of a reading: a number, or the position of a level on its scale."""
    scale = SCALES.get(name)
    try:
        if scale is None:
            return float(text)
        return float(scale[_level(text)])
    except (KeyError, ValueError):
        expected = f"one of {', '.join(scale)}" if scale else "a number"
        raise TableError(f"{name!r} must be {expected}, got {text!r}.") from None


def _level(text: str) -> str:
    """The level in lower case, without the number that one of the two systems puts before it."""
    number, _, level = text.strip().partition(" ")
    return (level if number.replace(".", "", 1).isdigit() else text.strip()).lower()
