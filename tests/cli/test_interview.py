"""The record of `eddi interview` is saved and read back."""

import json

import pytest

from eddi.cli.interview import read_record, write_record
from eddi.errors import AnswerError
from eddi.interview.record import Answer, Record


def test_a_record_is_read_back_as_written(tmp_path):
    record = Record(("stage",), (Answer("age", {"age": 61.0}),))
    assert read_record(tmp_path / "r.json") is None
    write_record(record, tmp_path / "r.json")
    assert read_record(tmp_path / "r.json") == record
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]


@pytest.mark.parametrize("text", ["{", json.dumps({"key": "k"}), "[]"])
def test_a_file_that_is_not_a_record_is_rejected(tmp_path, text):
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(AnswerError, match="not the record of an interview"):
        read_record(tmp_path / "r.json")
