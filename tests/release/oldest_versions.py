"""Print the oldest supported version of every direct dependency, as requirements for pip.

`make test-oldest` installs them. A lower bound in pyproject.toml is a claim, and this tests it.
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
EXTRAS = ("plots", "excel", "web")
TEST_PACKAGES = ("httpx", "hypothesis", "openpyxl", "pandas", "polars", "pytest")
REQUIREMENT = re.compile(r"(?P<name>[a-z0-9-]+)>=(?P<version>[0-9.]+)")


def oldest_versions() -> dict[str, str]:
    """The lower bound of each direct dependency, of the extras that are tested, and of the test tools."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    versions = dict(
        _parse([*project["dependencies"], *(line for name in EXTRAS for line in extras[name])])
    )
    tools = dict(_parse(extras["test"]))
    return {**{name: tools[name] for name in TEST_PACKAGES}, **versions}


def _parse(requirements: list[str]) -> Iterator[tuple[str, str]]:
    for requirement in requirements:
        if match := REQUIREMENT.fullmatch(requirement):
            yield match["name"], match["version"]


if __name__ == "__main__":
    lines = [f"{name}=={version}" for name, version in sorted(oldest_versions().items())]
    sys.stdout.write("\n".join(lines) + "\n")
