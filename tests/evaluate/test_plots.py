"""Plots of simulations: the tests check the data of what was drawn, not only that a file exists."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import eddi
from eddi import Schema, Variable
from eddi.errors import EvaluationError
from eddi.evaluate import figures, plots
from eddi.evaluate.calibration import Calibration
from eddi.evaluate.cost_frontier import CostFrontier
from eddi.evaluate.curves import Curves
from eddi.evaluate.simulate import simulate
from eddi.evaluate.streaming_curves import StreamingCurves
from eddi.partial_vae import PartialVAE
from eddi.strategy import Information, Random

PATH = "plot.png"


@pytest.fixture(scope="module")
def simulations(model: PartialVAE, people: Any) -> dict[str, dict[str, Curves]]:
    """Two strategies for each target."""
    table = people(30, seed=7, missing=0.0)
    return {
        target: {
            "EDDI": simulate(model, table, target, strategy=Information(n_draws=8)),
            "random": simulate(model, table, target, strategy=Random(), stop=eddi.Stop(after=4)),
        }
        for target in ("age", "smoker", "town")
    }


def legend_texts(holder: Any) -> list[str]:
    legend = holder.get_legend() if hasattr(holder, "get_legend") else holder.legends[0]
    return [text.get_text() for text in legend.get_texts()]


def band_at(axes: Any, index: int, x: float) -> tuple[float, float]:
    """Lower and upper end of a band at a place."""
    vertices = axes.collections[index].get_paths()[0].vertices
    heights = vertices[vertices[:, 0] == x, 1]
    return heights.min(), heights.max()


@pytest.mark.parametrize(
    ("target", "metric"),
    [
        *(("age", "rmse"), ("age", "draw_rmse"), ("smoker", "nll"), ("smoker", "accuracy")),
        *(("town", "rmse"), ("town", "brier")),
    ],
)
def test_each_information_curve_is_a_metric_at_every_step(
    simulations: Any, saved_figures: list[Any], target: str, metric: Any
) -> None:
    plots.information_curves(simulations[target], PATH, metric=metric)
    (axes,) = saved_figures[0].axes
    assert len(axes.lines) == 2
    for line, curves in zip(axes.lines, simulations[target].values(), strict=True):
        assert line.get_xdata().tolist() == list(range(curves.n_steps + 1))
        unit = np.log(2) if metric == "nll" else 1.0  # log-likelihoods are shown in bits
        np.testing.assert_allclose(line.get_ydata(), getattr(curves, metric) / unit)


def test_bands_of_information_curves_are_one_standard_error_to_either_side(
    simulations: Any, saved_figures: list[Any]
) -> None:
    plots.information_curves(simulations["age"], PATH)
    (axes,) = saved_figures[0].axes
    for index, curves in enumerate(simulations["age"].values()):
        for step in range(curves.n_steps + 1):
            value, error = curves.rmse[step], curves.standard_error[step]
            assert band_at(axes, index, step) == pytest.approx((value - error, value + error))


@pytest.mark.parametrize("target", ["age", "smoker", "town"])
def test_information_curves_over_cost_are_step_functions(
    simulations: Any, saved_figures: list[Any], target: str
) -> None:
    plots.information_curves(simulations[target], PATH, metric="nll", against="cost")
    (axes,) = saved_figures[0].axes
    assert axes.get_xlabel() == "cost"
    for line, curves in zip(axes.lines, simulations[target].values(), strict=True):
        costs = np.unique(curves.spent)
        np.testing.assert_array_equal(line.get_xdata(), costs)
        np.testing.assert_allclose(line.get_ydata(), curves.by_cost(costs).nll / np.log(2))
        assert line.get_drawstyle() == "steps-post"


def test_many_different_costs_are_thinned_out(
    curves_with_errors: Any, saved_figures: list[Any], monkeypatch: Any
) -> None:
    monkeypatch.setattr(plots, "MAX_COST_POINTS", 3)
    curves = curves_with_errors([[3, 2, 1, 1, 0]])
    plots.information_curves({"a": curves}, PATH, against="cost")
    (line,) = saved_figures[0].axes[0].lines
    assert line.get_xdata().tolist() == [0, 2, 4]
    assert line.get_ydata().tolist() == [3, 1, 0]


def test_information_curves_have_labelled_axes_and_a_legend(
    simulations: Any, saved_figures: list[Any]
) -> None:
    plots.information_curves(simulations["age"], PATH)
    plots.information_curves(simulations["age"], PATH, target="Age", unit="months")
    plots.information_curves(simulations["smoker"], PATH, metric="nll")
    first, renamed, nll = (figure.axes[0] for figure in saved_figures)
    assert first.get_xlabel() == "questions asked"
    assert first.get_ylabel() == "age: error (RMSE), years"
    assert legend_texts(first) == ["EDDI", "random"]
    assert renamed.get_ylabel() == "Age: error (RMSE), months"
    assert nll.get_ylabel() == "smoker: negative log-likelihood (bits)"


def test_streaming_curves_have_the_line_of_curves(simulations: Any, saved_figures: list[Any]) -> None:
    curves = simulations["age"]["EDDI"]
    plots.information_curves({"stream": StreamingCurves.from_curves(curves)}, PATH)
    (line,) = saved_figures[0].axes[0].lines
    np.testing.assert_allclose(line.get_ydata(), curves.rmse)


def test_streaming_curves_have_no_cost_axis(simulations: Any) -> None:
    streaming = StreamingCurves.from_curves(simulations["age"]["EDDI"])
    with pytest.raises(EvaluationError, match="streamed rows have no cost axis"):
        plots.information_curves({"stream": streaming}, PATH, against="cost")


def test_information_curves_reject_wrong_arguments(simulations: Any) -> None:
    with pytest.raises(EvaluationError, match="no curve to plot"):
        plots.information_curves({}, PATH)
    with pytest.raises(EvaluationError, match="'steps' or 'cost', not 'time'"):
        plots.information_curves(simulations["age"], PATH, against="time")  # type: ignore[arg-type]
    with pytest.raises(EvaluationError, match="is a quantity and has no accuracy"):
        plots.information_curves(simulations["age"], PATH, metric="accuracy")
    with pytest.raises(EvaluationError, match=r"ends in '\.jpg'"):
        plots.information_curves(simulations["age"], "plot.jpg")


@pytest.fixture
def frontier(curves_with_errors: Any) -> CostFrontier:
    every = curves_with_errors([[3, 2, 1], [3, 1, 0]])
    none = curves_with_errors([[3], [4]])
    return CostFrontier((0.0, 10.0), (every, none))


def test_points_of_a_cost_frontier_are_cost_and_final_error(
    frontier: CostFrontier, saved_figures: list[Any]
) -> None:
    plots.cost_frontier({"EDDI": frontier, "other": frontier}, PATH)
    (axes,) = saved_figures[0].axes
    assert legend_texts(axes) == ["EDDI", "other"]
    for container in axes.containers:
        line, _, (bars,) = container.lines
        assert line.get_xdata().tolist() == [2, 0]
        assert line.get_ydata() == pytest.approx([np.sqrt(1 / 2), np.sqrt(25 / 2)])
        heights = [segment[1, 1] - segment[0, 1] for segment in bars.get_segments()]
        assert heights == pytest.approx(2 * frontier.standard_error())
    assert axes.get_ylabel() == "risk: error (RMSE)"
    assert axes.get_xlabel() == "mean cost of an interview"


def test_a_plot_of_frontiers_needs_at_least_one() -> None:
    with pytest.raises(EvaluationError, match="no cost frontier to plot"):
        plots.cost_frontier({}, PATH)


CHOICES = np.array([[2, 0], [2, 0], [0, 2], [2, -1]])
CHOICE_SHARES = np.array([[75.0, 25.0], [25.0, 50.0]])  # questions c and a; b is never asked


@pytest.fixture
def choice_curves(curves_with_errors: Any) -> Curves:
    curves = curves_with_errors(np.zeros((4, 3)))
    curves.order[:] = CHOICES
    return curves


def test_choices_are_shares_of_rows_with_the_earliest_question_on_top(
    choice_curves: Curves, saved_figures: list[Any]
) -> None:
    plots.choices(choice_curves, PATH)
    axes = saved_figures[0].axes[0]
    np.testing.assert_allclose(axes.images[0].get_array(), CHOICE_SHARES)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["c", "a"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "2"]
    assert [text.get_text() for text in axes.texts] == ["75", "25", "25", "50"]
    assert axes.get_title(loc="left") == "Questions asked of 4 rows"


def test_the_number_of_steps_of_choices_can_be_limited(
    choice_curves: Curves, saved_figures: list[Any]
) -> None:
    plots.choices(choice_curves, PATH, n_steps=1)
    np.testing.assert_allclose(saved_figures[0].axes[0].images[0].get_array(), CHOICE_SHARES[:, :1])


def test_a_large_heat_map_has_no_numbers(
    choice_curves: Curves, saved_figures: list[Any], monkeypatch: Any
) -> None:
    monkeypatch.setattr(plots, "MAX_CELL_LABELS", 3)
    plots.choices(choice_curves, PATH)
    assert not saved_figures[0].axes[0].texts


def test_choices_need_at_least_one_question(curves_with_errors: Any) -> None:
    with pytest.raises(EvaluationError, match="no question was asked"):
        plots.choices(curves_with_errors([[1.0]]), PATH)


@pytest.mark.parametrize("target", ["age", "smoker", "town"])
def test_calibration_is_that_of_the_first_middle_and_last_step(
    simulations: Any, saved_figures: list[Any], target: str
) -> None:
    curves = simulations[target]["EDDI"]
    plots.calibration(curves, PATH)
    diagonal, *lines = (
        line for line in saved_figures[0].axes[0].lines if not line.get_label().startswith("_")
    )
    assert [*diagonal.get_xdata(), *diagonal.get_ydata()] == [0, 1, 0, 1]
    assert len(lines) == 3
    for line, step in zip(lines, (0, 4, 7), strict=True):
        expected = Calibration.from_curves(curves, step)
        np.testing.assert_array_equal(line.get_xdata(), expected.predicted)
        np.testing.assert_array_equal(line.get_ydata(), expected.observed)
    texts = ["perfect", "before the first question", "after 4 questions", "after 7 questions"]
    assert legend_texts(saved_figures[0]) == texts


@pytest.mark.parametrize(
    ("target", "x_label", "y_label"),
    [
        ("age", "nominal coverage of the interval", "observed coverage"),
        ("smoker", "predicted probability of yes", "observed frequency"),
        ("town", "predicted probability of the most likely level", "observed frequency"),
    ],
)
def test_the_axes_of_a_calibration_plot_say_what_is_compared(
    simulations: Any, saved_figures: list[Any], target: str, x_label: str, y_label: str
) -> None:
    plots.calibration(simulations[target]["EDDI"], PATH, steps=(1,))
    axes = saved_figures[0].axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == (x_label, y_label)
    assert legend_texts(saved_figures[0]) == ["perfect", "after 1 question"]


def test_error_bars_of_calibrated_levels_are_one_standard_error(
    simulations: Any, saved_figures: list[Any]
) -> None:
    curves = simulations["smoker"]["EDDI"]
    plots.calibration(curves, PATH, steps=(7,))
    expected = Calibration.from_curves(curves, 7)
    (bars,) = saved_figures[0].axes[0].collections
    ends = np.array([segment[:, 1] for segment in bars.get_segments()])
    np.testing.assert_allclose(ends, np.stack([expected.low, expected.high], axis=1))


def test_the_calibration_of_a_step_that_does_not_exist_is_an_error(simulations: Any) -> None:
    with pytest.raises(EvaluationError, match="no step 9; steps go from 0 to 7"):
        plots.calibration(simulations["age"]["EDDI"], PATH, steps=(0, 9))


def test_every_plot_writes_its_file(
    simulations: Any, model: PartialVAE, people: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(figures, "DOTS_PER_INCH", 40)
    curves = simulations["age"]["EDDI"]
    plots.information_curves(simulations["age"], tmp_path / "curves.png")
    plots.choices(curves, tmp_path / "choices.png")
    plots.calibration(curves, tmp_path / "calibration.png")
    plots.cost_frontier({"EDDI": CostFrontier((0.0,), (curves,))}, tmp_path / "frontier.png")
    row = people(1, seed=7, missing=0.0)
    plots.decision_process(model, row, tmp_path / "decisions.png", target="age", n_steps=1)
    files = sorted(tmp_path.iterdir())
    assert len(files) == 5
    assert all(file.read_bytes().startswith(b"\x89PNG\r\n") for file in files)


def test_failed_plots_leave_no_file(simulations: Any, tmp_path: Path) -> None:
    with pytest.raises(EvaluationError):
        plots.information_curves(simulations["age"], tmp_path / "a.png", metric="accuracy")
    with pytest.raises(EvaluationError):
        plots.calibration(simulations["age"]["EDDI"], tmp_path / "b.png", steps=(9,))
    assert not list(tmp_path.iterdir())


def test_long_names_with_special_characters_can_be_drawn(tmp_path: Path) -> None:
    names = [f"_{k} $x$ Größe µ \n of a very long question indeed" for k in range(12)]
    schema = Schema(tuple(Variable(name, "real") for name in [*names, "y"]))
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 13)), columns=[*names, "y"])
    model = PartialVAE(schema, "y", max_steps=2, random_state=0).fit(table)
    curves = simulate(model, table, strategy=Random(), max_steps=3)
    # SVG contains text as paths, with the text itself in comments.
    plots.choices(curves, tmp_path / "choices.svg")
    plots.information_curves({"_hidden?": curves, "$1$": curves}, tmp_path / "curves.svg")
    plots.decision_process(model, table.iloc[:1], tmp_path / "decisions.svg", n_steps=1)
    svg = (tmp_path / "curves.svg").read_text(encoding="utf-8")
    assert re.search(r"<!--\s+_hidden\?\s+-->", svg)
    assert "$1" in svg.replace("\\", "")
    assert "Größe" in (tmp_path / "choices.svg").read_text(encoding="utf-8")
    assert "Größe" in (tmp_path / "decisions.svg").read_text(encoding="utf-8")
