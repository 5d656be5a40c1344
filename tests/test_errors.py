"""Exceptions: builtin base classes, HTTP status and page title."""

import pytest

from eddi import errors
from eddi.errors import EddiError

EXCEPTIONS = [
    cls
    for cls in vars(errors).values()
    if isinstance(cls, type) and issubclass(cls, EddiError) and cls is not EddiError
]
INPUT_ERRORS = {"TableError", "SchemaError", "AnswerError", "OutOfRangeError", "TargetError"}


@pytest.mark.parametrize("cls", EXCEPTIONS)
def test_every_exception_is_also_a_builtin_exception(cls):
    assert issubclass(cls, (ValueError, RuntimeError, ImportError))


@pytest.mark.parametrize("cls", EXCEPTIONS)
def test_invalid_input_has_status_422_and_every_other_error_500(cls):
    assert cls.status == (422 if cls.__name__ in INPUT_ERRORS else 500)


@pytest.mark.parametrize("cls", EXCEPTIONS)
def test_an_error_in_the_input_has_a_title_of_its_own(cls):
    assert (cls.title != EddiError.title) == (cls.status == 422)


def test_the_problem_types_that_clients_rely_on_are_stable():
    from eddi.service.analyst.data.blob_store import BlobNotFoundError
    from eddi.service.analyst.workshop import JobSpecError

    assert (BlobNotFoundError.problem_type, JobSpecError.problem_type) == ("notonshelf", "order")
