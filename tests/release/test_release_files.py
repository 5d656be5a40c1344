"""The version is the same everywhere, and the lower bounds of dependencies can be tested."""

import re
import tomllib
from pathlib import Path

import eddi

from .oldest_versions import oldest_versions

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_version_is_the_same_everywhere():
    assert PROJECT["version"] == eddi.__version__
    assert f"\nversion: {eddi.__version__}\n" in read("CITATION.cff")
    assert f"\n## {eddi.__version__}" in read("CHANGELOG.md")


def test_every_dependency_has_a_lower_bound_that_is_tested():
    names = {re.match("[a-z0-9-]+", line)[0] for line in PROJECT["dependencies"]}
    assert names <= set(oldest_versions())


def test_lower_bounds_are_not_above_the_tested_versions():
    pinned = dict(line.split("==") for line in read("constraints.txt").splitlines() if "==" in line)
    for name, version in oldest_versions().items():
        bound, tested = ([int(part) for part in text.split(".")] for text in (version, pinned[name]))
        assert bound <= tested, name


def test_the_workflows_test_every_supported_python():
    versions = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert versions == re.findall(
        r'"(3\.\d+)"', re.search("python: .*", read(".github/workflows/test.yml"))[0]
    )
