"""Type checkers know the type of everything that a user's script gets from EDDI."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import eddi

SCRIPT = Path(__file__).with_name("user_script.py")
SOURCE = Path(eddi.__file__).parents[1]


def run_mypy(script, folder):
    options = ("--strict", "--disallow-any-expr", "--follow-imports=silent", "--config-file=")
    return subprocess.run(
        [sys.executable, "-m", "mypy", *options, f"--cache-dir={folder}", str(script)],
        env={**os.environ, "MYPYPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_a_script_of_a_user_has_no_expression_of_type_any(tmp_path):
    checked = run_mypy(SCRIPT, tmp_path / "cache")
    assert checked.returncode == 0, checked.stdout
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "import eddi\n\n"
        "def f(model: eddi.PartialVAE) -> None:\n"
        "    eddi.Interview(model, 'risk').predict().meen\n"
        "    eddi.Stopp(after=1)\n"
    )
    messages = run_mypy(wrong, tmp_path / "cache").stdout
    assert '"Prediction" has no attribute "meen"' in messages
    assert 'Module has no attribute "Stopp"' in messages
