"""Builds the table of `eddi demo` from NHANES 2015-2016.

`python -m eddi_benchmarks.data.demo_table` reads the survey from the folder that EDDI_DATA names and
writes src/eddi/demo/adults.csv.gz. PROVENANCE.md next to that file describes what is selected.
"""

import gzip
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from eddi import demo
from eddi_benchmarks.data import datasets
from eddi_benchmarks.data.nhanes import MERGED

MIN_AGE = 20  # many questions are asked of adults from 20 on
HBA1C_LIMIT = 5.7  # percent; from here on it is prediabetes, by the American Diabetes Association
CM_PER_INCH, KG_PER_POUND, MINUTES_PER_HOUR = 2.54, 0.45359237, 60.0
DAYS = {1: 52.0, 2: 12.0, 3: 1.0}  # a year, if the answer counts days per week, month or year
ALCOHOL_DAYS = (0.0, 1e-9, 12.0, 52.0, 208.0)  # the first number of days a year of each level

YES_NO = {1: "Yes", 2: "No"}
# "Borderline" is a yes: the question is whether a doctor mentioned it.
YES_NO_BORDERLINE = {1: "Yes", 2: "No", 3: "Yes"}
RATING = {1: "Excellent", 2: "Very good", 3: "Good", 4: "Fair", 5: "Poor"}
HEART = ("MCQ160B", "MCQ160C", "MCQ160D", "MCQ160E", "MCQ160F")  # failure ... attack, stroke

# Levels by their codes in the survey. Other codes, such as 7 (refused) and 9 (don't know), are missing.
LEVELS: dict[str, tuple[str, Mapping[int, str]]] = {
    "sex": ("RIAGENDR", {1: "Male", 2: "Female"}),
    "diabetes in the family": ("MCQ300C", YES_NO),
    "told high blood pressure": ("BPQ020", YES_NO),
    "told high cholesterol": ("BPQ080", YES_NO),
    "told overweight": ("MCQ080", YES_NO),
    "general health": ("HUQ010", RATING),
    "diet": ("DBQ700", RATING),
    "snoring": (
        "SLQ030",
        dict(enumerate(("Never", *(f"{n} nights a week" for n in ("1 or 2", "3 or 4", "5 or more"))))),
    ),
    "up at night": (
        "KIQ480",
        dict(enumerate(("Never", "Once", "Twice", "3 times", "4 times", "5 times or more"))),
    ),
    "vigorous sport": ("PAQ650", YES_NO),
    "moderate sport": ("PAQ665", YES_NO),
    "walking or cycling": ("PAQ635", YES_NO),
    "ever smoked": ("SMQ020", YES_NO),
    "smoking now": ("SMQ040", {1: "Every day", 2: "Some days", 3: "Not at all"}),
}

# Quantities: columns, whose mean is taken, the factor to our unit, the largest value, and decimals.
QUANTITIES: dict[str, tuple[Sequence[str], float, float, int]] = {
    "age": (("RIDAGEYR",), 1.0, 80, 0),
    "height": (("WHD010",), CM_PER_INCH, 220, 0),
    "weight": (("WHD020",), KG_PER_POUND, 400, 0),
    "highest weight": (("WHD140",), KG_PER_POUND, 400, 0),
    "waist": (("BMXWAIST",), 1.0, 300, 1),
    "sleep": (("SLD012",), 1.0, 24, 1),
    "sitting": (("PAD680",), 1 / MINUTES_PER_HOUR, 24, 1),
    "systolic pressure": (("BPXSY1", "BPXSY2", "BPXSY3", "BPXSY4"), 1.0, 300, 0),
    "diastolic pressure": (("BPXDI1", "BPXDI2", "BPXDI3", "BPXDI4"), 1.0, 200, 0),
    "pulse": (("BPXPLS",), 1.0, 300, 0),
    "total cholesterol": (("LBXTC",), 1.0, 2000, 0),
    "HDL cholesterol": (("LBDHDD",), 1.0, 500, 0),
    "fasting glucose": (("LBXGLU",), 1.0, 1000, 0),
    "HbA1c": (("LBXGH",), 1.0, 20, 1),
}


def build_table(folder: Path) -> pd.DataFrame:
    """Return the table: one row per adult without diagnosed diabetes whose HbA1c was measured."""
    people = select_people(pd.read_parquet(folder / MERGED))
    columns = {
        **{name: _name_levels(people[code], levels) for name, (code, levels) in LEVELS.items()},
        **{name: _convert(people, *how) for name, how in QUANTITIES.items()},
        **_derive_columns(people),
    }
    schema = demo.load_schema()
    for variable in schema.variables:
        if not variable.kind.has_levels:  # a few extreme values count as the end of the range
            columns[variable.name] = columns[variable.name].clip(variable.low, variable.high)
    names = [*schema.names, *(column.name for column in schema.set_aside)]
    return pd.DataFrame(columns)[names].reset_index(drop=True)


