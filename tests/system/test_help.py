"""Help answers at once: nothing heavy is imported before a verb runs."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import ENVIRONMENT, Eddi

HEAVY = ("torch", "numpy", "sklearn", "pyarrow", "pandas", "matplotlib")
PROBE = """
import sys
sys.argv = ["eddi", *{words}]
try:
    from eddi.cli import main
    main()
finally:
    heavy = [name for name in {heavy} if name in sys.modules]
    print("HEAVY", *heavy, file=sys.stderr)
"""


def run(code: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, check=False)


@pytest.mark.parametrize("words", [["--help"], ["fit", "--help"], ["--version"], ["fit", "--nonsense"]])
def test_help_imports_nothing_heavy(words: list[str]) -> None:
    result = run(PROBE.format(words=words, heavy=HEAVY))
    assert result.stderr.splitlines()[-1] == "HEAVY"


def test_importing_eddi_imports_nothing_heavy() -> None:
    result = run(f"import eddi, sys; print([name for name in {HEAVY} if name in sys.modules])")
    assert result.stdout.strip() == "[]"


def test_a_schema_needs_no_torch(people: Path) -> None:
    probe = PROBE.format(words=["schema", str(people)], heavy=("torch", "sklearn"))
    assert run(probe).stderr.splitlines()[-1] == "HEAVY"


def test_help_is_fast() -> None:
    def seconds(code: str) -> float:
        """Of processor time, which other tests on this machine do not lengthen."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run(code)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    bare = min(seconds("pass") for _ in range(3))
    asked = min(seconds(PROBE.format(words=["fit", "--help"], heavy=HEAVY)) for _ in range(5))
    assert asked - bare < 0.5


def test_help_names_the_exit_codes_and_at_most_eight_options(eddi: Eddi) -> None:
    assert "Exit codes: 0" in eddi("--help").stdout
    for verb in ("schema", "fit", "impute", "describe", "demo", "interview", "ask", "simulate"):
        shown = eddi(verb, "--help").stdout
        assert "130" in shown
        options = [line for line in shown.splitlines() if line.startswith("│    --")]
        assert len(options) - 1 <= 8  # --help itself apart, and what is required is no option
