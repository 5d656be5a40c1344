"""Every environment variable of the service, in one place.

`Settings.from_environment()` reads them, `table()` prints them for the documentation, and the command
line writes its options over them.
"""

import ipaddress
import math
import os
import sys
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import Any

from eddi.errors import EddiError

PREFIX = "EDDI_"
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")


class SettingError(EddiError, ValueError):
    """A setting has a value it cannot have."""


class KeyRule(StrEnum):
    """Whether the HTTP API asks for a key."""

    AUTO = "auto"  # only where others than this machine can reach it
    REQUIRED = "required"
    OPEN = "open"


def _about(default: Any, words: str, least: float | None = None) -> Any:
    return field(default=default, metadata={"about": words, "least": least})


@dataclass(frozen=True)
class Settings:
    """How one server runs. ``model`` is ``EDDI_MODEL`` in the environment, and so on."""

    model: str = _about("", "The model file to serve, written by `eddi fit`.")
    target: str = _about("", "What interviews want to know, by commas; the model's own if left out.")
    store: str = _about(
        "sqlite:///answers.db", "Where answers are kept: memory:, sqlite:/// or postgresql://."
    )
    host: str = _about("127.0.0.1", "The address to listen at; 0.0.0.0 for every network.")
    port: int = _about(8000, "The port to listen at; 0 for any free one.", 0)
    title: str = _about("", "The heading of the start page; it speaks of the target if left out.")
    about: str = _about("", "A paragraph for the start page: who asks, why, whom to turn to.")
    after: int | None = _about(None, "Stop after this many answers.", 0)
    budget: float = _about(math.inf, "Ask no more than this costs in all.", 0)
    risk: float | None = _about(None, "Stop when at most this share of interviews ends wrongly.", 0)
    within: float | None = _about(None, "With a risk: how far off a quantity is still right.", 0)
    keys: str = _about("auto", "Whether the API needs a key: auto, required or open.")
    secret: str = _about("", "Signs the forms of the pages; the same on servers that share a store.")
    hosts: str = _about("", "Names this server answers to, by commas; * for any.")
    proxies: str = _about("127.0.0.1", "Proxies whose X-Forwarded-For is believed, by commas.")
    rate: float = _about(50.0, "Requests a second a client may make in the long run; 0 for any.", 0)
    burst: int = _about(200, "Requests a client may make at once.", 1)
    max_body: int = _about(65_536, "Bytes a request may carry.", 256)
    max_upload: int = _about(50_000_000, "Bytes an analyst's table may have.", 256)
    workshop: str = _about("", "Where tables, jobs and models are; `workshop` beside the store.")
    jobs: int = _about(1, "Jobs that run at once, each in a process of its own.", 1)
    batch: int = _about(
        32, "Interviews worked out at once; 1 is one after the other, 0 each in its own thread.", 0
    )
    window_ms: float = _about(2.0, "Milliseconds a request waits for company, where there was some.", 0)
    waiting: int = _about(256, "Requests that may wait for the model; more are told to come again.", 1)
    threads: int = _about(72, "Requests worked on at once.", 1)
    log: str = _about("info", "How much is logged: debug, info, warning or error.")

    def __post_init__(self) -> None:
        for each in fields(self):
            value, least = getattr(self, each.name), each.metadata["least"]
            if least is not None and value is not None and not value >= least:
                raise SettingError(f"{_variable(each)} must be {least:g} or more, got {value:g}.")
        if self.keys not in tuple(KeyRule):
            raise SettingError(f"EDDI_KEYS must be auto, required or open, got {self.keys!r}.")
        if self.log not in ("debug", "info", "warning", "error"):
            raise SettingError(f"EDDI_LOG must be debug, info, warning or error, got {self.log!r}.")
        if not 0 <= self.port <= 65_535:
            raise SettingError(f"EDDI_PORT must be between 0 and 65535, got {self.port}.")

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> "Settings":
        """The settings that the environment gives; what it leaves out is as the table says."""
        given = os.environ if environment is None else environment
        known = {
            each.name: _parsed(each, given[name])
            for each in fields(cls)
            if (name := _variable(each)) in given
        }
        return cls(**known)

    @property
    def targets(self) -> tuple[str, ...] | None:
        """What interviews want to know; None for the model's own."""
        return _listed(self.target) or None

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach the server."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host.strip("[]")).is_loopback
        except ValueError:
            return False

    @property
    def needs_keys(self) -> bool:
        """Whether the HTTP API asks for a key."""
        return self.keys == KeyRule.REQUIRED or (self.keys == KeyRule.AUTO and not self.is_local)

    @property
    def workshop_folder(self) -> Path | None:
        """Where tables, jobs and models are kept; None where the store keeps nothing either."""
        if self.workshop:
            return Path(self.workshop)
        kind, _, place = self.store.partition(":///")
        if self.store.partition(":")[0] == "memory":
            return None
        return Path(place).parent / "workshop" if kind == "sqlite" else Path("workshop")

    @property
    def host_names(self) -> tuple[str, ...]:
        """Names a request may call this server by; none for any.

        A local server answers to local names only, or a foreign page could have its own name lead here.
        """
        names = _listed(self.hosts) or (LOOPBACK_NAMES if self.is_local else ("*",))
        return () if "*" in names else (*names, self.host)


PAGE = """\
# Settings of the service

`eddi serve` takes its most common settings as options; all of them can be set in the environment. An
option goes before a variable, and a variable before its default. This page is written by
`python -m eddi.service.settings > docs/settings.md`.

"""


def page() -> str:
    """The page of the documentation that tells of all settings."""
    return PAGE + table()


def table() -> str:
    """All settings as a table in Markdown."""
    lines = ["| variable | default | meaning |", "|---|---|---|"]
    for each in fields(Settings):
        default = "" if each.default in (None, "", math.inf) else f"`{each.default}`"
        lines.append(f"| `{_variable(each)}` | {default} | {each.metadata['about']} |")
    return "\n".join(lines) + "\n"


def _variable(setting: Field[Any]) -> str:
    return PREFIX + setting.name.upper()


def _listed(words: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in words.split(",") if word.strip())


def _parsed(setting: Field[Any], text: str) -> Any:
    """What a setting is set to by ``text``; words are checked later, with those of the command line."""
    if setting.type not in (int, float, int | None, float | None):
        return text
    if setting.default is None and not text.strip():
        return None
    broken = setting.type in (float, float | None)
    kind, wanted = (float, "a number") if broken else (int, "a whole number")
    try:
        return kind(text)
    except ValueError:
        raise SettingError(f"{_variable(setting)} must be {wanted}, got {text!r}.") from None


if __name__ == "__main__":
    sys.stdout.write(page())
