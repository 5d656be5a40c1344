"""Model files of every released format predict and ask as they did when they were written."""

import json
from pathlib import Path

import pytest

import eddi
from eddi.errors import EddiWarning
from eddi.interview.documents import describe
from eddi.model.files.migrations import FORMAT_VERSION, MIGRATIONS, OLDEST_VERSION
from eddi.strategy.stopping import ConfidenceThreshold

FOLDER = Path(__file__).parents[2] / "golden"
FILES = sorted(FOLDER.glob("*.eddi"))


def are_close(ours, theirs):
    """Whether two JSON documents are equal up to rounding."""
    if isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(are_close(ours[key], theirs[key]) for key in theirs)
    if isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(are_close, ours, theirs))
    return ours == (pytest.approx(theirs, rel=1e-4, abs=1e-5) if isinstance(theirs, float) else theirs)


def read_recording(path):
    return json.loads(path.with_suffix(".json").read_text())


@pytest.fixture(params=FILES, ids=lambda path: path.stem)
def golden(request):
    """A model, and what it predicted and asked when its file was written."""
    return eddi.load(request.param), read_recording(request.param)


def answer_next(interview, recorded):
    question = interview.ask()
    interview.tell(question, *(recorded["answers"][name] for name in question.reveals))


def test_an_interview_is_the_recorded_one(golden):
    model, recorded = golden
    interview = eddi.Interview(model)
    for expected in recorded["steps"]:
        assert are_close(describe(interview), {**expected, "strategy": "information"})
        answer_next(interview, recorded)


def test_certificates_are_kept(golden):
    model, recorded = golden
    counts = [certificate.n_wrong for certificate in model.certificates_.values()]
    assert counts == [tuple(document["n_wrong"]) for document in recorded["certificates"]]


@pytest.fixture
def certified():
    """A model from an old file, and its certificate: 14 of 40 decisions were wrong, at any threshold."""
    model = eddi.load(FOLDER / "format-5-default.eddi")
    (certificate,) = model.certificates_.values()
    return model, certificate


def test_the_certificate_of_an_old_file_determines_the_threshold_of_a_risk(certified):
    model, certificate = certified
    interview = eddi.Interview(model, stop=eddi.Stop(risk=0.6))
    threshold = certificate.threshold(risk=0.6, confidence=0.95)
    assert 0 <= threshold < 1
    assert ConfidenceThreshold(threshold) in interview.rules.stop.resolved.rules
    assert eddi.Interview(model).ask() is not None
    assert interview.ask() is None  # so bad a decision needs no question


def test_a_risk_that_the_certificate_of_an_old_file_cannot_guarantee_ends_no_interview(certified):
    model, certificate = certified
    assert certificate.smallest_risk(0.95) > 0.4
    interview = eddi.Interview(model, stop=eddi.Stop(risk=0.4))
    with pytest.warns(EddiWarning, match=r"a risk of 0\.4 cannot be guaranteed .*14 of 40 held-out"):
        assert interview.ask() is not None
    recorded = read_recording(FOLDER / "format-5-default.eddi")
    n_asked = 0
    while interview.ask() is not None:
        answer_next(interview, recorded)
        n_asked += 1
    assert n_asked == len(model.schema_.questions) - 1  # all but that of the target


def test_a_file_that_is_saved_again_has_the_present_format(golden, tmp_path):
    model, recorded = golden
    model.save(tmp_path / "again.eddi")
    again = eddi.Interview(eddi.load(tmp_path / "again.eddi"))
    assert are_close(describe(again), {**recorded["steps"][0], "strategy": "information"})


def test_every_released_format_has_a_migration_and_a_golden_file():
    released = range(OLDEST_VERSION, FORMAT_VERSION)
    assert set(MIGRATIONS) == set(released)
    versions = {int(path.stem.split("-")[1]) for path in FILES}
    assert versions >= set(released)
