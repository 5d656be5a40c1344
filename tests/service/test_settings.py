"""Every setting has a variable, a default and a description; invalid values are reported."""

import math
from pathlib import Path

import pytest

from eddi.service.settings import SettingError, Settings, settings_page, settings_table


@pytest.fixture(autouse=True)
def empty_environment(monkeypatch):
    for name in Settings.model_fields:
        monkeypatch.delenv(f"EDDI_{name.upper()}", raising=False)


def read(monkeypatch, **variables):
    with monkeypatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        return Settings()


def test_unknown_variables_are_ignored(monkeypatch):
    assert read(monkeypatch, EDDI_DEBUG="1") == Settings()


def test_the_environment_sets_texts_and_numbers(monkeypatch):
    settings = read(
        monkeypatch, EDDI_PORT="81", EDDI_RATE="2.5", EDDI_AFTER="3", EDDI_TARGET="risk, stage"
    )
    assert (settings.port, settings.rate, settings.after) == (81, 2.5, 3)
    assert settings.targets == ("risk", "stage")
    assert read(monkeypatch, EDDI_AFTER="").after is None
    assert read(monkeypatch, EDDI_BUDGET="inf").budget == math.inf


def test_arguments_take_precedence_over_the_environment(monkeypatch):
    monkeypatch.setenv("EDDI_PORT", "81")
    assert (Settings().port, Settings(port=82).port) == (81, 82)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("EDDI_PORT", "eighty", "EDDI_PORT must be a whole number, got 'eighty'."),
        ("EDDI_PORT", "", "EDDI_PORT must be a whole number, got ''."),
        ("EDDI_PORT", "70000", "EDDI_PORT must be between 0 and 65535, got 70000."),
        ("EDDI_PORT", "-1", "EDDI_PORT must be between 0 and 65535, got -1."),
        ("EDDI_RATE", "often", "EDDI_RATE must be a number, got 'often'."),
        ("EDDI_RATE", "nan", "EDDI_RATE must be 0 or more, got nan."),
        ("EDDI_BATCH", "-1", "EDDI_BATCH must be 0 or more, got -1."),
        ("EDDI_BURST", "0", "EDDI_BURST must be 1 or more, got 0."),
        ("EDDI_KEYS", "maybe", "EDDI_KEYS must be auto, required or open, got 'maybe'."),
        ("EDDI_LOG", "loud", "EDDI_LOG must be debug, info, warning or error, got 'loud'."),
        ("EDDI_RISK", "few", "EDDI_RISK must be a number, got 'few'."),
    ],
)
def test_invalid_values_are_reported(monkeypatch, name, value, message):
    with pytest.raises(SettingError) as error:
        read(monkeypatch, **{name: value})
    assert str(error.value) == message


def test_all_invalid_values_are_reported_at_once():
    with pytest.raises(SettingError, match=r"EDDI_PORT must .* EDDI_LOG must "):
        Settings(port=-1, log="loud")


def test_an_unknown_setting_is_rejected():
    with pytest.raises(SettingError, match="EDDI_PROT is not valid"):
        Settings(prot=80)


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
def test_keys_are_required_if_other_machines_can_reach_the_server(host, keys, needed):
    assert Settings(host=host, keys=keys).needs_keys is needed


def test_a_local_server_accepts_only_local_host_names():
    assert "localhost" in Settings().host_names
    assert Settings(host="0.0.0.0").host_names == ()  # noqa: S104
    assert "eddi.example.org" in Settings(hosts="eddi.example.org, other").host_names
    assert Settings(hosts="*").host_names == ()


def test_the_table_lists_every_setting():
    table = settings_table()
    for name, field in Settings.model_fields.items():
        assert f"| `EDDI_{name.upper()}` |" in table
        assert field.description in table
    assert "| `EDDI_PORT` | `8000` |" in table


def test_the_documentation_is_up_to_date():
    """If this fails, run: python -m eddi.service.settings > docs/reference/settings.md"""
    path = Path(__file__).parents[2] / "docs" / "reference" / "settings.md"
    assert path.read_text(encoding="utf-8") == settings_page()


def test_an_empty_risk_or_tolerance_is_none(monkeypatch):
    settings = read(monkeypatch, EDDI_RISK="0.05", EDDI_WITHIN="")
    assert (settings.risk, settings.within) == (0.05, None)


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
def test_the_workshop_is_next_to_the_store(store, workshop, folder):
    assert Settings(store=store, workshop=workshop).workshop_folder == folder
