"""Series of PhysioNet 2012 and pbcseq, from small files in their format."""

import numpy as np
import pandas as pd
import pytest

from eddi.table.series.decision_rows import Series, decision_rows
from eddi_benchmarks.data.dataset import DatasetError
from eddi_benchmarks.data.visits import (
    BILIRUBIN,
    read_stays,
    read_visits,
    select_persons,
    stay_schema,
    visit_schema,
)

MEASUREMENTS = [
    (1, 0, "Age", 60.0),
    (1, 0, "Height", -1.0),
    (1, 0, "Weight", 70.0),
    (1, 30, "HR", 80.0),
    (1, 30, "HR", 82.0),
    (1, 90, "Weight", 71.0),
    (1, 95, "", 3.0),
    (1, 99, "pH", 73.5),
    (2, 0, "Age", 40.0),
    (2, 200, "HR", 0.0),
    (2, 240, "MechVent", 1.0),
    (2, 300, "Temp", 38.0),
]


@pytest.fixture
def folder(tmp_path):
    columns = ["RecordID", "minute", "parameter", "value"]
    long = pd.DataFrame(MEASUREMENTS, columns=columns)
    long.to_parquet(tmp_path / "measurements_long.parquet")
    outcomes = pd.DataFrame({"RecordID": [1, 2], "In-hospital_death": [0, 1]})
    outcomes.to_csv(tmp_path / "outcomes.csv", index=False)
    return tmp_path


def test_errors_of_recording_and_repeated_times_are_dropped(folder):
    series = read_stays(folder)
    assert series.measurements["parameter"].to_pylist() == ["HR", "Temp"]
    assert series.measurements["value"].to_pylist() == [82, 38]
    assert series.static["Weight"].tolist()[0] == 70
    assert np.isnan(series.static["Weight"].tolist()[1])
    assert series.static["death"].tolist() == [0, 1]


def test_stays_become_decision_rows(folder):
    series = read_stays(folder)
    series.static[["Gender", "ICUType", "Height"]] = [[0, 1, 170.0]] * 2
    rows = decision_rows(series, stay_schema(series))
    assert len(rows) == 2 * 12
    assert rows["HR"].to_pylist()[:2] == [82, None]
    assert rows["HR 4-12 h ago"].to_pylist()[1] == 82


def test_a_folder_without_measurements_is_rejected(tmp_path):
    with pytest.raises(DatasetError, match=r"no measurements_long\.parquet"):
        read_stays(tmp_path)


def test_some_persons_are_selected_from_both_tables(folder):
    chosen = select_persons(read_stays(folder), np.array([2]), "RecordID")
    assert chosen.measurements["RecordID"].to_pylist() == [2]
    assert chosen.static["RecordID"].tolist() == [2]


def test_visits_have_years_and_the_logarithm_of_bilirubin(tmp_path):
    others = (
        "ascites",
        "hepato",
        "spiders",
        "chol",
        "albumin",
        "alk.phos",
        "ast",
        "platelet",
        "protime",
    )
    visits = pd.DataFrame(
        {
            **{"rownames": [1, 2], "id": [1, 1], "futime": [400, 400], "status": [2, 2]},
            **{"trt": [1, 1], "age": [50.0, 50.0], "sex": ["f", "f"], "day": [0, 365]},
            **{name: [1.0, 0.0] for name in others},
            **{"edema": [0.5, 1.0], "stage": [3, 4], "bili": [1.0, np.e]},
        }
    )
    visits.to_csv(tmp_path / "data.csv", index=False)
    rows = decision_rows(Series(read_visits(tmp_path)), visit_schema())
    assert rows["year"].to_pylist() == pytest.approx([0, 365 / 365.25])
    assert rows[BILIRUBIN].to_pylist() == pytest.approx([0, 1])
    assert rows[f"next {BILIRUBIN}"].to_pylist() == [pytest.approx(1), None]
    assert not {"follow-up", "status"} & set(rows.column_names)
    rows = decision_rows(Series(read_visits(tmp_path)), visit_schema(survival=True))
    assert rows["follow-up"].to_pylist() == pytest.approx([400 / 365.25, 35 / 365.25])
    assert rows["status"].to_pylist() == [2, 2]
