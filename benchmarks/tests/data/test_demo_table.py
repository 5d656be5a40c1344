"""The script that builds the table of the demonstration gives exactly that table."""

import gzip
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from eddi import demo
from eddi_benchmarks.data import demo_table

SURVEY = Path(os.environ.get("EDDI_DATA") or "nowhere") / "nhanes_2015_2016"


@pytest.mark.skipif(not SURVEY.is_dir(), reason="the survey is not in EDDI_DATA")
def test_the_table_of_the_package_is_built_from_the_survey() -> None:
    text = demo_table.to_csv(demo_table.build_table(SURVEY))
    assert gzip.decompress(demo.TABLE_FILE.read_bytes()).decode() == text


def test_people_with_diagnosed_diabetes_children_and_pregnant_women_are_left_out() -> None:
    people = pd.DataFrame(
        {
            "RIDAGEYR": [30, 19, 30, 30, 30, 30, 30],
            "LBXGH": [5.0, 5.0, np.nan, 5.0, 5.0, 5.0, 5.0],
            "DIQ010": [3, 2, 2, 1, 2, 2, 2],
            "DIQ050": [2, 2, 2, 2, 1, 2, 2],
            "DIQ070": [np.nan, 2, 2, 2, 2, 1, 2],
            "RIDEXPRG": [2, 2, 2, 2, 2, 2, 1],
        }
    )
    assert demo_table.select_people(people).index.tolist() == [0]


def test_codes_for_refused_and_unknown_are_missing() -> None:
    levels = demo_table._name_levels(pd.Series([1, 2, 7, 9, np.nan]), demo_table.YES_NO)
    assert levels.fillna("missing").tolist() == ["Yes", "No", "missing", "missing", "missing"]
    people = pd.DataFrame({"PAD680": [90, 7777, 9999]})
    assert demo_table._convert(people, *demo_table.QUANTITIES["sitting"]).fillna(-1).tolist() == [
        1.5,
        -1,
        -1,
    ]


def test_a_pressure_is_the_mean_of_its_readings_without_zeros() -> None:
    people = pd.DataFrame(
        {"BPXDI1": [70, 0], "BPXDI2": [72, 0], "BPXDI3": [0, 0], "BPXDI4": [np.nan, 0]}
    )
    pressure = demo_table._convert(people, *demo_table.QUANTITIES["diastolic pressure"])
    assert pressure.fillna(-1).tolist() == [71, -1]


def test_medicine_that_was_not_advised_is_not_taken() -> None:
    people = pd.DataFrame(
        {
            "BPQ020": [1, 1, 1, 2, 9],
            "BPQ040A": [1, 2, 9, np.nan, 2],
            "BPQ050A": [1, np.nan, np.nan, np.nan, 1],
        }
    )
    takes = demo_table._find_medicine(people, diagnosis="BPQ020", advised="BPQ040A", takes="BPQ050A")
    assert takes.fillna("missing").tolist() == ["Yes", "No", "missing", "missing", "missing"]


def test_alcohol_is_counted_in_days_a_year() -> None:
    people = pd.DataFrame(
        {
            "ALQ110": [2, 1, 1, 1, 1, 1, 1],
            "ALQ120Q": [np.nan, 0, 3, 2, 1, 5, 999],
            "ALQ120U": [np.nan, np.nan, 3, 2, 1, 1, 1],
        }
    )
    assert demo_table._find_alcohol(people).fillna("missing").tolist() == [
        *("Never", "Never", "Less than once a month", "1 to 3 days a month"),
        *("1 to 3 days a week", "4 or more days a week", "missing"),
    ]
