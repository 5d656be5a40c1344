"""The tools of a server with one questionnaire, in memory."""

import pytest

from eddi.service.agents.interview_tools import InterviewTools
from eddi.service.interviews.interview_service import InterviewService
from eddi.service.interviews.questionnaire import FixedCatalogue
from eddi.store.memory import MemoryStore


@pytest.fixture
def tools(questionnaire):
    service = InterviewService(MemoryStore(), FixedCatalogue((questionnaire,)))
    yield InterviewTools(service)
    service.close()