def select_people(survey: pd.DataFrame) -> pd.DataFrame:
    """Return the adults whose HbA1c was measured, without diagnosed diabetes and not pregnant."""
    is_diagnosed = (survey["DIQ010"] == 1) | (survey["DIQ050"] == 1) | (survey["DIQ070"] == 1)
    is_pregnant = survey["RIDEXPRG"] == 1
    is_adult = survey["RIDAGEYR"] >= MIN_AGE
    return survey[is_adult & survey["LBXGH"].notna() & ~is_diagnosed & ~is_pregnant]


def to_csv(table: pd.DataFrame) -> str:
    """Return the table as the text of a CSV file."""
    return table.to_csv(index=False, lineterminator="\n")


def _name_levels(column: pd.Series, levels: Mapping[int, str]) -> pd.Series:
    return column.map(levels)


def _convert(
    people: pd.DataFrame, columns: Sequence[str], factor: float, highest: float, decimals: int
) -> pd.Series:
    """Return the mean of columns in our unit. Codes are above the highest value, and 0 is no pressure."""
    values = people[list(columns)]
    is_pressure = len(columns) > 1
    values = values.where(values > 0) if is_pressure else values
    converted = (values * factor).where(values * factor <= highest).mean(axis=1).round(decimals)
    return converted.astype("Int64") if decimals == 0 else converted


def _derive_columns(people: pd.DataFrame) -> dict[str, pd.Series]:
    """Return the columns that combine several of the survey."""
    prediabetes = _name_levels(people["DIQ010"].where(people["DIQ010"] == 3), {3: "Yes"})
    never_pregnant = _name_levels(people["RHQ131"], {2: "No"})
    is_raised = people["LBXGH"] >= HBA1C_LIMIT
    return {
        "told prediabetes": prediabetes.fillna(_name_levels(people["DIQ160"], YES_NO)),
        "diabetes in pregnancy": _name_levels(people["RHQ162"], YES_NO_BORDERLINE).fillna(
            never_pregnant
        ),
        # People who were not told to take medicine are not asked whether they take it.
        "blood pressure medicine": _find_medicine(
            people, diagnosis="BPQ020", advised="BPQ040A", takes="BPQ050A"
        ),
        "cholesterol medicine": _find_medicine(
            people, diagnosis="BPQ080", advised="BPQ090D", takes="BPQ100D"
        ),
        "heart disease or stroke": _find_any(people[list(HEART)]),
        "alcohol": _find_alcohol(people),
        "blood sugar": is_raised.map({True: "Prediabetes or diabetes", False: "Normal"}),
    }


def _find_medicine(people: pd.DataFrame, *, diagnosis: str, advised: str, takes: str) -> pd.Series:
    answer = _name_levels(people[takes], YES_NO).fillna(_name_levels(people[advised], {2: "No"}))
    return answer.where(people[diagnosis] == 1)


def _find_any(answers: pd.DataFrame) -> pd.Series:
    """Return Yes if any answer is yes, No if all are no, and otherwise a missing value."""
    is_yes, is_no = (answers == 1).any(axis=1), (answers == 2).all(axis=1)
    return is_yes.map({True: "Yes", False: "No"}).where(is_yes | is_no)


def _find_alcohol(people: pd.DataFrame) -> pd.Series:
    """Return how often people drank. Fewer than 12 drinks in a lifetime count as never."""
    days = people["ALQ120Q"].where(people["ALQ120Q"] <= 365) * people["ALQ120U"].map(DAYS)
    days = days.mask((people["ALQ120Q"] == 0) | (people["ALQ110"] == 2), 0.0)
    levels = demo.load_schema()["alcohol"].levels
    return pd.Series(
        pd.cut(days, [*ALCOHOL_DAYS, np.inf], right=False, labels=list(levels)), dtype=object
    )


if __name__ == "__main__":
    text = to_csv(build_table(datasets.verify("nhanes_2015_2016")))
    # Without a time stamp, the same table gives the same file.
    demo.TABLE_FILE.write_bytes(gzip.compress(text.encode(), mtime=0))
    print(f"wrote {demo.TABLE_FILE}: {demo.TABLE_FILE.stat().st_size:,} bytes")
