"""`eddi ask`: one stateless step from JSON to JSON."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from eddi import Interview, Stop
from eddi.cli import app
from eddi.interview.documents import describe
from eddi.model.files.archive import save
from eddi.table.languages.translations import QuestionTexts, VariableTexts


@pytest.fixture
def model_file(model, tmp_path):
    path = tmp_path / "people.eddi"
    model.save(path)
    return path


def ask(model_file, text, *options):
    return CliRunner().invoke(app, ["ask", str(model_file), "-t", "stage", *options], input=text)


def parse_step(result):
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout, parse_constant=pytest.fail)


def test_the_output_is_the_next_step_of_the_interview(model, model_file: Path) -> None:
    interview = Interview(model, "stage", stop=Stop(after=3, budget=4))
    interview.tell("age", 61)
    text = json.dumps({"answers": {"age": 61}})
    step = parse_step(ask(model_file, text, "--after", "3", "--budget", "4"))
    assert step == json.loads(json.dumps(describe(interview)))


def test_empty_input_and_an_empty_object_start_an_interview(model_file: Path) -> None:
    assert parse_step(ask(model_file, "")) == parse_step(ask(model_file, "{}"))


def test_the_stopping_rule_ends_the_interview(model_file: Path) -> None:
    text = '{"answers": {"smoker": "yes"}}'
    assert parse_step(ask(model_file, text, "--after", "1"))["question"] is None
    assert (
        parse_step(ask(model_file, '{"answers": {"smoker": null}}', "--budget", "1"))["question"] is None
    )
    assert parse_step(ask(model_file, text, "--budget", "2"))["question"] is not None


def test_the_record_of_an_interview_is_valid_input(model, model_file: Path) -> None:
    interview = Interview(model, "stage")
    interview.tell("age", 61)
    step = parse_step(ask(model_file, json.dumps(interview.record.to_document())))
    assert step == json.loads(json.dumps(describe(interview)))


@pytest.mark.parametrize("text", ["{", "\udcff"])
def test_input_that_is_not_json_is_refused(model_file: Path, text: str) -> None:
    result = ask(model_file, text.encode("utf-8", "surrogateescape"))
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "standard input is not JSON" in result.stderr


def test_asking_step_by_step_asks_the_questions_of_an_interview(model, model_file: Path, people) -> None:
    """The command keeps no state: every step gets all answers so far."""
    row = people(1, seed=8, missing=0.0).iloc[0]
    interview, answers = Interview(model, "stage"), {}
    while (
        question := parse_step(ask(model_file, json.dumps({"answers": answers})))["question"]
    ) is not None:
        assert question["name"] == interview.ask().name
        answers[question["name"]] = row[question["name"]]
        interview.tell(question["name"], row[question["name"]])
    assert interview.ask() is None
    assert len(answers) == 7


@pytest.fixture
def bilingual_file(model, tmp_path):
    """A model file whose schema has texts in German."""
    texts = {"de": QuestionTexts("Wie alt sind Sie?")}
    schema = model.schema_.with_question("age", text="How old are you?", translations=texts)
    schema = schema.with_variable(
        replace(schema["age"], translations={"de": VariableTexts(unit="Jahre")})
    )
    path = tmp_path / "bilingual.eddi"
    save(replace(model.fitted(), schema=schema), path)
    return path


def test_the_question_has_the_texts_of_a_language(bilingual_file: Path) -> None:
    answers = dict.fromkeys(("visits", "smoker", "pain", "town", "weight", "colour"))
    text = json.dumps({"answers": answers})
    german = parse_step(ask(bilingual_file, text, "--language", "de"))["question"]
    assert (german["text"], german["reveals"][0]["unit"]) == ("Wie alt sind Sie?", "Jahre")
    assert parse_step(ask(bilingual_file, text))["question"]["text"] == "How old are you?"


def test_a_language_that_the_schema_lacks_is_refused(bilingual_file: Path) -> None:
    result = ask(bilingual_file, "", "--language", "fr")
    assert result.exit_code == 1
    assert "no texts in 'fr'. Languages are: de" in " ".join(result.stderr.split())
