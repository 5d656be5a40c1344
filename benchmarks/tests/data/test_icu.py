"""Intensive care stays become rows: time series are averaged, levels become numbers, death is last."""

import gzip
import json
import math
import os
from pathlib import Path

import pytest

from eddi.errors import TableError
from eddi.table.variable import Kind
from eddi_benchmarks.data import datasets, icu

REAL = Path(os.environ.get("EDDI_DATA") or "nowhere")
EYES = "Glascow coma scale eye opening"
HEADER = ",".join(("Hours", *icu.SERIES))


def write_stay(path, *readings):
    """Write a time series file from a dictionary of readings for each line."""
    lines = [
        ",".join([str(hour), *(str(line.get(name, "")) for name in icu.SERIES)])
        for hour, line in enumerate(readings)
    ]
    path.write_text("\n".join([HEADER, *lines]) + "\n")


@pytest.fixture
def stays(tmp_path):
    """Two training stays and one test stay, in the layout of mimic3-benchmarks."""
    root = tmp_path / "in-hospital-mortality"
    for part in ("train", "test"):
        (root / part).mkdir(parents=True)
    write_stay(
        root / "train" / "3_episode1_timeseries.csv",
        {"Heart Rate": 80, EYES: "None"},
        {"Heart Rate": 100.0, EYES: "4 Spontaneously"},
        {"pH": 7.4},
    )
    write_stay(root / "train" / "4_episode2_timeseries.csv", {"Glucose": 120})
    write_stay(root / "test" / "5_episode1_timeseries.csv", {"Weight": 70.5})
    (root / "train" / "listfile.csv").write_text(
        "stay,y_true\n4_episode2_timeseries.csv,1\n3_episode1_timeseries.csv,0\n"
    )
    (root / "test" / "listfile.csv").write_text("stay,y_true\n5_episode1_timeseries.csv,1\n")
    return tmp_path


def test_a_stay_is_a_row_of_means_in_the_order_of_the_lists(stays):
    table = icu.read_mimic(stays)
    assert table.column_names == [*icu.SERIES, "death"]
    assert table["death"].to_pylist() == [1, 0, 1]
    assert table["Heart Rate"].to_pylist() == [None, 90.0, None]
    assert table["Glucose"].to_pylist() == [120.0, None, None]
    assert table["Weight"].to_pylist() == [None, None, 70.5]


def test_no_eye_opening_is_the_lowest_level_rather_than_a_missing_value(stays):
    assert icu.read_mimic(stays)[EYES].to_pylist() == [None, (1 + 4) / 2, None]


@pytest.mark.parametrize(
    ("part", "texts", "value"),
    [
        ("eye opening", ("None", "1 No Response"), 1),
        ("eye opening", ("2 To pain", "To Pain"), 2),
        ("eye opening", ("Spontaneously", "4 Spontaneously"), 4),
        ("motor response", ("No response", "1 No Response"), 1),
        ("motor response", ("2 Abnorm extensn", "Abnormal extension"), 2),
        ("motor response", ("Obeys Commands", "6 Obeys Commands"), 6),
        ("verbal response", ("No Response-ETT", "1.0 ET/Trach", "No Response"), 1),
        ("verbal response", ("2 Incomp sounds", "Incomprehensible sounds"), 2),
        ("verbal response", ("Oriented", "5 Oriented"), 5),
    ],
)
def test_the_texts_of_two_systems_for_one_level_give_one_number(part, texts, value):
    name = f"Glascow coma scale {part}"
    assert {icu.parse_reading(name, text) for text in texts} == {value}


def test_the_error_of_an_unknown_level_lists_the_scale():
    with pytest.raises(TableError, match=r"eye opening' must be one of none, .*, got 'Winks'"):
        icu.parse_reading(EYES, "Winks")
    with pytest.raises(TableError, match=r"'pH' must be a number, got 'acid'"):
        icu.parse_reading("pH", "acid")


def test_the_error_of_a_changed_time_series_file_names_the_missing_column(stays):
    path = stays / "in-hospital-mortality" / "test" / "5_episode1_timeseries.csv"
    path.write_text("Hours,Weight\n1,70\n")
    with pytest.raises(
        TableError, match=r"5_episode1_timeseries.csv has no column Capillary refill rate"
    ):
        icu.read_mimic(stays)


def test_a_list_without_outcomes_is_rejected(stays):
    (stays / "in-hospital-mortality" / "test" / "listfile.csv").write_text("stay,los\nx.csv,3\n")
    with pytest.raises(TableError, match="must have the columns stay and y_true"):
        icu.read_mimic(stays)


def test_the_challenge_is_read_without_record_numbers_and_with_ventilation_off_by_default(tmp_path):
    text = "RecordID,Age,MechVent,pH,set,In-hospital_death\n1,60,1.0,7.1,a,0\n2,70,,,b,1\n"
    (tmp_path / "stays_mean.csv.gz").write_bytes(gzip.compress(text.encode()))
    table = icu.read_physionet(tmp_path)
    assert table.to_pydict() == {
        "Age": [60.0, 70.0],
        "MechVent": [1.0, 0.0],
        "pH": [7.1, None],
        "death": [0, 1],
    }


def test_measurements_are_real_and_death_is_a_binary_target(stays):
    schema = icu.schema(icu.read_mimic(stays))
    assert schema.targets == ("death",)
    assert schema["death"].kind is Kind.BINARY
    assert {variable.kind for variable in schema.variables[:-1]} == {Kind.REAL}


@pytest.mark.skipif(not (REAL / "mimic3_demo_ihm").is_dir(), reason="needs EDDI_DATA")
def test_the_real_demo_has_57_stays_and_17_deaths():
    table = datasets.load("mimic3_demo_ihm")
    assert table.shape == (57, 18)
    assert sum(table["death"].to_pylist()) == 17
    assert all(1 <= level <= 4 for level in table[EYES].to_pylist() if level is not None)


@pytest.mark.skipif(not (REAL / "mimic3_demo_ihm").is_dir(), reason="needs EDDI_DATA")
def test_every_level_of_mimic3_benchmarks_has_its_number_here():
    channels = json.loads((REAL / "mimic3_demo_ihm" / "channel_info.json").read_text())
    theirs = {
        (name, text): number for name in icu.SCALES for text, number in channels[name]["values"].items()
    }
    ours = {key: icu.parse_reading(*key) for key in theirs}
    assert ours == {**theirs, (EYES, "None"): 1}  # theirs is 0, but the scale starts at 1


@pytest.mark.skipif(not (REAL / "physionet2012").is_dir(), reason="needs EDDI_DATA")
def test_the_real_challenge_has_12000_stays_of_41_variables():
    table = datasets.load("physionet2012")
    assert table.shape == (12_000, 42)
    assert sum(table["death"].to_pylist()) == 1_707
    assert not any(math.isnan(value) for value in table["MechVent"].to_pylist())
