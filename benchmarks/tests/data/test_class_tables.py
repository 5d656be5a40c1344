"""Classification tables are read without columns that reveal the class."""

import gzip

from eddi_benchmarks.data import datasets


def test_any_narrowing_of_a_vessel_counts_as_disease(data):
    (data / "heart_cleveland").mkdir()
    (data / "heart_cleveland" / "heart_cleveland.csv").write_text("age,num\n50,0\n60,3\n70,1\n")
    table = datasets.DATASETS["heart_cleveland"].read(data / "heart_cleveland")
    assert table.to_pydict() == {"age": [50, 60, 70], "disease": [0, 1, 1]}


def test_the_duration_of_a_call_is_left_out_because_it_reveals_the_outcome(data):
    (data / "bank_marketing").mkdir()
    text = b"age,duration,y\n30,10,no\n40,900,yes\n"
    (data / "bank_marketing" / "bank_full.csv.gz").write_bytes(gzip.compress(text))
    table = datasets.DATASETS["bank_marketing"].read(data / "bank_marketing")
    assert table.column_names == ["age", "y"]


def test_duplicate_rows_are_kept_once(data):
    (data / "diabetes_symptoms").mkdir()
    text = "Age,Itching,class\n40,Yes,Positive\n41,No,Negative\n40,Yes,Positive\n"
    (data / "diabetes_symptoms" / "diabetes_data_upload.csv").write_text(text)
    table = datasets.DATASETS["diabetes_symptoms"].read(data / "diabetes_symptoms")
    assert table.num_rows == 2
    assert table.column_names == ["Age", "Itching", "class"]


def test_the_depression_screener_keeps_the_nine_items_and_rows_with_a_sum(data):
    (data / "phq9_nhanes").mkdir()
    items = [f"DPQ0{item}0" for item in range(1, 10)]
    lines = [
        ",".join(["SEQN", *items, "DPQ100", "phq9_total", "depression_ge10"]),
        ",".join(["1", *["2"] * 9, "1", "18", "1"]),
        ",".join(["2", *["0"] * 8, "", "1", "", ""]),
    ]
    (data / "phq9_nhanes" / "phq9.csv").write_text("\n".join(lines) + "\n")
    table = datasets.DATASETS["phq9_nhanes"].read(data / "phq9_nhanes")
    assert table.column_names == [*items, "depression_ge10"]
    assert table["depression_ge10"].to_pylist() == [1]
