"""The pieces of the command line that need no process of their own."""

import io
from pathlib import Path

import pyarrow as pa
import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

from eddi.cli import terminal
from eddi.cli.app import app
from eddi.cli.errors import check_output, kept_training, readable_errors
from eddi.cli.impute import as_written, csv_text, numbered
from eddi.errors import EddiError
from eddi.model.training.checkpoint import Progress
from eddi.table import formats
from eddi.table.schema import Schema
from eddi.table.variable import Kind, Variable


def filled_again(path: Path, **columns: list[object]) -> list[str]:
    table = formats.read(path)
    for name, cells in columns.items():
        table = table.set_column(table.column_names.index(name), name, pa.array(cells))
    return csv_text(as_written(path, formats.read(path), table)).splitlines()


def test_cells_keep_their_spelling_and_holes_take_it_up(tmp_path: Path) -> None:
    path = tmp_path / "holes.csv"
    path.write_text('zip,ok,x\n01234,True,1.50\n,?,\n"0,9",False,2e3\n')
    lines = filled_again(path, zip=["a", "b", "c"], ok=[True, False, False], x=[1.5, 7.25, 2000.0])
    assert lines == ["zip,ok,x", "01234,True,1.50", "b,False,7.25", '"0,9",False,2e3']


def test_a_file_of_one_column_keeps_its_empty_lines_as_holes(tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text("x\n1.0\n\n3.50\n")
    assert filled_again(path, x=[1.0, 2.0, 3.5]) == ["x", "1.0", "2", "3.50"]


def test_decimal_commas_are_rewritten_whole(tmp_path: Path) -> None:
    path = tmp_path / "comma.csv"
    path.write_text("x;y\n1,50;a\n;b\n")
    assert filled_again(path, x=[1.5, 2.25]) == ["x,y", "1.5,a", "2.25,b"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
@pytest.mark.filterwarnings("ignore:.*Latin-1")
def test_cells_are_found_in_any_encoding(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "coded.csv"
    path.write_text("où,x\né,1.0\nè,\n", encoding=encoding)
    assert filled_again(path, x=[1.0, 2.0]) == ["où,x", "é,1.0", "è,2"]


def test_draws_are_numbered_before_every_ending() -> None:
    assert numbered(Path("a b/filled.csv.gz"), 3) == Path("a b/filled-3.csv.gz")
    assert numbered(Path("filled"), 1) == Path("filled-1")


def test_an_output_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    check_output(tmp_path / "m.eddi")
    with pytest.raises(EddiError, match="is a folder"):
        check_output(tmp_path)
    with pytest.raises(EddiError, match="no folder"):
        check_output(tmp_path / "no" / "m.eddi")


def test_a_full_disk_is_told_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    partial = tmp_path / "m.eddi.partial"
    partial.touch()
    full = OSError(28, "No space left on device", "m.eddi")
    with pytest.raises(typer.Exit) as ended, readable_errors(), kept_training(partial):
        raise full
    assert ended.value.exit_code == 1
    said = capsys.readouterr().err
    assert "error: m.eddi: No space left on device." in said
    assert "the same command goes on from there" in said


def test_interrupting_before_a_checkpoint_promises_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as ended, kept_training(tmp_path / "m.eddi.partial"):
        raise KeyboardInterrupt
    assert ended.value.exit_code == 130
    assert "too early for a checkpoint" in capsys.readouterr().err


def test_a_mistake_of_ours_is_not_dressed_up() -> None:
    with pytest.raises(ZeroDivisionError), readable_errors():
        1 / 0  # noqa: B018


def test_no_words_at_all_show_the_help() -> None:
    assert "Usage: eddi" in CliRunner().invoke(app, []).output


def test_time_left_counts_from_where_a_run_resumed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "SECONDS_BETWEEN_LINES", 0.0)
    out = io.StringIO()
    lines = terminal._Lines(Console(file=out, width=100, highlight=False))
    lines(Progress(5000, 6000, 1.0, -1.0, -1.0, 500.0))
    lines(Progress(5100, 6000, 1.0, -0.5, -0.5, 501.0))
    assert out.getvalue().splitlines()[1] == "training: 5,100/6,000 steps  score -0.500  9 s left"


@pytest.mark.parametrize(("seconds", "words"), [(8, "8 s"), (200, "3 min"), (9000, "2.5 h")])
def test_durations_are_said_as_people_do(seconds: float, words: str) -> None:
    assert terminal.duration(seconds) == words


@pytest.mark.parametrize(("n_bytes", "words"), [(9, "9 bytes"), (340_000, "340 kB"), (2.1e6, "2.1 MB")])
def test_sizes_are_said_as_people_do(n_bytes: int, words: str) -> None:
    assert terminal.size(n_bytes) == words


def test_values_are_said_in_a_few_words() -> None:
    assert terminal.values(Variable("a", Kind.REAL, low=0, high=9, unit="kg")) == "0 to 9 kg"
    assert terminal.values(Variable("a", Kind.COUNT, low=0)) == "0 and up"
    assert terminal.values(Variable("a", Kind.REAL)) == "any number"
    assert terminal.values(Variable("a", Kind.REAL, high=5)) == "up to 5"
    many = Variable("a", Kind.CATEGORY, tuple("abcdefgh"))
    assert terminal.values(many) == "a, b, c, d, e, f and 2 more"


def test_names_with_brackets_are_not_markup() -> None:
    schema = Schema((Variable("dose [mg]", Kind.REAL), Variable("[red]x", Kind.REAL)))
    out = io.StringIO()
    Console(file=out, width=100).print(terminal.schema_table(schema))
    assert "dose [mg], [red]x" in out.getvalue()


def test_a_belief_bar_spans_its_interval() -> None:
    assert terminal.belief_bar((25, 75), 50, 0, 100, 21).plain == "·····━━━━━●━━━━━·····"
    assert terminal.belief_bar((-50, 500), 500, 0, 100, 5).plain == "━━━━●"
    assert terminal.mark(100, 0, 100, 5).plain == "    ▲"
