"""Model files of every released format load, predict and ask as they did when they were written."""

import json
from pathlib import Path

import numpy as np
import pytest

import eddi
from eddi.interview.documents import describe
from eddi.model.files.migrations import FORMAT_VERSION, MIGRATIONS, OLDEST_VERSION

FOLDER = Path(__file__).parents[2] / "golden"
FILES = sorted(FOLDER.glob("*.eddi"))


def close(ours, theirs):
    """Whether two JSON documents are equal up to rounding."""
    if isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(close(ours[key], theirs[key]) for key in theirs)
    if isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(close, ours, theirs))
    return ours == (pytest.approx(theirs, rel=1e-4, abs=1e-5) if isinstance(theirs, float) else theirs)


@pytest.fixture(params=FILES, ids=lambda path: path.stem)
def golden(request):
    return eddi.load(request.param), json.loads(request.param.with_suffix(".json").read_text())


def test_an_interview_is_the_one_that_was_recorded(golden):
    model, recorded = golden
    interview = eddi.Interview(model)
    for expected in recorded["steps"]:
        assert close(describe(interview), expected)
        question = interview.ask()
        interview.tell(question, *(recorded["answers"][name] for name in question.reveals))


def test_certificates_are_kept(golden):
    model, recorded = golden
    counts = [certificate.n_wrong for certificate in model.certificates_.values()]
    assert counts == [tuple(document["n_wrong"]) for document in recorded["certificates"]]


def test_a_certificate_of_an_old_file_controls_the_risk():
    model = eddi.load(FOLDER / "format-5-default.eddi")
    interview = eddi.Interview(model, stop=eddi.Stop(risk=0.6))
    assert interview.ask() is not None
    assert np.isfinite(interview.rules.stop.resolved.rules[1].threshold)


def test_a_file_that_is_saved_again_has_the_present_format(golden, tmp_path):
    model, recorded = golden
    model.save(tmp_path / "again.eddi")
    again = eddi.Interview(eddi.load(tmp_path / "again.eddi"))
    assert close(describe(again), recorded["steps"][0])


def test_every_released_format_has_a_migration_and_a_golden_file():
    released = range(OLDEST_VERSION, FORMAT_VERSION)
    assert set(MIGRATIONS) == set(released)
    versions = {int(path.stem.split("-")[1]) for path in FILES}
    assert versions >= set(released)
