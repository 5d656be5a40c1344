"""The conversation of `eddi interview`, line by line."""

import io
import json

import pytest
from rich.console import Console

from eddi import DECLINED, UNKNOWN, Interview, Stop, Variable
from eddi.cli import terminal
from eddi.cli.belief_bars import Picture
from eddi.cli.interview import (
    Command,
    Conversation,
    as_command,
    choices,
    expected,
    keep_record,
    picked,
    read_record,
)
from eddi.errors import AnswerError
from eddi.interview.record import Answer, Record
from eddi.strategy import FixedOrder

ORDER = FixedOrder(("smoker", "body", "pain", "town", "colour", "visits"))
GRADES = Variable("grade", "category", ("a", "b", "C+"))
SIZES = Variable("size", "ordinal", (1, 2, 3))
TOWN = Variable("town", "category", ("Aber", "Bala", "Brecon"))


@pytest.fixture
def talk(body_model, monkeypatch):
    """Hold a conversation in which these lines are typed; gives the interview and what was shown."""

    def held(*lines, target="stage", record=None, stop=None):
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        out = io.StringIO()
        interview = Interview(body_model, target, strategy=ORDER, stop=stop, record=record)
        kept = []
        Conversation(interview, Console(file=out, width=100), kept.append).hold()
        assert not kept or kept[-1] == interview.record
        return interview, out.getvalue()

    return held


def values(interview):
    return [dict(answer.values) for answer in interview.record.answers]


def test_answers_are_taken_until_it_is_enough(talk):
    interview, shown = talk("yes", "61", "80", "mild", stop=Stop(after=3))
    assert values(interview) == [{"smoker": "yes"}, {"age": 61.0, "weight": 80.0}, {"pain": "mild"}]
    assert "1. smoker" in shown
    assert "2. body  costs 3" in shown
    assert "That is enough, thank you. 3 questions, at a cost of 5." in shown
    assert "What mattered: how each answer moved the probability of" in shown


def test_the_end_of_the_input_ends_the_conversation(talk):
    interview, shown = talk("yes")
    assert values(interview) == [{"smoker": "yes"}]
    assert "Stopped here. 1 question" in shown


def test_one_may_stop_in_the_middle_of_a_question(talk):
    interview, _ = talk("yes", "61", "q", "80")
    assert values(interview) == [{"smoker": "yes"}]


def test_nothing_answered_is_nothing_that_mattered(talk):
    _, shown = talk("q")
    assert "Stopped here. 0 questions" in shown
    assert "What mattered" not in shown


def test_back_takes_the_last_answer_back(talk):
    interview, shown = talk("yes", "b", "no", "q")
    assert values(interview) == [{"smoker": "no"}]
    assert "Took back smoker: yes" in shown


def test_back_within_a_question_goes_to_its_variable_before(talk):
    interview, _ = talk("yes", "61", "b", "62", "80", "q")
    assert values(interview)[1] == {"age": 62.0, "weight": 80.0}


def test_there_is_nothing_before_the_first_question(talk):
    interview, shown = talk("b", "yes", "q")
    assert "This is the first question." in shown
    assert values(interview) == [{"smoker": "yes"}]


def test_not_knowing_and_not_saying_are_kept_apart(talk):
    interview, _ = talk("d", "61", "p", "p", "q")
    assert [answer.without for answer in interview.record.answers] == [
        {"smoker": UNKNOWN},
        {"weight": DECLINED},
        {"pain": DECLINED},
    ]


def test_a_question_mark_explains_and_asks_again(talk):
    interview, shown = talk("?", "yes", "q")
    assert "'smoker' is expected to tell" in shown
    assert "Next best: 'body'" in shown
    assert values(interview) == [{"smoker": "yes"}]


def test_a_bad_answer_is_explained_and_asked_again(talk):
    interview, shown = talk("maybe", "", "yes", "tall", "61", "80", "q")
    assert "'maybe' will not do. Type one of no, yes, or d if you don't know." in shown
    assert "   Type one of no, yes, or d" in shown
    assert "'tall' will not do. Type a number, in years, or d if you don't know." in shown
    assert len(interview.record.answers) == 2


def test_what_was_volunteered_is_not_asked_again(talk, body_model):
    before = Interview(body_model, "stage")
    before.tell("smoker", "yes")
    before.tell("age", 61)
    interview, shown = talk("80", "q", record=before.record)
    assert interview.record.answers[2] == Answer("body", {"weight": 80.0})
    assert "age: 61 years" in shown


def test_a_quantity_is_shown_on_a_scale(talk):
    _, shown = talk("late", "q", target="visits")
    assert "●" in shown
    assert "(90%:" in shown


def test_brackets_in_words_are_not_markup(worded, people_schema, monkeypatch):
    model = worded(people_schema.with_question("age", text="Your age [years]?"))
    monkeypatch.setattr("sys.stdin", io.StringIO("61\n"))
    out = io.StringIO()
    interview = Interview(model, "stage", strategy=FixedOrder(("age",)))
    Conversation(interview, Console(file=out, width=100), lambda _: None).hold()
    assert "Your age [years]?" in out.getvalue()


@pytest.mark.parametrize(
    ("variable", "raw", "level"),
    [
        (TOWN, "Bala", "Bala"),
        (TOWN, "2", "Bala"),
        (TOWN, "br", "Brecon"),
        (TOWN, "B", "B"),  # two begin so: left as it is, and refused
        (TOWN, "4", "4"),
        (SIZES, "2", "2"),
        (Variable("x", "real"), "2", "2"),
    ],
)
def test_a_level_is_picked_by_number_or_beginning(variable, raw, level):
    assert picked(variable, raw) == level


def test_a_level_goes_before_a_command_of_its_letter():
    assert as_command("b", TOWN) is Command.BACK
    assert as_command("b", GRADES) is None
    assert as_command(":b", GRADES) is Command.BACK
    assert as_command("Q", GRADES) is Command.STOP
    assert as_command("ba", TOWN) is None


def test_choices_are_numbered_unless_they_are_numbers():
    assert choices(TOWN).plain == "1 Aber   2 Bala   3 Brecon"
    assert choices(SIZES).plain == "1   2   3"
    assert choices(GRADES).plain == "1 a   2 b   3 C+   type :b for back"


def test_what_is_expected_is_said_as_people_do():
    assert expected(Variable("x", "count")) == "a whole number"
    assert expected(Variable("x", "real", low=0, unit="kg")) == "a number, 0 and up, in kg"
    assert expected(TOWN) == "one of Aber, Bala, Brecon"


def test_a_picture_keeps_to_the_range_of_its_variable(model):
    belief = Interview(model, "weight").predict()
    picture = Picture.of(belief)
    assert picture.low < belief.interval[0] < belief.interval[1] < picture.high
    assert "kg (90%: " in picture.words(belief)


def test_a_share_is_a_bar_of_its_length():
    assert terminal.share_bar(0.25, 8).plain == "━━······"
    assert terminal.share_bar(-1, 4).plain == "····"
    assert terminal.share_bar(7, 4).plain == "━━━━"


def test_a_record_is_kept_and_read_again(tmp_path):
    record = Record(("stage",), (Answer("age", {"age": 61.0}),))
    assert read_record(tmp_path / "r.json") is None
    keep_record(record, tmp_path / "r.json")
    assert read_record(tmp_path / "r.json") == record
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]


@pytest.mark.parametrize("text", ["{", json.dumps({"key": "k"}), "[]"])
def test_a_file_that_is_no_record_is_refused(tmp_path, text):
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(AnswerError, match="not the record of an interview"):
        read_record(tmp_path / "r.json")
