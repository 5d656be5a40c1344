"""Pictures: every kind in every format, whatever the names, and nothing left behind."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import eddi
from eddi import Schema, Variable
from eddi.errors import EvaluationError, MissingExtraError, TableError
from eddi.evaluate import figures, plots
from eddi.evaluate.curves import Curves
from eddi.evaluate.decision_trace import decisions
from eddi.evaluate.simulate import simulate
from eddi.partial_vae import PartialVAE
from eddi.strategy import Information, PerCost, Random

HEADS = {".png": b"\x89PNG\r\n", ".svg": b"<?xml", ".pdf": b"%PDF-"}


@pytest.fixture(scope="module")
def full(people: Any) -> pd.DataFrame:
    return people(30, seed=7, holes=0.0)


@pytest.fixture(scope="module")
def curves(model: PartialVAE, full: pd.DataFrame) -> dict[str, dict[str, Curves]]:
    """Two strategies by the name of the target."""
    few = Information(n_draws=8)
    return {
        target: {
            "EDDI": simulate(model, full, target, strategy=few),
            "at random": simulate(model, full, target, strategy=Random(), stop=eddi.Stop(after=4)),
        }
        for target in ("age", "smoker", "town")
    }


def inside(path: Path) -> bytes:
    head = path.read_bytes()
    assert head.startswith(HEADS[path.suffix.lower()])
    assert len(head) > 2000
    return head


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf", ".PNG"])
def test_every_picture_comes_in_the_format_of_its_name(
    curves: Any, model: PartialVAE, full: pd.DataFrame, tmp_path: Path, suffix: str
) -> None:
    def place(name: str) -> Path:
        return tmp_path / f"{name}{suffix}"

    plots.information_curves(curves["age"], place("curves"), target="age", unit="years")
    plots.choices(curves["age"]["EDDI"], place("choices"))
    plots.calibration(curves["age"]["EDDI"], place("calibration"))
    plots.decision_process(model, full.iloc[:1], place("decision"), target="age", n_steps=2)
    for name in ("curves", "choices", "calibration", "decision"):
        inside(place(name))


@pytest.mark.parametrize("target", ["smoker", "town"])
@pytest.mark.parametrize("against", ["steps", "cost"])
def test_levels_have_their_pictures_too(curves: Any, tmp_path: Path, target: str, against: Any) -> None:
    for metric in ("rmse", "nll", "accuracy", "brier"):
        path = tmp_path / f"{metric}.svg"
        plots.information_curves(curves[target], path, metric=metric, against=against)
        inside(path)
    plots.calibration(curves[target]["EDDI"], tmp_path / "calibration.svg", steps=(0, 1))
    inside(tmp_path / "calibration.svg")


def test_a_picture_in_another_format_is_refused_before_any_work(tmp_path: Path, curves: Any) -> None:
    with pytest.raises(EvaluationError, match=r"PNG, SVG or PDF.*ends in '.jpg'.*End its name in .png"):
        plots.information_curves(curves["age"], tmp_path / "curve.jpg")
    with pytest.raises(EvaluationError, match="has no extension"):
        plots.decision_process(None, None, tmp_path / "curve")  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def test_a_picture_of_nothing_is_refused(
    curves: Any, model: PartialVAE, full: Any, tmp_path: Path
) -> None:
    with pytest.raises(EvaluationError, match="no curve to draw"):
        plots.information_curves({}, tmp_path / "x.png")
    with pytest.raises(EvaluationError, match="'steps' or 'cost', not 'time'"):
        plots.information_curves(curves["age"], tmp_path / "x.png", against="time")  # type: ignore[arg-type]
    with pytest.raises(EvaluationError, match="is a quantity and has no accuracy"):
        plots.information_curves(curves["age"], tmp_path / "x.png", metric="accuracy")
    with pytest.raises(EvaluationError, match="no step 9; steps go from 0 to 7"):
        plots.calibration(curves["age"]["EDDI"], tmp_path / "x.png", steps=(0, 9))
    with pytest.raises(EvaluationError, match="no question was asked"):
        plots.choices(simulate(model, full, "age", max_steps=0), tmp_path / "x.png")
    with pytest.raises(TableError, match="one row, got 30"):
        plots.decision_process(model, full, tmp_path / "x.png", target="age")
    nobody = full.iloc[:1].assign(**dict.fromkeys(set(full.columns) - {"name", "age"}, None))
    with pytest.raises(EvaluationError, match="nothing could be asked"):
        plots.decision_process(model, nobody, tmp_path / "x.png", target="age")
    assert not list(tmp_path.iterdir())


def test_names_are_drawn_as_they_are_long_or_strange(tmp_path: Path) -> None:
    strange = [f"_{place} $x$ Größe µ \n of a very long question indeed" for place in range(40)]
    schema = Schema(tuple(Variable(name, "real") for name in [*strange, "y"]))
    numbers = np.random.default_rng(0).normal(size=(30, 41))
    table = pd.DataFrame(numbers, columns=[*strange, "y"])
    model = PartialVAE(schema, "y", max_steps=2, random_state=0).fit(table)
    found = simulate(model, table, strategy=Random())
    plots.choices(found, tmp_path / "choices.png")
    plots.information_curves({"_hidden?": found, "$1$": found}, tmp_path / "curves.png")
    plots.decision_process(model, table.iloc[:1], tmp_path / "decision.png", n_steps=1)
    for path in tmp_path.iterdir():
        inside(path)


def test_a_label_keeps_both_ends_of_a_long_name() -> None:
    assert figures.label("short") == "short"
    long = figures.label("the mean radius of the nucleus, in micrometres (worst)")
    assert len(long) <= figures.LONGEST_LABEL
    assert long.startswith("the mean radius")
    assert long.endswith("s (worst)")
    assert figures.label("a $b$\n c") == r"a \$b\$ c"
    assert not figures.label("_hidden").startswith("_")


def test_decisions_are_those_of_the_interview(model: PartialVAE, full: pd.DataFrame) -> None:
    found, truth = decisions(model, full.iloc[:1], "age", n_steps=3)
    interview = eddi.Interview(model, "age")
    names = [question.name for question in model.schema_.questions]
    for decision in found:
        rewards = interview.rewards()
        assert names[decision.chosen] == interview.ask().name  # type: ignore[union-attr]
        open_ = {names[k]: value for k, value in enumerate(decision.rewards) if not np.isnan(value)}
        assert open_ == pytest.approx(rewards, abs=1e-5)
        interview.tell(names[decision.chosen], full.iloc[0][names[decision.chosen]])
    assert found[0].draws.mean(0) == pytest.approx(np.zeros(8), abs=1e-6)
    assert found[0].draws.std(0) == pytest.approx(np.ones(8), abs=1e-6)
    assert found[2].known.sum() == 2
    assert not np.isnan(truth).any()


def test_questions_of_several_variables_and_other_strategies_have_a_decision_process(
    people_schema: Any, people: Any, full: pd.DataFrame, tmp_path: Path
) -> None:
    schema = people_schema.with_question("body", reveals=["weight", "visits", "pain"], cost=4)
    model = PartialVAE(schema, "age", max_steps=5, random_state=0).fit(people(100, seed=0))
    row = full.iloc[:1].assign(age=np.nan, town=None)
    plots.decision_process(model, row, tmp_path / "all.svg", strategy=PerCost(Information()), n_steps=9)
    inside(tmp_path / "all.svg")


def test_no_global_figure_is_opened(curves: Any, tmp_path: Path) -> None:
    plots.calibration(curves["age"]["EDDI"], tmp_path / "c.png")
    pyplot = sys.modules.get("matplotlib.pyplot")
    assert pyplot is None or not pyplot.get_fignums()


def test_without_matplotlib_it_says_what_to_install(
    curves: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"pip install eddi-ml\[plots\]"):
        plots.choices(curves["age"]["EDDI"], tmp_path / "c.png")
