"""The survey becomes numbers: non-answers are missing, labs are targets, questions are grouped."""

import gzip
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eddi_benchmarks.data import datasets, nhanes
from eddi_benchmarks.data.nhanes import guess_non_answer_codes, read_survey

REAL = Path(os.environ.get("EDDI_DATA") or "nowhere")
ADULTS, CHILDREN = "Both 20 YEARS - 150 YEARS", "Both 1 YEARS - 19 YEARS"
VARIABLES = [  # table, variable, population, candidate, name in the merged table
    ("GHB_I", "LBXGH", "", "lab", "LBXGH"),
    ("PBCD_I", "WTSH2YR", "", "lab", "WTSH2YR__PBCD_I"),
    ("DIQ_I", "DIQ010", CHILDREN, "questionnaire", "DIQ010"),
    ("DIQ_I", "DIQ020", ADULTS, "questionnaire", "DIQ020"),
    ("DIQ_I", "DIQ160A", "", "questionnaire", "DIQ160A"),
    ("DIQ_I", "DIQ030", CHILDREN, "questionnaire", "DIQ030"),
    ("DIQ_I", "DIQ160B", "", "questionnaire", "DIQ160B"),
    ("DIQ_I", "DIQ160C", "", "questionnaire", "DIQ160C"),
    ("SLQ_I", "SLQ300", ADULTS, "questionnaire", "SLQ300"),
    ("SMQ_I", "SMD100BR", ADULTS, "questionnaire", "SMD100BR"),
    ("DXX_I", "DXX1", ADULTS, "", "DXX1"),
]
COLUMNS = {
    "LBXGH": [5.5, None, 6.0, 9.0],
    "WTSH2YR__PBCD_I": [1e4, 2e4, None, 1.0],
    "DIQ010": [1.0, 2.0, 7.0, 9.0],
    "DIQ020": [7.0, 9.0, 1.0, 2.0],  # seven and nine days: the codes are 77 and 99
    "DIQ160A": [1.0, 2.0, 9.0, None],
    "DIQ030": [5.0, 77.0, 99.0, 6.0],
    "DIQ160B": [1.0, 1.0, 1.0, 2.0],
    "DIQ160C": [7.0, None, None, 7.0],
    "SLQ300": ["23:30", "01:00", "99999", None],
    "SMD100BR": ["SOME BRAND", None, None, None],
    "DXX1": [1.0, 1.0, 1.0, 1.0],
}
CODEBOOK = [
    ("DIQ_I", "DIQ010", "7", "Refused"),
    ("DIQ_I", "DIQ010", "9", "Don't know"),
    ("DIQ_I", "DIQ020", "1", "Once"),
    ("DIQ_I", "DIQ020", ".", "Missing"),
    ("DIQ_I", "DIQ030", "77", "REFUSED"),
    ("DIQ_I", "DIQ030", "99", "Don't know/not sure"),
    ("SLQ_I", "SLQ300", "99999", "Don't know"),
    ("GHB_I", "LBXGH", "3.8 to 17", "Range of Values"),
]


def write_gz(path, header, rows):
    lines = [",".join(header), *(",".join(f'"{cell}"' for cell in row) for row in rows)]
    path.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode()))


@pytest.fixture
def folder(tmp_path):
    header = ("table", "variable", "target_population", "in_eddi_candidate", "merged_column")
    write_gz(tmp_path / nhanes.VARIABLES, header, VARIABLES)
    header = ("TableName", "Variable", "CodeOrValue", "ValueDescription")
    write_gz(tmp_path / nhanes.CODEBOOK, header, CODEBOOK)
    pq.write_table(pa.table(COLUMNS), tmp_path / nhanes.MERGED)
    return tmp_path


def test_laboratory_results_are_targets_and_excluded_columns_are_left_out(folder):
    survey = read_survey(folder)
    assert survey.labs == survey.schema.targets == ("LBXGH",)
    assert set(survey.table.column_names) == set(COLUMNS) - {"WTSH2YR__PBCD_I", "SMD100BR", "DXX1"}
    assert survey.table.column_names == list(survey.schema.names)


def test_refused_and_dont_know_are_missing_values_by_the_codebook_of_each_variable(folder):
    table = read_survey(folder).table
    assert table["DIQ010"].to_pylist() == [1, 2, None, None]
    assert table["DIQ020"].to_pylist() == [7, 9, 1, 2]
    assert table["DIQ030"].to_pylist() == [5, None, None, 6]


def test_codes_of_variables_outside_the_codebook_are_guessed_from_the_values(folder):
    table = read_survey(folder).table
    assert table["DIQ160A"].to_pylist() == [1, 2, None, None]
    assert table["DIQ160C"].to_pylist() == [7, None, None, 7]  # the seventh item of a list


def test_a_clock_time_becomes_an_hour(folder):
    assert read_survey(folder).table["SLQ300"].to_pylist() == [23.5, 1.0, None, None]


def test_a_group_is_what_a_file_asks_of_the_same_people_and_keeps_lists_together(folder):
    groups = {group.name: group.reveals for group in read_survey(folder).schema.explicit_questions}
    assert groups == {
        f"DIQ: {CHILDREN}": ("DIQ010", "DIQ160A", "DIQ030", "DIQ160B", "DIQ160C"),
        f"DIQ: {ADULTS}": ("DIQ020",),
        f"SLQ: {ADULTS}": ("SLQ300",),
    }


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ([1, 2, 9], {9}),
        ([1, 2, 7, 9], {7, 9}),
        ([1, 2, 3, 4, 5, 6, 7], set()),  # days of a week
        ([7], set()),  # an item of a list
        ([2, 77, 80, 99999], {99999}),  # ages, including 77
        ([10, 39, 99], {99}),
        ([64, 71, 77, 80], set()),
        ([], set()),
    ],
)
def test_non_answer_codes_are_sevens_or_nines_far_above_other_values(values, codes):
    assert guess_non_answer_codes(np.array([*values, np.nan], dtype=float)) == codes


def test_a_list_of_variables_of_another_release_is_rejected(folder):
    pq.write_table(pa.table(COLUMNS).drop_columns(["DIQ030"]), folder / nhanes.MERGED)
    with pytest.raises(ValueError, match="has no column DIQ030"):
        read_survey(folder)


@pytest.mark.skipif(not (REAL / "nhanes_2015_2016").is_dir(), reason="needs EDDI_DATA")
def test_the_real_survey_has_the_papers_numbers_of_variables():
    survey = read_survey(datasets.verify("nhanes_2015_2016"))
    assert survey.table.num_rows == 9_971
    assert len(survey.labs) == 139
    groups = survey.schema.explicit_questions
    assert sum(len(group.reveals) for group in groups) == 665
    assert len(groups) == 75  # the paper has 73 and does not list them
    adults = next(group for group in groups if "MCQ160A" in group.reveals)
    assert "MCQ160B" in adults.reveals
    assert "20 YEARS - 150 YEARS" in adults.name
