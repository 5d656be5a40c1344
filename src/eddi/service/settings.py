"""The settings of the service, read from environment variables.

`Settings()` reads the environment; keyword arguments, such as the options of the command line, take
precedence. `python -m eddi.service.settings` prints the documentation.
"""

import ipaddress
import math
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, SettingsConfigDict

from eddi.errors import EddiError

PREFIX = "EDDI_"
MAX_PORT = 65_535
RULES = (
    *("after", "sd_below", "probability_above", "interval_below", "reward_below"),
    *("budget", "risk", "within", "confidence", "horizon", "risk_below", "risk_above"),
)
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")


class SettingError(EddiError, ValueError):
    """A setting has an invalid value."""


class KeyRule(StrEnum):
    """Whether the HTTP API requires a key."""

    AUTO = "auto"  # required if others can reach the server, or if EDDI_HOSTS has public names
    REQUIRED = "required"
    OPEN = "open"


def _empty_to_none(value: Any) -> Any:
    return None if isinstance(value, str) and not value.strip() else value


OptionalInt = Annotated[int | None, BeforeValidator(_empty_to_none)]
OptionalFloat = Annotated[float | None, BeforeValidator(_empty_to_none)]


class Settings(BaseSettings):
    """The settings of one server. ``model`` is ``EDDI_MODEL`` in the environment, and so on.

    Raises:
        SettingError: a value is invalid.
    """

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True)

    model: str = Field("", description="Model file to serve, written by `eddi fit`.")
    target: str = Field(
        "", description="Target of the interviews, several separated by commas. Default: the model's."
    )
    store: str = Field(
        "sqlite:///answers.db",
        description="Where answers are stored: memory:, sqlite:/// or postgresql://.",
    )
    host: str = Field("127.0.0.1", description="Address to listen on; 0.0.0.0 for all networks.")
    port: int = Field(8000, ge=0, le=MAX_PORT, description="Port to listen on; 0 selects a free port.")
    workers: int = Field(
        1, ge=1, description="Processes that serve requests, up to one per processor core."
    )
    device: str = Field(
        "auto",
        description="Where models compute: auto, cpu, cuda, cuda:1 ... A GPU serves large batches.",
    )
    title: str = Field("", description="Heading of the start page. Default: it names the target.")
    about: str = Field(
        "", description="Paragraph on the start page: who asks, why, and whom to contact."
    )
    strategy: Literal["", "information", "per-cost", "lookahead", "randomesque", "random", "fixed"] = (
        Field(
            "",
            description="How questions are chosen: information, per-cost, lookahead, randomesque, random or "
            "fixed. Default: information, per-cost if costs differ.",
        )
    )
    after: OptionalInt = Field(None, ge=0, description="Stop after this number of answers.")
    sd_below: OptionalFloat = Field(
        None, ge=0, description="Stop once the target's standard deviation is below this value."
    )
    probability_above: OptionalFloat = Field(
        None, ge=0, description="Stop once a level of the target is at least this likely."
    )
    interval_below: OptionalFloat = Field(
        None, ge=0, description="Stop once the target's 90% interval is narrower than this value."
    )
    reward_below: OptionalFloat = Field(
        None,
        ge=0,
        description="Stop once no question has this expected information, in nats (1 nat is 1.44 bits).",
    )
    budget: OptionalFloat = Field(None, ge=0, description="Maximum total cost of the questions.")
    risk: OptionalFloat = Field(
        None, ge=0, description="Stop once the expected error rate is at most this value."
    )
    within: OptionalFloat = Field(
        None, ge=0, description="With a risk: largest error of a quantity that still counts as correct."
    )
    confidence: OptionalFloat = Field(
        None, ge=0, description="With a risk: probability that the guarantee holds. Default: 0.95."
    )
    horizon: OptionalFloat = Field(
        None, ge=0, description="A time, for the two risks of a survival target at this horizon."
    )
    risk_below: OptionalFloat = Field(
        None, ge=0, description="Stop once the risk at the horizon is at most this value."
    )
    risk_above: OptionalFloat = Field(
        None, ge=0, description="Stop once the risk at the horizon is at least this value."
    )
    keys: KeyRule = Field(
        KeyRule.AUTO, description="Whether the API requires a key: auto, required or open."
    )
    secret: str = Field(
        "", description="Signs forms and cookies. Set the same value on servers that share a store."
    )
    hosts: str = Field("", description="Host names of this server, separated by commas; * for any.")
    proxies: str = Field(
        "127.0.0.1", description="Proxies whose X-Forwarded-For is trusted, separated by commas."
    )
    rate: float = Field(50.0, ge=0, description="Requests per second and client; 0 for no limit.")
    burst: int = Field(200, ge=1, description="Requests that a client may send at once.")
    max_body: int = Field(65_536, ge=256, description="Maximum size of a request in bytes.")
    max_upload: int = Field(
        50_000_000, ge=256, description="Maximum size of an uploaded table in bytes."
    )
    workshop: str = Field(
        "", description="Folder of tables, jobs and models. Default: `workshop` next to the store."
    )
    keep_days: float = Field(
        0.0,
        ge=0,
        description="Days after which an interview that did not change is erased; 0 keeps all.",
    )
    fhir_store: bool = Field(
        False,
        description="Whether interviews of FHIR clients are stored; otherwise only the client keeps them.",
    )
    jobs: int = Field(1, ge=1, description="Jobs that run at once, each in its own process.")
    batch: int = Field(
        64,
        ge=0,
        description="Maximum number of interviews per batch; 0 computes each on the thread of its request.",
    )
    window_ms: float = Field(
        2.0, ge=0, description="How long a batch waits for more requests, in milliseconds."
    )
    waiting: int = Field(
        256, ge=1, description="Requests that may wait for the model; others are told to try again."
    )
    max_wait: float = Field(
        0.5,
        ge=0,
        description="Requests that would wait longer than this many seconds are refused; 0 for no limit.",
    )
    connections: int = Field(
        4096,
        ge=1,
        description="Open connections per process; fewer if the process may open fewer files.",
    )
    head_seconds: float = Field(
        10.0, gt=0, description="Time for a client to send the head of a request, in seconds."
    )
    body_seconds: float = Field(
        20.0,
        gt=0,
        description="Time for a client to send the body of a request, in seconds; one second more per 10 kB.",
    )
    threads: int = Field(72, ge=1, description="Requests that are processed at once.")
    log: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Log level: debug, info, warning or error."
    )

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise SettingError(" ".join(map(_explain, error.errors()))) from None

    @property
    def targets(self) -> tuple[str, ...] | None:
        """The target variables of the interviews; None for those of the model."""
        return _split(self.target) or None

    @property
    def rules(self) -> dict[str, float]:
        """The conditions of the stopping rule that are given."""
        values = ((name, getattr(self, name)) for name in RULES)
        return {name: value for name, value in values if value is not None}

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
    def is_public(self) -> bool:
        """Whether others can reach the server, also through a proxy on this machine."""
        return not self.is_local or not set(_split(self.hosts)) <= set(LOOPBACK_NAMES)

    @property
    def needs_keys(self) -> bool:
        """Whether the HTTP API requires a key."""
        return self.keys == KeyRule.REQUIRED or (self.keys == KeyRule.AUTO and self.is_public)

    @property
    def workshop_folder(self) -> Path | None:
        """The folder of tables, jobs and models; None if the store is in memory, too."""
        if self.workshop:
            return Path(self.workshop)
        kind, _, path = self.store.partition(":///")
        if self.store.partition(":")[0] == "memory":
            return None
        return Path(path).parent / "workshop" if kind == "sqlite" else Path("workshop")

    @property
    def host_names(self) -> tuple[str, ...]:
        """Host names that requests may use; empty for any.

        A local server accepts only local names. This prevents DNS rebinding, where a foreign page
        resolves its own name to this machine.
        """
        names = _split(self.hosts) or (LOOPBACK_NAMES if self.is_local else ("*",))
        return () if "*" in names else (*names, self.host)


