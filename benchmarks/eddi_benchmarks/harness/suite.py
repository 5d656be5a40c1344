"""Suites: named sets of runs, each a small TOML file of this package.

A suite names its experiment, what is varied (``[over]``: every combination is a run), what is the same
in every run (``[settings]``), and what is different where only a quick look is wanted (``[quick]``).
"""

import difflib
import itertools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from eddi.errors import EddiError
from eddi_benchmarks.harness import results
from eddi_benchmarks.harness.experiment import Outcome

KEYS = ("title", "experiment", "over", "settings", "only", "quick")
QUICK_KEYS = ("over", "settings")
PAPER_ORDER = ("paper-mnist", "paper-uci", "paper-dral", "paper-icu", "paper-nhanes")  # as it tells them
SELF_TEST = "self-test"  # the suite that shows whether everything works, and proves no claim
ONLY_RUN = "run"  # the name of the run of a suite that varies nothing
_FILE_NAME = re.compile(r"[A-Za-z0-9_+][A-Za-z0-9_.+-]*")


class SuiteError(EddiError, ValueError):
    """A suite is unknown, or its TOML file is not one."""


@dataclass(frozen=True)
class Run:
    """One execution: the name its result is kept under, and its settings in full."""

    name: str
    settings: dict[str, Any]


@dataclass(frozen=True)
class Suite:
    """A named set of runs of one experiment."""

    name: str
    title: str
    experiment: str
    runs: tuple[Run, ...]
    quick: bool = False

    @classmethod
    def load(cls, name: str, *, quick: bool = False) -> "Suite":
        """The suite called ``name``, in full or at its quick size.

        Raises:
            SuiteError: there is no such suite, or its file is broken.
        """
        known = names()
        if name not in known:
            close = difflib.get_close_matches(name, known, n=2)
            meant = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
            raise SuiteError(f"there is no suite {name!r}.{meant} There are {', '.join(known)}.")
        return cls.from_toml(name, (_FOLDER / f"{name}.toml").read_text("utf-8"), quick=quick)

    @classmethod
    def from_toml(cls, name: str, text: str, *, quick: bool = False) -> "Suite":
        """The suite that ``text`` describes."""
        try:
            document = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise SuiteError(f"the suite {name!r} is not TOML: {error}.") from None
        _check_keys(name, document, KEYS)
        title, experiment = (_text(name, document, key) for key in ("title", "experiment"))
        over, settings = _part(name, document, "over"), _part(name, document, "settings")
        different = _part(name, document, "quick")
        _check_keys(name, different, QUICK_KEYS, inside="quick.")
        if quick:
            over |= _quick_over(name, different, over)
            settings |= _part(name, different, "settings", inside="quick.")
        runs = _runs(name, over, settings)
        return cls(name, title, experiment, _with_only(name, document.get("only", []), runs), quick)

    def folder(self, results_folder: Path) -> Path:
        """Where the results of this suite lie; a quick look has a folder of its own."""
        return results_folder / (f"{self.name}-quick" if self.quick else self.name)

    def outcomes(self, results_folder: Path) -> list[Outcome]:
        """The finished runs of this suite, in its order; those of other settings are not among them."""
        folder = self.folder(results_folder)
        found = (read_outcome(folder, run) for run in self.runs)
        return [outcome for outcome in found if outcome is not None]


def names() -> list[str]:
    """The suites there are: the paper's in its order, each before its variants, then the others."""
    places = (Path(place.name) for place in _FOLDER.iterdir())
    return sorted((place.stem for place in places if place.suffix == ".toml"), key=_place_in_paper)


def read_outcome(folder: Path, run: Run) -> Outcome | None:
    """What is kept of ``run`` in ``folder``, or None where it is not finished with these settings."""
    content = results.read(folder / f"{run.name}.json")
    if content is None or content.get("settings") != run.settings:
        return None
    parts = [content.get(key) for key in ("figures", "circumstances")]
    figures, circumstances = parts
    if not (isinstance(figures, dict) and isinstance(circumstances, dict)):
        return None
    return Outcome(run.name, run.settings, figures, circumstances, folder / run.name)


