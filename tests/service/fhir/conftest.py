"""A server whose FHIR interviews are stored, and questionnaires of several shapes."""

from dataclasses import replace

import pytest

from eddi.service.fhir.question_items import QuestionItems
from eddi.service.interviews.questionnaire_settings import QuestionnaireSettings


@pytest.fixture(scope="module")
def storing(serving):
    """The client of a server that stores FHIR interviews."""
    with serving(fhir_store=True) as client:
        yield client


@pytest.fixture
def make_items(questionnaire):
    """The items of a questionnaire: `make_items(model, target, **settings)`."""

    def make(model=None, target=("stage",), **settings):
        changed = replace(questionnaire, target=target, settings=QuestionnaireSettings(**settings))
        return QuestionItems(changed if model is None else replace(changed, model=model.model_))

    return make


@pytest.fixture
def tools_items(make_items, tools_model):
    """The items of a questionnaire with a multi-select question."""
    return make_items(tools_model, ("risk",))
