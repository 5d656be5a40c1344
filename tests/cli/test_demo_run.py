"""`eddi demo` prints what really happened and leaves usable files."""

import io
from pathlib import Path

import pytest
from rich.console import Console

import eddi
from eddi.cli import demo_run
from eddi.cli.demo_study import MEASUREMENTS, TARGET, load_study, split_rows
from eddi.service.settings import Settings


@pytest.fixture(scope="module")
def demonstration(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """The output of the demonstration and the folder it wrote to."""
    folder = tmp_path_factory.mktemp("demo") / "a new folder"
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo_run, "MAX_STEPS", 100)
        demo_run.run_demo(folder, Console(file=out, width=100), seed=0)
    return out.getvalue(), folder


def test_it_interviews_one_person_and_prints_the_true_value(demonstration: tuple[str, Path]) -> None:
    text, _ = demonstration
    _, held_out = split_rows(load_study(), seed=0)
    truth = held_out[TARGET][0]
    asked = [measurement for measurement in MEASUREMENTS if measurement.text in text]
    assert len(asked) == demo_run.N_QUESTIONS
    assert f"observed {truth:.0f}" in text
    assert max(map(len, text.splitlines())) <= 100


def test_it_writes_the_files_that_it_names(demonstration: tuple[str, Path]) -> None:
    text, folder = demonstration
    for name in ("information_curve.png", "diabetes.eddi", "diabetes.csv"):
        assert (folder / name).stat().st_size > 1000
        assert name in text
    assert eddi.load(folder / "diabetes.eddi").target_ == ("progression",)


def test_all_strategies_have_the_same_first_and_last_error(demonstration: tuple[str, Path]) -> None:
    text, _ = demonstration
    lines = [line.split() for line in text.splitlines() if line.startswith("RMSE, ")]
    names = [" ".join(line[1 : -len(demo_run.STEPS_SHOWN) - 1]) for line in lines]
    assert names == ["EDDI", "fixed order", "random order"]
    assert len({line[-2] for line in lines}) == 1
    assert len({line[-len(demo_run.STEPS_SHOWN) - 1] for line in lines}) == 1


def test_without_matplotlib_it_says_how_to_get_the_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def raise_missing(*_: object, **__: object) -> None:
        raise eddi.errors.MissingExtraError("plots need matplotlib. Install it.")

    monkeypatch.setattr(demo_run.plots, "information_curves", raise_missing)
    assert "Install it" in demo_run._plot_curves(tmp_path, {})


def test_an_existing_model_is_not_trained_again(
    demonstration: tuple[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _, folder = demonstration
    monkeypatch.setattr(demo_run, "_fit", None)  # calling it raises TypeError
    out = io.StringIO()
    demo_run.prepare_model(folder, Console(file=out))
    assert out.getvalue() == ""
    with pytest.raises(TypeError):
        demo_run.prepare_model(tmp_path / "new", Console(file=out))
    assert not list(tmp_path.glob("new/*"))


def test_a_missing_model_is_trained_and_saved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(demo_run, "MAX_STEPS", 5)
    out = io.StringIO()
    demo_run.prepare_model(tmp_path / "new", Console(file=out))
    assert "Trained in" in out.getvalue()
    files = sorted(path.name for path in (tmp_path / "new").iterdir())
    assert files == [demo_run.TABLE_FILE, demo_run.MODEL_FILE]
    assert eddi.load(tmp_path / "new" / demo_run.MODEL_FILE).target_ == ("progression",)


def test_an_unreadable_model_is_trained_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(demo_run, "MAX_STEPS", 5)
    (tmp_path / demo_run.MODEL_FILE).write_bytes(b"not a model")
    out = io.StringIO()
    demo_run.prepare_model(tmp_path, Console(file=out, width=200))
    assert "again because the existing file cannot be read" in out.getvalue()
    assert eddi.load(tmp_path / demo_run.MODEL_FILE).target_ == ("progression",)


def test_settings_of_the_environment_take_precedence(tmp_path: Path) -> None:
    default = demo_run.build_settings(tmp_path, Settings())
    assert default.model == str(tmp_path / "diabetes.eddi")
    assert default.store == f"sqlite:///{tmp_path}/answers.db"
    assert (default.after, default.title, default.port) == (demo_run.N_QUESTIONS, demo_run.TITLE, 8000)
    given = Settings(store="memory:", after=3, title="Mine", port=81)
    added = {"target": "progression", "about": demo_run.ABOUT, "log": "warning"}
    expected = given.model_copy(update={"model": default.model, **added})
    assert demo_run.build_settings(tmp_path, given) == expected
