"""Messages, numbers, tables and bars in the terminal."""

import io

import pytest
from rich.console import Console

from eddi.cli import terminal
from eddi.model.training.checkpoint import Progress
from eddi.table.schema import Schema
from eddi.table.variable import Kind, Variable


def test_the_remaining_time_of_a_resumed_run_is_measured_from_its_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(terminal, "SECONDS_BETWEEN_LINES", 0.0)
    out = io.StringIO()
    lines = terminal._TrainingLines(Console(file=out, width=100, highlight=False))
    lines(Progress(5000, 6000, 1.0, -1.0, -1.0, 500.0))
    lines(Progress(5100, 6000, 1.0, -0.5, -0.5, 501.0))
    assert out.getvalue().splitlines()[1] == "training: 5,100/6,000 steps  score -0.500  9 s left"


@pytest.mark.parametrize(("seconds", "text"), [(8, "8 s"), (200, "3 min"), (9000, "2.5 h")])
def test_durations_have_a_readable_unit(seconds: float, text: str) -> None:
    assert terminal.format_duration(seconds) == text


@pytest.mark.parametrize(("n_bytes", "text"), [(9, "9 bytes"), (340_000, "340 kB"), (2.1e6, "2.1 MB")])
def test_sizes_have_a_readable_unit(n_bytes: int, text: str) -> None:
    assert terminal.format_size(n_bytes) == text


def test_values_are_described_by_range_or_levels() -> None:
    assert terminal.describe_values(Variable("a", Kind.REAL, low=0, high=9, unit="kg")) == "0 to 9 kg"
    assert terminal.describe_values(Variable("a", Kind.COUNT, low=0)) == "0 and up"
    assert terminal.describe_values(Variable("a", Kind.REAL)) == "any number"
    assert terminal.describe_values(Variable("a", Kind.REAL, high=5)) == "up to 5"
    many = Variable("a", Kind.CATEGORY, tuple("abcdefgh"))
    assert terminal.describe_values(many) == "a, b, c, d, e, f and 2 more"


def test_names_with_brackets_are_not_markup() -> None:
    schema = Schema((Variable("dose [mg]", Kind.REAL), Variable("[red]x", Kind.REAL)))
    out = io.StringIO()
    Console(file=out, width=100).print(terminal.build_schema_table(schema))
    assert "dose [mg], [red]x" in out.getvalue()


def test_json_has_null_for_numbers_that_are_not_finite() -> None:
    assert terminal.to_json([float("inf"), float("nan"), 1.5]).split() == [
        "[",
        "null,",
        "null,",
        "1.5",
        "]",
    ]


def test_an_interval_is_drawn_on_its_scale() -> None:
    def draw(interval: tuple[float, float], mean: float, width: int) -> str:
        return terminal.draw_interval(interval, mean, scale=(0, 100), width=width).plain

    assert draw((25, 75), 50, 21) == "·····━━━━━●━━━━━·····"
    assert draw((-50, 500), 500, 5) == "━━━━●"


def test_a_marker_is_drawn_on_its_scale() -> None:
    assert terminal.draw_marker(100, scale=(0, 100), width=5).plain == "    ▲"


def test_a_share_is_drawn_as_a_bar_within_its_width() -> None:
    assert terminal.draw_share(0.25, 8).plain == "━━······"
    assert terminal.draw_share(-1, 4).plain == "····"
    assert terminal.draw_share(7, 4).plain == "━━━━"
