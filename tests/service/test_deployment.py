"""The files in `deploy` agree with the service: settings, health check, versions and hashes."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from eddi.service.settings import PREFIX, Settings

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
FILES = ("Containerfile", "compose.yaml", "env.example", "eddi.service", "Caddyfile")
REQUIREMENT = re.compile(r"([a-z0-9.-]+)==(\S+) --hash=sha256:[0-9a-f]{64}")


def read_requirements():
    lines = (DEPLOY / "requirements.txt").read_text().splitlines()
    return [line for line in lines if not line.startswith("#")]


@pytest.mark.parametrize("file", FILES)
def test_every_variable_is_a_setting(file):
    names = set(re.findall(r"\bEDDI_[A-Z_]+", (DEPLOY / file).read_text()))
    assert names <= {PREFIX + name.upper() for name in Settings.model_fields}


def test_every_requirement_has_a_version_and_a_hash():
    assert [line for line in read_requirements() if not REQUIREMENT.fullmatch(line)] == []


def test_the_requirements_have_the_versions_of_the_constraints():
    constraints = (ROOT / "constraints.txt").read_text().lower().replace("_", "-").splitlines()
    pinned = dict(line.partition(";")[0].strip().split("==") for line in constraints if "==" in line)
    versions = dict(REQUIREMENT.fullmatch(line).groups() for line in read_requirements())
    shared = pinned.keys() & versions.keys()
    assert {"torch", "fastapi", "sqlalchemy", "psycopg"} <= shared
    assert [name for name in shared if versions[name].partition("+")[0] != pinned[name]] == []


def test_the_requirements_name_no_server():
    assert "://" not in (DEPLOY / "requirements.txt").read_text()


def test_a_report_of_pip_becomes_requirements_without_the_project():
    spec = importlib.util.spec_from_file_location("lock", DEPLOY / "lock.py")
    lock = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(lock)

    def item(name, version):
        archive = {"hashes": {"sha256": "0" * 64}}
        info = {"archive_info": archive} if name != "eddi-ml" else {"dir_info": {}}
        return {"metadata": {"name": name, "version": version}, "download_info": info}

    report = {"install": [item("Z_x", "2"), item("eddi-ml", "0.2.0"), item("a", "1")]}
    hashed = f" --hash=sha256:{'0' * 64}\n"
    assert [*lock.format_requirements(report)] == [f"a==1{hashed}", f"z-x==2{hashed}"]


def test_the_container_copies_files_that_exist():
    text = (DEPLOY / "Containerfile").read_text()
    lines = re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE)
    sources = [source for line in lines for source in line.split()]
    assert "deploy/requirements.txt" in sources
    assert [source for source in sources if not (ROOT / source).exists()] == []


def check_health(port, **variables):
    command = [sys.executable, DEPLOY / "healthcheck.py"]
    environment = {**os.environ, "EDDI_PORT": str(port), **variables}
    return subprocess.run(command, env=environment, capture_output=True, check=False).returncode


def test_the_health_check_uses_a_name_of_the_server(serving):
    with serving(hosts="ask.example.org") as client:
        port = client.base_url.port
        assert check_health(port, EDDI_HOSTS="ask.example.org, other.example.org") == 0
        assert check_health(port, EDDI_HOSTS="") == 1  # refused: "localhost" is not among the names


def test_the_health_check_fails_without_a_server():
    assert check_health(9) == 1


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_accepts_the_unit(tmp_path):
    unit = tmp_path / "eddi.service"
    text = (DEPLOY / "eddi.service").read_text()
    unit.write_text(text.replace("/opt/eddi/bin/eddi", sys.executable))
    result = subprocess.run(
        ["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stderr) == (0, "")
