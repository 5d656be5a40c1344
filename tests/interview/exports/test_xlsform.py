"""Answers are exported in the columns of submissions, and read back unchanged."""

from eddi.interview.exports.xlsform import to_submissions


def test_a_row_is_a_submission(people, schema):
    first, second = to_submissions(people, schema).to_pylist()
    assert first["start"] == "2026-01-02T10:00:00+00:00"
    assert first["KEY"].startswith("uuid:")
    assert (first["sex"], first["weight"], first["s"], first["tool"]) == ("2", "70.5", "1", "a b")
    assert (second["smoke"], second["s"], second["tool"]) == ("1", "", "")


def test_a_key_depends_on_the_name_of_the_person_alone(people, schema):
    keys = [to_submissions(people[n:], schema)["KEY"].to_pylist()[-1] for n in (0, 1)]
    assert keys[0] == keys[1]


def test_the_answers_are_read_back_unchanged(people, schema, check_read_back):
    columns = [v for v in schema.variables if v.source is None or v.source.is_list]
    check_read_back(to_submissions(people, schema), columns)
