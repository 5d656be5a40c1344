"""Every setting has a variable, a default and a meaning; what cannot be is refused in words."""

import math
from dataclasses import fields
from pathlib import Path

import pytest

from eddi.service.settings import SettingError, Settings, page, table


def test_what_the_environment_leaves_out_is_as_the_table_says():
    assert Settings.from_environment({}) == Settings()
    assert Settings.from_environment({"PATH": "/bin", "EDDI_DEBUG": "1"}) == Settings()


def test_the_environment_sets_words_and_numbers():
    given = {"EDDI_PORT": "81", "EDDI_RATE": "2.5", "EDDI_AFTER": "3", "EDDI_TARGET": "risk, stage"}
    settings = Settings.from_environment(given)
    assert (settings.port, settings.rate, settings.after) == (81, 2.5, 3)
    assert settings.targets == ("risk", "stage")
    assert Settings.from_environment({"EDDI_AFTER": ""}).after is None
    assert Settings.from_environment({"EDDI_BUDGET": "inf"}).budget == math.inf


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("EDDI_PORT", "eighty", "EDDI_PORT must be a whole number, got 'eighty'"),
        ("EDDI_PORT", "70000", "EDDI_PORT must be between 0 and 65535, got 70000"),
        ("EDDI_RATE", "often", "EDDI_RATE must be a number, got 'often'"),
        ("EDDI_RATE", "nan", "EDDI_RATE must be 0 or more, got nan"),
        ("EDDI_BATCH", "-1", "EDDI_BATCH must be 0 or more, got -1"),
        ("EDDI_KEYS", "maybe", "EDDI_KEYS must be auto, required or open, got 'maybe'"),
        ("EDDI_LOG", "loud", "EDDI_LOG must be debug, info, warning or error, got 'loud'"),
    ],
)
def test_what_cannot_be_is_refused_in_words(name, value, words):
    with pytest.raises(SettingError, match=words):
        Settings.from_environment({name: value})


@pytest.mark.parametrize(
    ("host", "keys", "needed"),
    [
        ("127.0.0.1", "auto", False),
        ("localhost", "auto", False),
        ("::1", "auto", False),
        ("0.0.0.0", "auto", True),  # noqa: S104
        ("192.168.1.7", "auto", True),
        ("eddi.example.org", "auto", True),
        ("0.0.0.0", "open", False),  # noqa: S104
        ("127.0.0.1", "required", True),
    ],
)
def test_keys_are_needed_where_others_can_reach_the_server(host, keys, needed):
    assert Settings(host=host, keys=keys).needs_keys is needed


def test_a_local_server_answers_to_local_names_only():
    assert "localhost" in Settings().host_names
    assert Settings(host="0.0.0.0").host_names == ()  # noqa: S104
    assert "eddi.example.org" in Settings(hosts="eddi.example.org, other").host_names
    assert Settings(hosts="*").host_names == ()


def test_the_table_names_every_setting():
    text = table()
    for each in fields(Settings):
        assert f"| `EDDI_{each.name.upper()}` |" in text
        assert each.metadata["about"] in text
    assert "| `EDDI_PORT` | `8000` |" in text


def test_the_documentation_tells_of_all_settings_as_they_are():
    """Else write it anew: python -m eddi.service.settings > docs/settings.md"""
    written = Path(__file__).parents[2] / "docs" / "settings.md"
    assert written.read_text(encoding="utf-8") == page()


def test_a_risk_is_a_number_or_nothing():
    read = Settings.from_environment({"EDDI_RISK": "0.05", "EDDI_WITHIN": ""})
    assert (read.risk, read.within) == (0.05, None)
    with pytest.raises(SettingError, match="EDDI_RISK must be a number, got 'few'"):
        Settings.from_environment({"EDDI_RISK": "few"})


@pytest.mark.parametrize(
    ("store", "workshop", "folder"),
    [
        ("sqlite:///answers.db", "", Path("workshop")),
        ("sqlite:////var/lib/eddi/answers.db", "", Path("/var/lib/eddi/workshop")),
        ("postgresql://eddi@host/answers", "", Path("workshop")),
        ("postgresql://eddi@host/answers", "/srv/workshop", Path("/srv/workshop")),
        ("memory:", "", None),
    ],
)
def test_the_workshop_lies_beside_the_store(store, workshop, folder):
    assert Settings(store=store, workshop=workshop).workshop_folder == folder
