"""A server with a workshop in which nothing is trained, and a function that fills in its forms."""

import re

import pytest


@pytest.fixture(scope="module")
def managed_site(serving):
    """A client of a server with the questionnaire "people" and its workshop."""
    with serving() as client:
        client.follow_redirects = True
        client.app.state.workshop.supervisor.stop()
        yield client


@pytest.fixture
def managed(managed_site):
    """The workshop of that server."""
    return managed_site.app.state.workshop


@pytest.fixture
def fill_in(managed_site):
    """Sends a form of a page: `fill_in("/analyst", "/analyst/tables", name="x")`."""

    def send(address, action=None, files=None, **fields):
        token = re.search(r'name="csrf" value="([^"]+)"', managed_site.get(address).text)[1]
        return managed_site.post(action or address, data={"csrf": token, **fields}, files=files)

    return send


@pytest.fixture
def publish(managed, questionnaire):
    """Publishes the model of people under a name: `publish("sleep")` returns its address."""

    def publish_as(name, target="stage"):
        managed.publish(name, questionnaire.model_sha256, target=[target])
        return f"/analyst/questionnaires/{name}"

    return publish_as
