"""What is in the wheel and the source distribution. `make dist` builds them and runs this test."""

import os
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

import eddi

DIST = os.environ.get("EDDI_DIST", "")
SOURCE = Path(eddi.__file__).parent
MAX_WHEEL_BYTES = 2_000_000

pytestmark = pytest.mark.skipif(not DIST, reason="`make dist` builds the distributions")


def only_file(pattern: str) -> Path:
    files = list(Path(DIST).glob(pattern))
    assert len(files) == 1, f"{pattern} in {DIST}: {files}"
    return files[0]


@pytest.fixture(scope="module")
def wheel() -> list[str]:
    return zipfile.ZipFile(only_file("*.whl")).namelist()


@pytest.fixture(scope="module")
def sdist() -> list[str]:
    with tarfile.open(only_file("*.tar.gz")) as archive:
        return [name.partition("/")[2] for name in archive.getnames()]


def test_the_wheel_has_every_file_of_the_package(wheel):
    files = {
        f"eddi/{path.relative_to(SOURCE).as_posix()}" for path in SOURCE.rglob("*") if path.is_file()
    }
    expected = {name for name in files if "__pycache__" not in name}
    assert {name for name in wheel if name.startswith("eddi/")} == expected
    assert "eddi/py.typed" in wheel
    assert "eddi/demo/PROVENANCE.md" in wheel


def test_the_wheel_has_nothing_else(wheel):
    """Above all no benchmarks and no tests."""
    folders = {name.partition("/")[0] for name in wheel}
    assert folders == {"eddi", f"eddi_ml-{eddi.__version__}.dist-info"}
    assert not [name for name in wheel if "test_" in name or "benchmark" in name]


def test_the_wheel_is_small():
    assert only_file("*.whl").stat().st_size < MAX_WHEEL_BYTES


def test_the_source_distribution_has_the_package_and_no_tests(sdist, wheel):
    for name in ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff"):
        assert name in sdist
    assert {f"src/{name}" for name in wheel if name.startswith("eddi/")} <= set(sdist)
    assert not [name for name in sdist if name.startswith(("tests", "benchmarks", "docs"))]


def test_the_metadata_has_version_licence_and_extras():
    with zipfile.ZipFile(only_file("*.whl")) as archive:
        name = next(name for name in archive.namelist() if name.endswith("METADATA"))
        metadata = Parser().parsestr(archive.read(name).decode())
    assert (metadata["Name"], metadata["Version"]) == ("eddi-ml", eddi.__version__)
    assert metadata["License-Expression"] == "Apache-2.0"
    assert {"web", "plots", "postgres", "ray", "onnx", "excel"} <= set(
        metadata.get_all("Provides-Extra")
    )
