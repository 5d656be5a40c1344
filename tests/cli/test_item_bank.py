"""`eddi item-bank` writes a model file from item parameters."""

import json

import pytest
from typer.testing import CliRunner

from eddi.cli import app

ITEMS = """\
item,text,a,b1,b2,options
sad,I felt sad,2.5,-0.5,0.8,Never|Sometimes|Often
hope,I felt hopeless,3.1,0.1,1.2,Never|Sometimes|Often
"""


@pytest.fixture
def items(tmp_path):
    path = tmp_path / "items.csv"
    path.write_text(ITEMS)
    return path


def run(*arguments, stdin=None):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def test_a_table_of_items_becomes_a_model_that_asks_questions(items, tmp_path):
    bank = tmp_path / "mood.eddi"
    run("item-bank", items, "--trait", "mood", "-o", bank)
    step = json.loads(run("ask", bank, "--sd-below", 3, stdin='{"answers": {"sad": "3"}}'))
    assert step["question"]["name"] == "hope"
    assert step["prediction"]["mood"]["mean"] > 55


def test_information_standard_error_and_reliability_are_printed_by_score(items, tmp_path):
    text = run("item-bank", items, "-o", tmp_path / "bank.eddi", "--json")
    lines = json.loads(text)["traits"]["trait"]
    middle = lines[3]
    assert middle["score"] == 50
    assert middle["standard_error"] == pytest.approx(10 / (1 + middle["information"]) ** 0.5)
    assert middle["reliability"] == pytest.approx(1 - middle["standard_error"] ** 2 / 100)


def test_the_description_of_an_item_bank_is_its_card(items, tmp_path):
    run("item-bank", items, "-o", tmp_path / "bank.eddi")
    assert "# An EDDI item bank" in run("describe", tmp_path / "bank.eddi")


def test_the_information_of_the_items_is_plotted(items, tmp_path):
    run("item-bank", items, "-o", tmp_path / "bank.eddi", "--plot", tmp_path / "items.svg")
    assert (tmp_path / "items.svg").stat().st_size > 1_000
