"""A service with interviews about the stage of people, and a recorder of their outcomes."""

import pytest

from eddi.service.interviews.interview_service import InterviewService
from eddi.service.interviews.outcomes.recording import OutcomeRecorder
from eddi.service.interviews.questionnaire import FixedCatalogue
from eddi.store.factory import open_store


@pytest.fixture(params=["memory", "sqlite"])
def service(request, tmp_path, questionnaire):
    url = "memory:" if request.param == "memory" else f"sqlite:///{tmp_path}/answers.db"
    service = InterviewService(open_store(url), FixedCatalogue((questionnaire,)))
    yield service
    service.close()


@pytest.fixture
def recorder(service):
    return OutcomeRecorder(service.store, service.catalogue)
