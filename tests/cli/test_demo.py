"""The demonstration: what it shows is what happened."""

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import eddi
from eddi.cli import demo
from eddi.service.settings import Settings


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    folder = tmp_path_factory.mktemp("demo") / "made for it"
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo, "MAX_STEPS", 100)
        demo.play(folder, Console(file=out, width=100), seed=0)
    return out.getvalue(), folder


def test_it_asks_one_person_and_tells_the_truth(shown: tuple[str, Path]) -> None:
    text, _ = shown
    _, held_out = demo._split(demo._people(), seed=0)
    truth = held_out[demo.TARGET][0]
    asked = [wording for _, _, wording, _ in demo.ASKED if wording in text]
    assert len(asked) == demo.N_ASKED
    assert f"came out {truth:.0f}" in text
    assert max(map(len, text.splitlines())) <= 100


def test_what_it_leaves_behind_is_there_and_named(shown: tuple[str, Path]) -> None:
    text, folder = shown
    for name in ("information_curve.png", "diabetes.eddi", "diabetes.csv"):
        assert (folder / name).stat().st_size > 1000
        assert name in text
    assert eddi.load(folder / "diabetes.eddi").target_ == ("progression",)


def test_both_strategies_meet_when_everything_is_known(shown: tuple[str, Path]) -> None:
    rows = [line.split() for line in shown[0].splitlines() if line.startswith("error, ")]
    first, second = rows
    assert first[-2] == second[-2]
    assert first[2] == second[3]  # and at nothing asked: "error, EDDI 78", "error, random order 78"


def test_nobody_is_both_learned_from_and_interviewed() -> None:
    people = demo._people()
    training, held_out = demo._split(people, seed=1)
    assert len(training["age"]) + len(held_out["age"]) == 442
    together = np.concatenate([training[demo.TARGET], held_out[demo.TARGET]])
    assert sorted(together) == sorted(people[demo.TARGET])
    assert not np.isnan(held_out["age"]).any()
    assert 0.05 < np.isnan(training["age"]).mean() < 0.15


def test_without_matplotlib_it_says_how_to_get_the_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise eddi.errors.MissingExtraError("pictures need matplotlib. Install it.")

    class Saved:
        def save(self, path: Path) -> None:
            path.touch()

    monkeypatch.setattr(demo.plots, "information_curves", refuse)
    training, _ = demo._split(demo._people(), seed=0)
    assert "Install it" in demo._keep(tmp_path, Saved(), training, {})  # type: ignore[arg-type]


def test_what_is_there_is_not_learned_again(
    shown: tuple[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _, folder = shown
    monkeypatch.setattr(demo, "_learned", None)  # cannot be called
    out = io.StringIO()
    demo.prepare(folder, Console(file=out))
    assert out.getvalue() == ""
    with pytest.raises(TypeError):
        demo.prepare(tmp_path / "new", Console(file=out))
    assert not list(tmp_path.glob("new/*"))


def test_it_is_made_ready_to_be_served(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(demo, "MAX_STEPS", 5)
    out = io.StringIO()
    demo.prepare(tmp_path / "new", Console(file=out))
    assert "Learned in" in out.getvalue()
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == [demo.TABLE, demo.MODEL]
    assert eddi.load(tmp_path / "new" / demo.MODEL).target_ == ("progression",)


def test_a_model_that_cannot_be_read_is_learned_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(demo, "MAX_STEPS", 5)
    (tmp_path / demo.MODEL).write_bytes(b"of another age")
    out = io.StringIO()
    demo.prepare(tmp_path, Console(file=out))
    assert "learned again, since the old one cannot be read" in out.getvalue()
    assert eddi.load(tmp_path / demo.MODEL).target_ == ("progression",)


def test_it_is_served_as_the_environment_says_and_else_as_suits_it(tmp_path: Path) -> None:
    usual = demo.settings(tmp_path, Settings())
    assert usual.model == str(tmp_path / "diabetes.eddi")
    assert usual.store == f"sqlite:///{tmp_path}/answers.db"
    assert (usual.after, usual.title, usual.port) == (demo.N_ASKED, demo.TITLE, 8000)
    given = Settings(store="memory:", after=3, title="Mine", port=81)
    assert demo.settings(tmp_path, given) == replace(
        given, model=usual.model, target="progression", about=demo.ABOUT, log="warning"
    )
