"""Interviews over time in a store: a measurement may be repeated once time has passed."""

import pytest

from eddi.service.errors import InterviewConflictError
from eddi.service.interviews.interview_service import InterviewService
from eddi.service.interviews.questionnaire import FixedCatalogue, Questionnaire
from eddi.store.memory import MemoryStore


@pytest.fixture(scope="module")
def series_file(series_model, tmp_path_factory):
    path = tmp_path_factory.mktemp("series") / "series.eddi"
    series_model.save(path)
    return path


@pytest.fixture
def service(series_file):
    questionnaire = Questionnaire.load(series_file, "ill", rules={"reward_below": 100})
    service = InterviewService(MemoryStore(), FixedCatalogue([questionnaire]))
    yield service
    service.close()


def test_a_measurement_is_repeated_after_time_has_passed(service):
    view = service.start()
    assert view.question.name == "hour"  # nothing is worth asking: wait
    service.add_answer(view.key, "pulse", 80)
    with pytest.raises(InterviewConflictError, match="'pulse' was already answered"):
        service.add_answer(view.key, "pulse", 82)
    service.add_answer(view.key, "hour", 2)
    service.add_answer(view.key, "pulse", 90)
    resumed = service.resume(view.key).interview
    assert resumed.now == 2
    numbers = resumed.model.coding.decode(resumed.evidence().values)[0]
    names = ("pulse", "pulse 1-4 h ago", "hour")
    found = [numbers[resumed.model.schema.position(name)] for name in names]
    assert found == pytest.approx([90, 80, 2])
