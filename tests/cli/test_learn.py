"""`eddi learn`: output, reproducibility, and publishing."""

import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from eddi.cli import app
from eddi.service.analyst.workshop import Workshop
from eddi.store.factory import open_store


@pytest.fixture
def folder(interviewed_folder: Path, tmp_path: Path) -> Path:
    """A copy of the store and its workshop."""
    copied = tmp_path / "copy"
    shutil.copytree(interviewed_folder, copied)
    return copied


def learn(folder: Path, *options: str) -> Result:
    arguments = ["learn", f"sqlite:///{folder}/answers.db", "-q", "people"]
    workshop = ["--workshop", str(folder / "workshop"), "--steps", "20"]
    return CliRunner().invoke(app, [*arguments, *workshop, *options])


def read_versions(folder: Path) -> Any:
    store = open_store(f"sqlite:///{folder}/answers.db")
    versions = Workshop(store, folder / "workshop").publisher.get("people").versions
    store.close()
    return versions


@pytest.mark.slow
def test_an_unknown_questionnaire_is_refused(folder: Path, tmp_path: Path) -> None:
    arguments = ["learn", f"sqlite:///{folder}/answers.db", "-q", "nobody"]
    options = ["-o", str(tmp_path / "new.eddi"), "--workshop", str(folder / "workshop")]
    result = CliRunner().invoke(app, [*arguments, *options])
    assert result.exit_code == 1
    assert "nothing is published as 'nobody'" in result.stderr


@pytest.mark.slow
def test_a_model_is_learned_from_interviews_and_compared(folder: Path, tmp_path: Path) -> None:
    result = learn(folder, "-o", str(tmp_path / "new.eddi"), "--json")
    report = json.loads(result.stdout)
    assert report["rows"] == report["interviews"] > 30
    assert report["comparison"]["candidate"]["n_interviews"] == 60 - report["interviews"]
    assert report["published"] is False
    assert "not published" in result.stderr
    assert len(read_versions(folder)) == 1
    assert (tmp_path / "new.eddi").exists()


@pytest.mark.slow
def test_the_same_store_gives_the_same_weights(folder: Path, tmp_path: Path) -> None:
    weights = []
    for name in ("first.eddi", "second.eddi"):
        assert learn(folder, "-o", str(tmp_path / name)).exit_code == 0
        with zipfile.ZipFile(tmp_path / name) as archive:
            weights.append(archive.read("weights.safetensors"))
    assert weights[0] == weights[1]


@pytest.mark.slow
def test_an_analyst_may_decide_to_publish_a_model(folder: Path, tmp_path: Path) -> None:
    result = learn(folder, "-o", str(tmp_path / "new.eddi"), "--publish", "always")
    assert "published" in result.stderr
    first, second = read_versions(folder)
    assert second.rules == first.rules
    assert second.model != first.model


@pytest.mark.slow
def test_a_model_that_is_not_better_is_not_published(folder: Path, tmp_path: Path) -> None:
    result = learn(folder, "-o", str(tmp_path / "new.eddi"), "--publish", "better")
    assert "not better with 95% confidence" in result.stderr
    assert len(read_versions(folder)) == 1
