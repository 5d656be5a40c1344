"""Suites: named sets of runs, each described by a TOML file in `eddi_benchmarks/suites`.

A suite names its experiment, the settings to vary (``[over]``: every combination of values is a run),
the settings that all runs share (``[settings]``), settings for some of the runs (``[[only]]``), and what
is different at quick size (``[quick]``).
"""

import difflib
import itertools
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from eddi.errors import EddiError
from eddi_benchmarks.harness.run_result import RunResult, read_result

KEYS = ("title", "experiment", "over", "settings", "only", "quick")
QUICK_KEYS = ("over", "settings")
PAPER_ORDER = ("paper-mnist", "paper-uci", "paper-dral", "paper-icu", "paper-nhanes")  # of its sections
SELF_TEST = "self-test"  # checks that everything works here; reproduces no claim
SINGLE_RUN = "run"  # name of the only run of a suite that varies nothing
_SUITE_FOLDER = files("eddi_benchmarks").joinpath("suites")
_FILE_NAME = re.compile(r"[A-Za-z0-9_+][A-Za-z0-9_.+-]*")


class SuiteError(EddiError, ValueError):
    """A suite is unknown, or its TOML file is not valid."""


@dataclass(frozen=True)
class Run:
    """One run: its name, which is also the name of its result file, and all its settings."""

    name: str
    settings: dict[str, Any]


@dataclass(frozen=True)
class Suite:
    """A named set of runs of one experiment, at full or quick size."""

    name: str
    title: str
    experiment: str
    runs: tuple[Run, ...]
    quick: bool = False

    @classmethod
    def load(cls, name: str, *, quick: bool = False) -> "Suite":
        """Load the suite called ``name``.

        Raises:
            SuiteError: there is no such suite, or its file is not valid.
        """
        available = suite_names()
        if name not in available:
            matches = difflib.get_close_matches(name, available, n=2)
            hint = f" Did you mean {' or '.join(map(repr, matches))}?" if matches else ""
            raise SuiteError(
                f"there is no suite {name!r}.{hint} Available suites: {', '.join(available)}."
            )
        return cls.from_toml(name, (_SUITE_FOLDER / f"{name}.toml").read_text("utf-8"), quick=quick)

    @classmethod
    def from_toml(cls, name: str, text: str, *, quick: bool = False) -> "Suite":
        """Read a suite from the text of its TOML file.

        Raises:
            SuiteError: the text is not valid.
        """
        try:
            document = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise SuiteError(f"the suite {name!r} is not TOML: {error}.") from None
        _check_keys(name, document, KEYS)
        title, experiment = (_text(name, document, key) for key in ("title", "experiment"))
        over, settings = _section(name, document, "over"), _section(name, document, "settings")
        quick_changes = _section(name, document, "quick")
        _check_keys(name, quick_changes, QUICK_KEYS, prefix="quick.")
        if quick:
            over |= _quick_over(name, quick_changes, over)
            settings |= _section(name, quick_changes, "settings", prefix="quick.")
        runs = _combine(name, over, settings)
        runs = _apply_only(name, document.get("only", []), runs)
        return cls(name, title, experiment, runs, quick)

    def select(self, conditions: Sequence[str]) -> "Suite":
        """The suite with only the runs that meet every condition.

        Args:
            conditions: texts such as "dataset=boston" or "model=ours,gdfs": a setting and the values it
                may have.

        Raises:
            SuiteError: a condition is not valid, or no run has such a value.
        """
        runs = self.runs
        for condition in conditions:
            key, _, values = condition.partition("=")
            _check_condition(self, condition, key, values.split(","))
            runs = tuple(run for run in runs if str(run.settings.get(key)) in values.split(","))
        if not runs:
            raise SuiteError(f"no run of {self.name!r} meets all of {', '.join(conditions)}.")
        return replace(self, runs=runs)

    def folder(self, results_folder: Path) -> Path:
        """The folder of this suite's results; the quick size has a folder of its own."""
        return results_folder / (f"{self.name}-quick" if self.quick else self.name)

    def results(self, results_folder: Path) -> list[RunResult]:
        """The results of finished runs in the order of the runs, ignoring those of other settings."""
        folder = self.folder(results_folder)
        results = (read_result(folder, run.name, run.settings) for run in self.runs)
        return [result for result in results if result is not None]


def suite_names() -> list[str]:
    """All suites: those of the paper in its order, each followed by its variants, then the others."""
    paths = (Path(file.name) for file in _SUITE_FOLDER.iterdir())
    return sorted((path.stem for path in paths if path.suffix == ".toml"), key=_sort_key)