def to_environment(settings: Settings) -> dict[str, str]:
    """Return the environment variables from which a process reads the same settings."""
    values = settings.model_dump(mode="json")
    return {_variable(name): "" if value is None else f"{value}" for name, value in values.items()}


PAGE_HEAD = """\
# Settings of the service

The most common settings are options of `eddi serve`. All settings can be given as environment variables.
Options take precedence over variables, and variables over defaults. This page is generated:
`python -m eddi.service.settings > docs/reference/settings.md`.

"""


def settings_page() -> str:
    """Return the documentation page of the settings."""
    return PAGE_HEAD + settings_table()


def settings_table() -> str:
    """Return all settings as a Markdown table."""
    lines = ["| variable | default | meaning |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        lines.append(f"| `{_variable(name)}` | {_format_default(field)} | {field.description} |")
    return "\n".join(lines) + "\n"


def _format_default(field: FieldInfo) -> str:
    return "" if field.default in (None, "", math.inf) else f"`{field.default}`"


def _variable(name: str) -> str:
    return PREFIX + name.upper()


def _split(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _explain(error: ErrorDetails) -> str:
    """Return an error of pydantic as a sentence about the environment variable."""
    name, kind, value = str(error["loc"][0]), error["type"], error["input"]
    context = error.get("ctx", {})
    if kind == "greater_than":
        return f"{_variable(name)} must be more than {context['gt']:g}, got {value}."
    if kind in ("greater_than_equal", "less_than_equal"):
        expected = f"between 0 and {MAX_PORT}" if name == "port" else f"{context['ge']:g} or more"
        return f"{_variable(name)} must be {expected}, got {value}."
    if kind == "int_parsing":
        expected = "a whole number"
    elif kind == "float_parsing":
        expected = "a number"
    elif kind in ("enum", "literal_error"):
        expected = context["expected"].replace("'", "")
    else:
        return f"{_variable(name)} is not valid: {error['msg']}, got {value!r}."
    return f"{_variable(name)} must be {expected}, got {value!r}."


if __name__ == "__main__":
    sys.stdout.write(settings_page())
