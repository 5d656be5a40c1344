"""A CSV file of outcomes: every line is stored or reported with its number."""

import pytest

from eddi.service.interviews.history import interview_stream, name_person
from eddi.service.interviews.outcomes.outcome import read_outcome
from eddi.service.interviews.outcomes.outcome_file import OutcomeFileError, import_outcomes


@pytest.fixture
def people(service):
    """The names of three people who answered, and a function that reads the stage of each."""
    keys = [service.start().key for _ in range(3)]

    def read_stages():
        found = [read_outcome(service.store.read(interview_stream(key))) for key in keys]
        return [None if outcome is None else outcome.values["stage"] for outcome in found]

    return [name_person(key) for key in keys], read_stages


def load(recorder, text, **options):
    content = text if isinstance(text, bytes) else text.encode()
    return import_outcomes(recorder, "people", content, by="ada", **options)


def test_good_lines_are_stored_and_bad_lines_are_reported(recorder, people):
    (first, second, third), read_stages = people
    lines = [
        "interview,value",
        f"{first},late",
        f"{second},IX",
        "x,early",
        f"{third},early,2",
        f"{third},",
    ]
    report = load(recorder, "\n".join(lines))
    assert read_stages() == ["late", None, None]
    assert (report.n_stored, report.n_unchanged, report.n_empty) == (1, 0, 1)
    assert [error.line for error in report.errors] == [3, 4, 5]
    assert [error.message.split(".")[0] for error in report.errors] == [
        "'stage' must be one of early, late, last, got 'IX'",
        "nobody called 'x' has answered this questionnaire",
        "the line has 3 cells, and the header has 2",
    ]


def test_importing_a_file_again_changes_nothing(recorder, people):
    (first, second, _), read_stages = people
    text = f"person,age,outcome\n{first},3,late\n{second},4,last\n"
    assert load(recorder, text).n_stored == 2
    again = load(recorder, text)
    assert (again.n_stored, again.n_unchanged, again.errors) == (0, 2, ())
    assert read_stages() == ["late", "last", None]


def test_another_value_corrects_the_outcome(recorder, people):
    (first, *_), read_stages = people
    load(recorder, f"interview,value\n{first},early\n{first},late\n")
    load(recorder, f"interview,value\n{first},last\n")
    assert read_stages()[0] == "last"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_files_of_spreadsheets_are_read(recorder, people, encoding, separator):
    (first, *_), read_stages = people
    text = f'Name{separator}Interview{separator}VALUE\r\n"Ü, x"{separator}{first}{separator}late\r\n\r\n'
    report = load(recorder, text.encode(encoding))
    assert (report.n_stored, report.errors) == (1, ())
    assert read_stages()[0] == "late"


def test_values_by_target_have_a_column_each(recorder, people):
    (first, *_), read_stages = people
    assert load(recorder, f"person,outcome stage\n{first},late\n").n_stored == 1
    assert read_stages()[0] == "late"
    report = load(recorder, f"person,outcome age\n{first},3\n")
    assert "'age' is not a target" in report.errors[0].message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no column with the interviews"),
        ("value\n3\n", "no column with the interviews"),
        ("interview,result\n", "no column with the values"),
        (b"\xff\xfeodd", "not text"),
    ],
)
def test_a_file_without_the_columns_is_refused(recorder, text, message):
    with pytest.raises(OutcomeFileError, match=message):
        load(recorder, text)


def test_a_quotation_mark_that_is_not_closed_is_reported(recorder, people):
    (first, *_), read_stages = people
    report = load(recorder, f'interview,value\n{first},early\n{first},"late\nmore,text\n')
    assert read_stages()[0] == "early"
    assert [error.line for error in report.errors] == [4]
    assert "the rest of the file cannot be read" in report.errors[0].message


def test_a_message_about_a_line_is_short(recorder, people):
    (first, *_), _ = people
    report = load(recorder, f"interview,value\n{first},{'x' * 5000}\n")
    assert len(report.errors[0].message) <= 300
