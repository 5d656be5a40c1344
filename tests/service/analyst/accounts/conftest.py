"""A server that needs keys, and browsers that are signed in to its workshop."""

import re

import httpx
import pytest

from eddi.service.web.api_keys import Keys


class Visitor(httpx.Client):
    """A browser: it keeps cookies, and fills in forms."""

    def sign_in(self, key, address="/analyst"):
        page = self.get(f"/analyst/sign-in?next={address}")
        fields = dict(re.findall(r'name="(csrf|next)" value="([^"]*)"', page.text))
        return self.post("/analyst/sign-in", data={**fields, "key": key})

    def fill_in(self, address, action=None, **fields):
        """Send a form of a page: `fill_in("/analyst", "/analyst/sign-out")`."""
        token = re.search(r'name="csrf" value="([^"]+)"', self.get(address).text)[1]
        return self.post(action or address, data={"csrf": token, **fields})


@pytest.fixture(scope="module")
def server(serving):
    with serving(keys="required", secret="s" * 32) as client:
        client.app.state.workshop.supervisor.stop()
        yield client


@pytest.fixture
def keys(server):
    """The keys of the server."""
    return Keys(server.app.state.service.store)


@pytest.fixture
def key(keys):
    """Makes keys: `key(Role.ANALYST)`."""
    return lambda role, days=1, holder="": keys.issue(role, days=days, holder=holder)


@pytest.fixture
def open_browser(server):
    """Opens browsers without cookies."""
    browsers = []

    def open_one():
        browsers.append(Visitor(base_url=server.base_url, timeout=30))
        return browsers[-1]

    yield open_one
    for browser in browsers:
        browser.close()


@pytest.fixture
def browser(open_browser):
    """A browser without cookies."""
    return open_browser()
