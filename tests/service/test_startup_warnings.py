"""Settings that are not safe for a public server are pointed out at start-up."""

import pytest

from eddi.service.settings import Settings
from eddi.service.startup_warnings import find_warnings

SAFE = {
    "host": "0.0.0.0",  # noqa: S104  # behind a proxy
    "proxies": "10.0.0.2",
    "secret": "s" * 32,
    "hosts": "ask.example.org",
}


@pytest.mark.parametrize("settings", [{}, {"host": "localhost"}, {"hosts": "localhost"}, SAFE])
def test_there_is_no_warning_for_a_local_or_safe_server(settings):
    assert find_warnings(Settings(**settings)) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"proxies": "127.0.0.1"}, "listens on 0.0.0.0 with plain HTTP"),
        ({"secret": ""}, "EDDI_SECRET is not set"),
        ({"hosts": ""}, "requests for any host name are accepted"),
        ({"hosts": "*"}, "requests for any host name are accepted"),
        ({"keys": "open"}, "EDDI_KEYS is open"),
    ],
)
def test_an_unsafe_setting_is_pointed_out(change, message):
    [warning] = find_warnings(Settings(**{**SAFE, **change}))
    assert message in warning


def test_a_server_behind_a_proxy_on_the_same_machine_is_public():
    settings = Settings(hosts="ask.example.org")
    assert settings.needs_keys
    assert ["EDDI_SECRET is not set" in warning for warning in find_warnings(settings)] == [True]
