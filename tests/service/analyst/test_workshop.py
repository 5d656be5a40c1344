"""The workshop checks the parameters of jobs, and its errors have an HTTP status and a title."""

import pytest

from eddi.service.analyst.data.blob_store import BlobNotFoundError
from eddi.service.analyst.data.schema_drafts import DraftError
from eddi.service.analyst.data.tables import TableMovedError
from eddi.service.analyst.jobs.job_queue import JobConflictError
from eddi.service.analyst.sign_in import NotSignedInError
from eddi.service.analyst.workshop import JobSpecError


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"recipe": "cake"}, "recipe must be one of default, paper, got 'cake'"),
        ({"steps": 0}, "steps must be between 1 and 100,000, got 0"),
        ({"held_out": 0.9}, "the share of held-out rows must be between 0 and 0.5, got 0.9"),
    ],
)
def test_invalid_parameters_of_a_job_are_refused(workshop, table, parameters, message):
    with pytest.raises(JobSpecError, match=message):
        workshop.fit(table.key, **parameters)
    assert workshop.jobs.all() == []


def test_a_model_without_held_out_rows_cannot_be_evaluated(workshop, table):
    job = workshop.jobs.start(workshop.fit(table.key, held_out=0), {"step": 0})
    workshop.jobs.finish(job, {"model": "0" * 64, "held_out": "1" * 64})
    with pytest.raises(JobConflictError, match="no rows were held out for an evaluation"):
        workshop.evaluate("0" * 64)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (NotSignedInError, 401),
        (BlobNotFoundError, 404),
        (TableMovedError, 412),
        (JobSpecError, 422),
        (DraftError, 422),
    ],
)
def test_errors_have_an_http_status_and_a_title(error, status):
    assert error.status == status
    assert "title" in vars(error)
