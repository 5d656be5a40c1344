"""The plot of decisions: bars, violins, truths and labels."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from eddi.errors import EvaluationError, TableError
from eddi.evaluate.decision_plot import _violin_outline, decision_process
from eddi.evaluate.decision_trace import trace_decisions
from eddi.evaluate.figures import BLUE, FAINT, GREEN, INK, VERMILION
from eddi.partial_vae import PartialVAE
from eddi.strategy import Information, PerCost

PATH = "decisions.png"


@pytest.fixture(scope="module")
def row(people: Any) -> pd.DataFrame:
    return people(1, seed=7, missing=0.0)


def lines_of_colour(axes: Any, colour: str, marker: str) -> list[Any]:
    return [x for x in axes.lines if x.get_color() == colour and x.get_marker() == marker]


def violins_of_colour(axes: Any, colour: str) -> list[Any]:
    return [v for v in axes.collections if to_hex(v.get_facecolor()[0]).upper() == colour.upper()]


def test_bars_show_the_rewards_and_mark_the_question_asked(
    model: PartialVAE, row: pd.DataFrame, saved_figures: list[Any]
) -> None:
    decision_process(model, row, PATH, target="age", n_steps=2)
    decisions, _ = trace_decisions(model, row, "age", n_steps=2)
    (figure,) = saved_figures
    assert len(figure.axes) == 4  # bars and violins of two steps
    for decision, axes in zip(decisions, figure.axes[::2], strict=True):
        open_questions = np.flatnonzero(~np.isnan(decision.rewards))
        widths = [bar.get_width() for bar in axes.patches]
        assert widths == pytest.approx(decision.rewards[open_questions] / np.log(2))
        colours = [to_hex(bar.get_facecolor()).upper() for bar in axes.patches]
        expected = [VERMILION if k == decision.chosen else BLUE for k in open_questions]
        assert colours == expected


def test_violins_show_unobserved_variables_and_lines_observed_ones(
    model: PartialVAE, row: pd.DataFrame, saved_figures: list[Any]
) -> None:
    decision_process(model, row, PATH, target="age", n_steps=3)
    for n_observed, axes in enumerate(saved_figures[0].axes[1::2]):
        assert len(violins_of_colour(axes, VERMILION)) == 1  # the question asked
        assert len(violins_of_colour(axes, BLUE)) == 6 - n_observed
        assert len(violins_of_colour(axes, GREEN)) == 1  # the target
        assert len(lines_of_colour(axes, INK, "o")) == 8 - n_observed  # truths
        assert len(lines_of_colour(axes, FAINT, "None")) == n_observed


def test_a_dot_marks_the_truth(model: PartialVAE, row: pd.DataFrame, saved_figures: list[Any]) -> None:
    decision_process(model, row, PATH, target="age", n_steps=1)
    _, truth = trace_decisions(model, row, "age", n_steps=1)
    dots = lines_of_colour(saved_figures[0].axes[1], INK, "o")
    assert [float(dot.get_xdata()[0]) for dot in dots] == pytest.approx([*truth[1:], truth[0]])


def test_rows_are_labelled_with_the_questions_and_the_target(
    model: PartialVAE, row: pd.DataFrame, saved_figures: list[Any]
) -> None:
    decision_process(model, row, PATH, target="age", n_steps=1)
    bars, violins = saved_figures[0].axes
    labels = [label.get_text() for label in bars.get_yticklabels()]
    assert labels == ["visits", "smoker", "pain", "town", "weight", "colour", "stage", "age"]
    assert bars.get_title(loc="left") == "Question 1"
    assert bars.get_xlabel() == "information (bits)"
    assert violins.get_xlabel() == "prediction (sd)"
    (legend,) = saved_figures[0].legends
    texts = [text.get_text() for text in legend.get_texts()]
    assert texts == ["asked", "not asked", "target", "observed", "truth"]


def test_a_question_that_reveals_several_variables_has_a_violin_for_each(
    people_schema: Any, with_schema: Any, row: pd.DataFrame, saved_figures: list[Any]
) -> None:
    schema = people_schema.with_question("body", reveals=["weight", "visits", "pain"], cost=4)
    incomplete = row.assign(age=np.nan, town=None)
    strategy = PerCost(Information())
    decision_process(with_schema(schema), incomplete, PATH, target="age", strategy=strategy, n_steps=9)
    axes = saved_figures[0].axes
    assert len(axes) == 2 * 4  # town has no answer; body, smoker, colour and stage are asked
    assert len(axes[1].collections) == 8
    assert axes[0].get_xlabel() == "score"  # only the scores of Information are nats


@pytest.mark.usefixtures("saved_figures")
def test_a_row_without_any_answer_is_an_error(model: PartialVAE, row: pd.DataFrame) -> None:
    empty = row.assign(**dict.fromkeys(set(row.columns) - {"name", "age"}, None))
    with pytest.raises(EvaluationError, match="no question can be asked of this row"):
        decision_process(model, empty, PATH, target="age")


def test_several_rows_are_an_error(model: PartialVAE, row: pd.DataFrame) -> None:
    with pytest.raises(TableError, match="for one row, got 2"):
        decision_process(model, pd.concat([row, row]), PATH, target="age")


def test_the_file_format_is_checked_before_any_work() -> None:
    with pytest.raises(EvaluationError, match="has no extension"):
        decision_process(None, None, Path("decisions"))  # type: ignore[arg-type]


def test_the_outline_of_a_quantity_is_its_density(people_schema: Any) -> None:
    draws = np.random.default_rng(0).normal(size=2000)
    x, width = _violin_outline(draws, people_schema["age"])
    assert (x[0], x[-1]) == (draws.min(), draws.max())
    assert width.max() == 1
    assert x[width.argmax()] == pytest.approx(0, abs=0.3)


def test_the_outline_of_levels_has_a_block_for_each(people_schema: Any) -> None:
    draws = np.repeat([-1.0, 1.0], [30, 10])
    x, width = _violin_outline(draws, people_schema["smoker"])
    assert x.reshape(2, 4).mean(1) == pytest.approx([-1, 1])
    assert width.reshape(2, 4)[:, 1] == pytest.approx([1, 1 / 3])
