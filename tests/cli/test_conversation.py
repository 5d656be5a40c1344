"""The dialogue of `eddi interview`, line by line."""

import io

import pytest
from rich.console import Console

from eddi import DECLINED, UNKNOWN, Interview, Stop, Variable
from eddi.cli.conversation import (
    Command,
    Conversation,
    describe_expected,
    format_choices,
    match_level,
    parse_command,
    select_options,
)
from eddi.interview.record import Answer
from eddi.strategy import FixedOrder

ORDER = FixedOrder(("smoker", "body", "pain", "town", "colour", "visits"))
GRADES = Variable("grade", "category", ("a", "b", "C+"))
SIZES = Variable("size", "ordinal", (1, 2, 3))
TOWN = Variable("town", "category", ("Aber", "Bala", "Brecon"))


@pytest.fixture
def converse(body_model, monkeypatch):
    """Run a conversation with these lines as input; return the interview and the output."""

    def run(*lines, target="stage", record=None, stop=None):
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        out = io.StringIO()
        interview = Interview(body_model, target, strategy=ORDER, stop=stop, record=record)
        saved = []
        Conversation(interview, Console(file=out, width=100), saved.append).run()
        assert not saved or saved[-1] == interview.record
        return interview, out.getvalue()

    return run


def values(interview):
    return [dict(answer.values) for answer in interview.record.answers]


def test_questions_are_asked_until_the_stopping_rule_applies(converse):
    interview, shown = converse("yes", "61", "80", "mild", stop=Stop(after=3))
    assert values(interview) == [{"smoker": "yes"}, {"age": 61.0, "weight": 80.0}, {"pain": "mild"}]
    assert "1. smoker" in shown
    assert "2. body  cost 3" in shown
    assert "Interview complete. 3 questions, total cost 5." in shown
    assert "Effects of each answer on the probability of" in shown
    assert "measured by leaving out that answer alone" in shown
    assert "Next question: " in shown


@pytest.mark.parametrize(
    ("reply", "age"), [(("y",), 99_999), (("n", "61"), 61), (("", "61"), 61), (("yes",), 99_999)]
)
def test_a_value_out_of_range_must_be_confirmed(converse, reply, age):
    interview, shown = converse("yes", "99999", *reply, "80", stop=Stop(after=2))
    assert values(interview)[1] == {"age": age, "weight": 80}
    assert "Is 99999 correct? (y/n)" in shown


def test_the_end_of_the_input_ends_the_conversation(converse):
    interview, shown = converse("yes")
    assert values(interview) == [{"smoker": "yes"}]
    assert "Interview stopped. 1 question" in shown


def test_stopping_within_a_question_discards_its_answers(converse):
    interview, _ = converse("yes", "61", "q", "80")
    assert values(interview) == [{"smoker": "yes"}]


def test_the_effect_of_the_only_answer_is_the_change_of_the_shown_prediction(converse):
    interview, shown = converse("yes", "q")
    before = Interview(interview.model, "stage").predict()
    after = interview.predict("stage")
    level = int(after.probabilities.argmax())
    points = round(100 * (after.probabilities[level] - before.probabilities[level]))
    assert f"Effects of each answer on the probability of {after.value}" in shown
    assert f"{points:+d} points" in shown.split("Effects")[1]


def test_without_answers_no_effects_are_shown(converse):
    _, shown = converse("q")
    assert "Interview stopped. 0 questions" in shown
    assert "Effects" not in shown


def test_back_removes_the_last_answer(converse):
    interview, shown = converse("yes", "b", "no", "q")
    assert values(interview) == [{"smoker": "no"}]
    assert "Removed smoker: yes" in shown


def test_back_within_a_question_goes_to_its_previous_variable(converse):
    interview, _ = converse("yes", "61", "b", "62", "80", "q")
    assert values(interview)[1] == {"age": 62.0, "weight": 80.0}


def test_back_at_the_first_question_does_nothing(converse):
    interview, shown = converse("b", "yes", "q")
    assert "This is the first question." in shown
    assert values(interview) == [{"smoker": "yes"}]


def test_unknown_and_declined_are_recorded_separately(converse):
    interview, _ = converse("d", "61", "p", "p", "q")
    assert [answer.without for answer in interview.record.answers] == [
        {"smoker": UNKNOWN},
        {"weight": DECLINED},
        {"pain": DECLINED},
    ]


def test_a_question_mark_explains_the_question_and_asks_again(converse):
    interview, shown = converse("?", "yes", "q")
    assert "'smoker' is expected to give" in shown
    assert "Next best: 'body'" in shown
    assert values(interview) == [{"smoker": "yes"}]


def test_an_invalid_answer_is_explained_and_asked_again(converse):
    interview, shown = converse("maybe", "", "yes", "tall", "61", "80", "q")
    assert "'maybe' is not a valid answer. Type one of no, yes, or d if you don't know." in shown
    assert "   Type one of no, yes, or d" in shown
    assert "'tall' is not a valid answer. Type a number, in years, or d if you don't know." in shown
    assert len(interview.record.answers) == 2


