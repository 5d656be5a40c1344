"""The model of `eddi demo` is trained once and leaves usable files."""

import io
from pathlib import Path

import pytest
from rich.console import Console

import eddi
from eddi import demo
from eddi.cli import demo_model
from eddi.service.settings import Settings

from .conftest import DemoRun


def test_a_missing_model_is_trained_and_saved_with_its_tables(demo_run: DemoRun) -> None:
    assert "Trained in" in demo_run.output
    names = {path.name for path in demo_run.folder.iterdir()}
    assert {"blood_sugar.eddi", "blood_sugar.toml", "training.csv", "held_out.csv"} <= names
    assert eddi.load(demo_run.folder / demo_model.MODEL_FILE).target_ == ("blood sugar",)
    assert eddi.Schema.from_toml(demo_run.folder / demo_model.SCHEMA_FILE) == demo.load_schema()


def test_the_introduction_says_what_it_is_and_what_it_is_not(demo_run: DemoRun) -> None:
    assert demo_model.TITLE in demo_run.output
    assert "asks 80 others the most informative of\n30 questions" in demo_run.output
    assert demo_run.output.count("not medical advice") == 1
    assert max(map(len, demo_run.output.splitlines())) <= 100


def test_an_existing_model_is_not_trained_again(
    demo_run: DemoRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo_model, "_fit", None)  # calling it raises TypeError
    out = io.StringIO()
    model = demo_model.prepare_model(demo_run.folder, Console(file=out, width=1000))
    assert model.target_ == demo_run.model.target_
    assert "The model was trained earlier" in out.getvalue()


def test_an_unreadable_model_is_trained_again(
    demo_run: DemoRun, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(demo_model, "_fit", lambda *_: demo_run.model)
    (tmp_path / demo_model.MODEL_FILE).write_bytes(b"not a model")
    out = io.StringIO()
    demo_model.prepare_model(tmp_path, Console(file=out, width=200))
    assert "again because the existing file cannot be read" in out.getvalue()
    assert eddi.load(tmp_path / demo_model.MODEL_FILE).target_ == ("blood sugar",)


def test_a_model_of_another_table_is_trained_again(
    demo_run: DemoRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = demo.load_schema().with_question("sex", text="Another wording?")
    monkeypatch.setattr(demo, "load_schema", lambda: schema)
    monkeypatch.setattr(demo_model, "_fit", None)
    out = io.StringIO()
    with pytest.raises(TypeError):
        demo_model.prepare_model(demo_run.folder, Console(file=out, width=1000))
    assert "because the table of the demonstration has changed" in out.getvalue()


def test_settings_of_the_environment_take_precedence(tmp_path: Path) -> None:
    default = demo_model.build_settings(tmp_path, Settings())
    assert default.model == str(tmp_path / "blood_sugar.eddi")
    assert default.store == f"sqlite:///{tmp_path}/answers.db"
    assert (default.title, default.port) == (demo_model.TITLE, 8000)
    given = Settings(store="memory:", title="Mine", port=81, target="sex")
    expected = given.model_copy(
        update={"model": default.model, "target": "", "about": demo_model.ABOUT, "log": "warning"}
    )
    assert demo_model.build_settings(tmp_path, given) == expected


def test_the_start_page_names_the_number_of_people_and_that_it_is_not_medical_advice() -> None:
    training, _ = demo.split_table(demo.load_table())
    assert f"{training.num_rows:,} people" in demo_model.ABOUT
    assert demo_model.ABOUT.count("not medical advice") == 1