def _sort_key(name: str) -> tuple[int, str]:
    places = (i for i, suite in enumerate(PAPER_ORDER) if f"{name}-".startswith(f"{suite}-"))
    return next(places, len(PAPER_ORDER)), name


def _check_condition(suite: Suite, condition: str, key: str, values: Sequence[str]) -> None:
    """Raise if no run has the setting, or one of the values."""
    available = dict.fromkeys(str(run.settings[key]) for run in suite.runs if key in run.settings)
    if not available:
        keys = dict.fromkeys(key for run in suite.runs for key in run.settings)
        raise SuiteError(
            f"the suite {suite.name!r} has no setting {key!r}, in {condition!r}. Write KEY=VALUE, or "
            f"KEY=VALUE,VALUE, with one of {', '.join(keys)}."
        )
    for value in values:
        if value not in available:
            raise SuiteError(
                f"no run of {suite.name!r} has {key}={value}. Available values: {', '.join(available)}."
            )


def _combine(suite: str, over: dict[str, Any], settings: dict[str, Any]) -> tuple[Run, ...]:
    """A run for each combination of the values in ``over``."""
    for key, values in over.items():
        if not isinstance(values, list) or not values:
            raise SuiteError(
                f"the suite {suite!r} needs a list of values in over.{key}, got {values!r}."
            )
        if key in settings:
            raise SuiteError(f"the suite {suite!r} has {key!r} both in over and in settings.")
        for value in values:
            _check_value(suite, f"over.{key}", value, allow_list=False)
    for key, value in settings.items():
        _check_value(suite, f"settings.{key}", value, allow_list=True)
    runs = [
        Run(_run_name(suite, values), {**settings, **dict(zip(over, values, strict=True))})
        for values in itertools.product(*over.values())
    ]
    names: set[str] = set()
    for run in runs:
        if run.name in names:
            raise SuiteError(f"the suite {suite!r} has two runs named {run.name!r} in over.")
        names.add(run.name)
    return tuple(runs)


def _apply_only(suite: str, only: Any, runs: tuple[Run, ...]) -> tuple[Run, ...]:
    """Add the settings of each ``[[only]]`` to the runs that match its ``when``."""
    for part in only:
        _check_keys(suite, part, ("when", "settings"), prefix="only.")
        when, settings = (_section(suite, part, key, prefix="only.") for key in ("when", "settings"))
        for key, value in settings.items():
            _check_value(suite, f"only.settings.{key}", value, allow_list=True)
        runs = tuple(
            replace(run, settings={**run.settings, **settings})
            if when.items() <= run.settings.items()
            else run
            for run in runs
        )
    return runs


def _run_name(suite: str, values: tuple[Any, ...]) -> str:
    name = "-".join(map(str, values)) or SINGLE_RUN
    if not _FILE_NAME.fullmatch(name):
        raise SuiteError(
            f"the suite {suite!r} has a run named {name!r} in over, which cannot be a file name. "
            "Use letters, digits, '_', '-', '+' and '.'."
        )
    return name


def _quick_over(suite: str, quick: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    changes = _section(suite, quick, "over", prefix="quick.")
    _check_keys(suite, changes, tuple(over), prefix="quick.over.")
    return changes


def _check_keys(
    suite: str, document: Mapping[str, Any], allowed: tuple[str, ...], *, prefix: str = ""
) -> None:
    for key in document:
        if key not in allowed:
            raise SuiteError(
                f"the suite {suite!r} has an unknown key {prefix + key!r}. "
                f"Allowed keys: {', '.join(allowed)}."
            )


def _text(suite: str, document: Mapping[str, Any], key: str) -> str:
    value = document.get(key)
    if not isinstance(value, str) or not value:
        raise SuiteError(f"the suite {suite!r} needs a text as its {key!r}, got {value!r}.")
    return value


def _section(suite: str, document: Mapping[str, Any], key: str, *, prefix: str = "") -> dict[str, Any]:
    value = document.get(key, {})
    if not isinstance(value, dict):
        raise SuiteError(f"the suite {suite!r} needs a table [{prefix}{key}], got {value!r}.")
    return dict(value)


def _check_value(suite: str, key: str, value: object, *, allow_list: bool) -> None:
    """Reject values that JSON does not preserve: a finished run is recognised by its settings."""
    if allow_list and isinstance(value, list):
        for element in value:
            _check_value(suite, key, element, allow_list=allow_list)
    elif not isinstance(value, str | int | float) or value != value:
        raise SuiteError(
            f"the suite {suite!r} has {value!r} in {key}. Use texts, numbers, true, false"
            f"{', or lists of them' if allow_list else ''}."
        )
