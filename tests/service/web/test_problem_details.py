"""Every error class has its HTTP status, and errors are problem details."""

import errno

import pytest

from eddi.errors import AnswerError, EddiError, ModelFileError, SchemaError, TableError, TargetError
from eddi.service.analyst.data.tables import TableNotFoundError
from eddi.service.analyst.jobs.job_queue import JobConflictError, JobNotFoundError
from eddi.service.analyst.models.model_viewer import RowNotFoundError
from eddi.service.analyst.models.publishing import PublishingError, QuestionnaireNotFoundError
from eddi.service.analyst.models.trained_model import ModelNotFoundError
from eddi.service.errors import (
    InterviewConflictError,
    InterviewMovedError,
    InterviewNotFoundError,
    QuestionnaireMissingError,
)
from eddi.service.interviews.batcher import BusyError
from eddi.service.interviews.questionnaire import NothingPublishedError
from eddi.service.web.api_keys import KeyForbiddenError, KeyMissingError
from eddi.service.web.form_tokens import ForeignFormError
from eddi.store.base import (
    StoreBusyError,
    StoreConflict,
    StoreDiskError,
    StoreError,
    StoreFullError,
    StoreUnreachableError,
    StreamForgottenError,
)

STATUSES = {
    401: (KeyMissingError,),
    403: (KeyForbiddenError, ForeignFormError),
    404: (
        InterviewNotFoundError,
        TableNotFoundError,
        JobNotFoundError,
        ModelNotFoundError,
        RowNotFoundError,
        QuestionnaireNotFoundError,
        StreamForgottenError,
    ),
    409: (
        InterviewConflictError,
        QuestionnaireMissingError,
        NothingPublishedError,
        JobConflictError,
    ),
    412: (InterviewMovedError,),
    422: (AnswerError, TargetError, TableError, SchemaError, PublishingError),
    500: (EddiError, ModelFileError, StoreError, StoreConflict),
    503: (BusyError, StoreBusyError, StoreUnreachableError, StoreDiskError),
    507: (StoreFullError,),
}


@pytest.mark.parametrize(
    ("error", "status"), [(error, status) for status, errors in STATUSES.items() for error in errors]
)
def test_errors_have_the_expected_http_status(error, status):
    assert error.status == status


def test_the_type_of_a_problem_is_derived_from_the_error_class(client):
    problem = client.get("/interviews/0").json()
    assert problem["type"] == "urn:eddi:interviewnotfound"
    assert problem["title"] == "Not Found"


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/i/0/question/1", "GET, POST, HEAD"),
        ("/interviews", "POST"),
        ("/interviews/0", "GET, DELETE, HEAD"),
        ("/interviews/0/answers/last", "DELETE"),
        ("/healthz", "GET, HEAD"),
    ],
)
def test_a_refused_method_is_told_which_methods_are_allowed(client, path, allowed):
    refused = client.patch(path)
    assert refused.status_code == 405
    assert refused.headers["allow"] == allowed


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), StoreFullError("no space left")]
)
def test_a_full_disk_is_explained_to_programs_and_people(serving, monkeypatch, error):
    def fail(*_, **__):
        raise error

    with serving() as client:
        monkeypatch.setattr(client.app.state.service, "queue_start", fail)
        response = client.post("/interviews")
        assert response.status_code == 507
        assert "no space left" in response.json()["detail"]
        page = client.post("/interviews", headers={"Accept": "text/html"})
        assert page.status_code == 507
        assert "This server has no space left" in page.text


def test_other_errors_of_the_system_are_internal_errors(serving, monkeypatch):
    def fail(*_, **__):
        raise OSError(errno.EACCES, "Permission denied")

    with serving() as client:
        monkeypatch.setattr(client.app.state.service, "queue_start", fail)
        assert client.post("/interviews").status_code == 500