def test_volunteered_answers_are_not_asked_again(converse, body_model):
    before = Interview(body_model, "stage")
    before.tell("smoker", "yes")
    before.tell("age", 61)
    interview, shown = converse("80", "q", record=before.record)
    assert interview.record.answers[2] == Answer("body", {"weight": 80.0})
    assert "age: 61 years" in shown


def test_a_numeric_target_is_drawn_on_a_scale(converse):
    _, shown = converse("late", "q", target="visits")
    assert "●" in shown
    assert "(90%:" in shown


def test_brackets_in_a_question_are_not_markup(with_schema, people_schema, monkeypatch):
    model = with_schema(people_schema.with_question("age", text="Your age [years]?"))
    monkeypatch.setattr("sys.stdin", io.StringIO("61\n"))
    out = io.StringIO()
    interview = Interview(model, "stage", strategy=FixedOrder(("age",)))
    Conversation(interview, Console(file=out, width=100), lambda _: None).run()
    assert "Your age [years]?" in out.getvalue()


@pytest.mark.parametrize(
    ("variable", "line", "level"),
    [
        (TOWN, "Bala", "Bala"),
        (TOWN, "2", "Bala"),
        (TOWN, "br", "Brecon"),
        (TOWN, "B", "B"),  # ambiguous, so it is left unchanged and rejected
        (TOWN, "4", "4"),
        (SIZES, "2", "2"),
        (Variable("x", "real"), "2", "2"),
    ],
)
def test_a_level_is_selected_by_number_or_unique_prefix(variable, line, level):
    assert match_level(variable, line) == level


def test_a_level_takes_precedence_over_a_command_with_the_same_letter():
    assert parse_command("b", TOWN) is Command.BACK
    assert parse_command("b", GRADES) is None
    assert parse_command(":b", GRADES) is Command.BACK
    assert parse_command("Q", GRADES) is Command.STOP
    assert parse_command("ba", TOWN) is None


def test_labels_are_shown_and_can_be_typed():
    coded = Variable("sad", "ordinal", (1, 2), labels=("Never", "Often"))
    assert str(format_choices(coded)) == "1 Never   2 Often"
    assert (match_level(coded, "often"), match_level(coded, "n"), match_level(coded, "x")) == (2, 1, "x")
    named = Variable("sad", "ordinal", ("lo", "hi"), labels=("Never", "Often"))
    assert str(format_choices(named)) == "1 Never   2 Often"
    assert match_level(named, "Often") == "hi"


def test_levels_are_numbered_unless_they_are_numbers():
    assert format_choices(TOWN).plain == "1 Aber   2 Bala   3 Brecon"
    assert format_choices(SIZES).plain == "1   2   3"
    assert format_choices(GRADES).plain == "1 a   2 b   3 C+   type :b for back"


def test_the_expected_answer_is_described():
    assert describe_expected(Variable("x", "count")) == "a whole number"
    assert describe_expected(Variable("x", "real", low=0, unit="kg")) == "a number, 0 and up, in kg"
    assert describe_expected(TOWN) == "one of Aber, Bala, Brecon"


TOOLS = Variable("options", "category", ("Excel", "R", "Stata", "none of these"))


@pytest.mark.parametrize(
    ("line", "selected"),
    [
        ("Excel, R", {"Excel", "R"}),
        ("1,3", {"Excel", "Stata"}),
        ("st; r", {"Stata", "R"}),
        ("4", set()),
        ("none", set()),
        ("excel, none", None),
        ("Excel, Julia", None),
        ("", None),
        ("Excel,", None),
    ],
)
def test_options_are_selected_by_name_or_number(line, selected):
    assert select_options(line, TOOLS) == selected


def test_a_multi_select_question_is_one_prompt(tools_model, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("Julia\nr, 1\nq\n"))
    out = io.StringIO()
    interview = Interview(tools_model, strategy=FixedOrder(("tools", "years")))
    Conversation(interview, Console(file=out, width=100), lambda _record: None).run()
    [answer] = interview.record.answers
    assert answer.values == {"tools: Excel": "yes", "tools: R": "yes", "tools: Stata": "no"}
    shown = out.getvalue()
    assert "1 Excel   2 R   3 Stata   4 none of these" in shown
    assert "Type all that apply, separated by commas." in shown
    assert "'Julia' is not a valid answer." in shown
    assert "Excel, R" in shown.split("Effects")[1]


def test_a_multi_select_question_may_be_unknown(tools_model, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("d\nq\n"))
    interview = Interview(tools_model, strategy=FixedOrder(("tools", "years")))
    Conversation(interview, Console(file=io.StringIO()), lambda _record: None).run()
    assert set(interview.record.answers[0].without.values()) == {UNKNOWN}
