"""Schemas, predictions, interviews and curves are small, accessible tables in a notebook."""

from html.parser import HTMLParser

import numpy as np
import pytest

import eddi
from eddi.model.prediction import Prediction
from eddi.table.text import MAX_HTML_ROWS, format_html_table

HOSTILE = '<script>alert("1")</script>'


class Tables(HTMLParser):
    """Collects captions and cells, and checks that every tag is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.captions: list[str] = []
        self.scopes: list[str | None] = []
        self.cells: list[str] = []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        assert tag in {"table", "caption", "thead", "tbody", "tr", "th", "td"}
        if tag == "th":
            self.scopes.append(dict(attrs).get("scope"))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "caption":
            self.captions.append(data)
        elif self.open and self.open[-1] in ("td", "th"):
            self.cells.append(data)


@pytest.fixture(scope="module")
def schema() -> eddi.Schema:
    variables = [
        eddi.Variable("age", "real", low=18, high=90, unit="years"),
        eddi.Variable(HOSTILE, "category", levels=("<b>", "&amp;", "c")),
    ]
    return eddi.Schema(tuple(variables)).with_question("age", text="How old?", cost=2)


def test_a_schema_shows_each_variable_with_its_question(schema):
    tables = Tables(schema._repr_html_())
    assert tables.captions == ["Schema: 2 variables, 2 questions"]
    assert tables.cells[5:10] == ["age", "real", "18 to 90 years", "How old?", "2"]
    assert set(tables.scopes) == {"row", "col"}


def test_names_and_levels_are_escaped(schema):
    text = schema._repr_html_()
    assert "<script" not in text
    assert "&lt;b&gt;, &amp;amp;, c" in text
    assert HOSTILE in Tables(text).cells


def test_a_prediction_of_a_quantity_shows_its_interval(schema):
    prediction = Prediction(schema["age"], np.array([40.0]), np.array([2.0]), np.array([[36.0, 44.0]]))
    assert Tables(prediction._repr_html_()).cells[4:] == ["0", "40", "2", "36 to 44"]
    assert Tables(prediction[0]._repr_html_()).cells[4:] == ["age", "40", "2", "36 to 44"]


def test_a_prediction_of_levels_shows_their_probabilities(schema):
    nan, probabilities = np.full(2, np.nan), np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])
    prediction = Prediction(schema[HOSTILE], nan, nan, np.full((2, 2), np.nan), probabilities)
    assert Tables(prediction._repr_html_()).cells[4:8] == ["0", "50.0%", "30.0%", "20.0%"]
    assert Tables(prediction[1]._repr_html_()).cells[4:] == [HOSTILE, "10.0%", "10.0%", "80.0%"]


def test_an_interview_shows_answers_and_predictions(model):
    interview = eddi.Interview(model, target="weight")
    assert len(Tables(interview._repr_html_()).captions) == 2
    interview.tell("age", 41)
    interview.tell("smoker", eddi.DECLINED)
    cells = Tables(interview._repr_html_()).cells
    assert cells[3:9] == ["age", "age", "41", "smoker", "smoker", "declined"]
    assert "weight" in cells


def test_curves_show_the_metrics_of_every_step(model, people):
    curves = eddi.simulate(model, people(8, 1), target="weight", max_steps=2)
    tables = Tables(curves._repr_html_())
    assert tables.cells[:4] == ["asked", "RMSE", "NLL", "most frequent question"]
    assert tables.cells[5] == f"{curves.rmse[0]:.4g}"
    assert tables.scopes.count("row") == 3


def test_a_long_table_is_shortened():
    rows = [(number, "x") for number in range(MAX_HTML_ROWS + 5)]
    tables = Tables(format_html_table("<long>", ("row", "cell"), rows))
    assert tables.cells[-1] == "and 5 more"
    assert tables.captions == ["long"]
