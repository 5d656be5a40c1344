"""The comparison of `eddi demo` prints what was measured."""

import io
from pathlib import Path

import pytest
from rich.console import Console

import eddi
from eddi import demo
from eddi.cli import demo_comparison

from .conftest import DemoRun

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def comparison(demo_run: DemoRun) -> str:
    """The output of the comparison, with few people."""
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        table = demo.load_table().slice(0, 30)  # a fifth is held out
        patch.setattr(demo, "load_table", lambda: table)
        patch.setattr("eddi.strategy.fixed_order.N_DRAWN_ROWS", 5)
        demo_comparison.compare_strategies(Console(file=out, width=100), demo_run.model, demo_run.folder)
    return out.getvalue()


def test_all_strategies_begin_and_end_with_the_same_estimates(comparison: str) -> None:
    lines = [line.split() for line in comparison.splitlines() if line.rstrip().endswith("%")]
    rows = [line for line in lines if line[-1] != line[0]][:3]
    assert [row[0] for row in rows] == ["EDDI", "one", "random"]
    numbers = [[cell for cell in row if cell.endswith("%")] for row in rows]
    assert {row[0] for row in numbers} == {"50%"}
    assert len({row[-1] for row in numbers}) == 1
    assert {len(row) for row in numbers} == {len(demo_comparison.STEPS_SHOWN) + 1}


def test_it_compares_the_number_of_questions_and_the_trivial_guess(comparison: str) -> None:
    text = " ".join(comparison.split())
    assert "6 held-out people" in text
    assert "EDDI needs" in text
    assert "a random order" in text
    assert "Always guessing “normal” is right for" in text
    assert max(map(len, comparison.splitlines())) <= 100


def test_it_writes_the_figure_that_it_names(comparison: str, demo_run: DemoRun) -> None:
    path = demo_run.folder / demo_comparison.FIGURE_FILE
    assert path.stat().st_size > 1000
    assert path.name in comparison


def test_without_matplotlib_it_says_how_to_get_the_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, demo_run: DemoRun
) -> None:
    def raise_missing(*_: object, **__: object) -> None:
        raise eddi.errors.MissingExtraError("plots need matplotlib. Install it.")

    monkeypatch.setattr(demo_comparison.plots, "information_curves", raise_missing)
    rows = demo.load_table().slice(0, 5)
    curves = {"random order": eddi.simulate(demo_run.model, rows, max_steps=1)}
    assert "Install it" in demo_comparison.plot_curves(curves, tmp_path / "figure.png")