def write_outcome(folder: Path, outcome: Outcome) -> None:
    """Keep ``outcome`` in ``folder``, in one piece or not at all."""
    content = asdict(outcome)
    del content["folder"]
    results.write(folder / f"{outcome.run}.json", content)


_FOLDER = files("eddi_benchmarks").joinpath("suites")


def _place_in_paper(name: str) -> tuple[int, str]:
    told = (place for place, first in enumerate(PAPER_ORDER) if f"{name}-".startswith(f"{first}-"))
    return next(told, len(PAPER_ORDER)), name


def _runs(suite: str, over: dict[str, Any], settings: dict[str, Any]) -> tuple[Run, ...]:
    for key, values in over.items():
        if not isinstance(values, list) or not values:
            raise SuiteError(f"the suite {suite!r} has no list of values in over.{key}: {values!r}.")
        if key in settings:
            raise SuiteError(f"the suite {suite!r} has {key!r} both in over and in settings.")
        for value in values:
            _check_plain(suite, f"over.{key}", value, inside=False)
    for key, value in settings.items():
        _check_plain(suite, f"settings.{key}", value, inside=True)
    runs = [
        Run(_run_name(suite, values), {**settings, **dict(zip(over, values, strict=True))})
        for values in itertools.product(*over.values())
    ]
    taken: set[str] = set()
    for run in runs:
        if run.name in taken:
            raise SuiteError(f"the suite {suite!r} has two runs named {run.name!r} in over.")
        taken.add(run.name)
    return tuple(runs)


def _with_only(suite: str, only: Any, runs: tuple[Run, ...]) -> tuple[Run, ...]:
    """The runs, some with settings that concern them alone: [[only]] when = {...}, settings = {...}."""
    for part in only:
        _check_keys(suite, part, ("when", "settings"), inside="only.")
        when, settings = (_part(suite, part, key, inside="only.") for key in ("when", "settings"))
        for key, value in settings.items():
            _check_plain(suite, f"only.settings.{key}", value, inside=True)
        runs = tuple(
            replace(run, settings={**run.settings, **settings})
            if when.items() <= run.settings.items()
            else run
            for run in runs
        )
    return runs


def _run_name(suite: str, values: tuple[Any, ...]) -> str:
    name = "-".join(map(str, values)) or ONLY_RUN
    if not _FILE_NAME.fullmatch(name):
        raise SuiteError(
            f"the suite {suite!r} has a run named {name!r} in over, which cannot be a file's name. "
            "Use letters, digits, '_', '-', '+' and '.'."
        )
    return name


def _quick_over(suite: str, quick: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    changed = _part(suite, quick, "over", inside="quick.")
    _check_keys(suite, changed, tuple(over), inside="quick.over.")
    return changed


def _check_keys(
    suite: str, document: Mapping[str, Any], known: tuple[str, ...], *, inside: str = ""
) -> None:
    for key in document:
        if key not in known:
            raise SuiteError(
                f"the suite {suite!r} has an unknown key {inside + key!r}. There are {', '.join(known)}."
            )


def _text(suite: str, document: Mapping[str, Any], key: str) -> str:
    value = document.get(key)
    if not isinstance(value, str) or not value:
        raise SuiteError(f"the suite {suite!r} needs a text as its {key!r}, got {value!r}.")
    return value


def _part(suite: str, document: Mapping[str, Any], key: str, *, inside: str = "") -> dict[str, Any]:
    value = document.get(key, {})
    if not isinstance(value, dict):
        raise SuiteError(f"the suite {suite!r} needs a table [{inside}{key}], got {value!r}.")
    return dict(value)


def _check_plain(suite: str, key: str, value: object, *, inside: bool) -> None:
    """Refuse what JSON cannot give back as it was, for a finished run is known by its settings."""
    if inside and isinstance(value, list):
        for part in value:
            _check_plain(suite, key, part, inside=inside)
    elif not isinstance(value, str | int | float) or value != value:
        raise SuiteError(
            f"the suite {suite!r} has {value!r} in {key}. Texts, numbers, true, false"
            f"{' and lists of those' if inside else ''} are allowed."
        )
