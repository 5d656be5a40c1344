"""The demonstration: what it shows is what happened."""

import io
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import eddi
from eddi import demo


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
