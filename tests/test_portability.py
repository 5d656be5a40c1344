"""The package can be imported and used on Windows: nothing relies on POSIX or on the locale."""

import ast
from pathlib import Path

import pytest

import eddi

PACKAGE = Path(eddi.__file__).parent
FILES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))
POSIX_MODULES = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"}
POSIX_FUNCTIONS = {"fork", "forkpty", "getuid", "geteuid", "killpg", "mkfifo", "nice", "setsid"}
POSIX_USERS = {
    "service/analyst/data/upload_worker.py": {"resource"},
    "service/analyst/jobs/folder_lock.py": {"fcntl"},
    "service/analyst/jobs/job_worker.py": {"nice"},
    "service/server/web_server.py": {"resource"},
}
"""Files that use something of POSIX where it exists, and something else where it does not."""
TEXT_METHODS = {"read_text", "write_text"}


def parse(file: str) -> ast.Module:
    return ast.parse((PACKAGE / file).read_text(encoding="utf-8"))


@pytest.mark.parametrize("file", FILES)
def test_no_file_needs_posix(file):
    nodes = list(ast.walk(parse(file)))
    imported = {a.name.partition(".")[0] for n in nodes if isinstance(n, ast.Import) for a in n.names}
    imported |= {str(n.module).partition(".")[0] for n in nodes if isinstance(n, ast.ImportFrom)}
    used = {
        n.attr
        for n in nodes
        if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id == "os"
    }
    found = (imported & POSIX_MODULES) | (used & POSIX_FUNCTIONS)
    assert found <= POSIX_USERS.get(file, set())


@pytest.mark.parametrize("file", FILES)
def test_text_files_are_opened_with_an_encoding(file):
    """The default is that of the locale: often Windows-1252, and never the same everywhere."""
    for node in ast.walk(parse(file)):
        if not isinstance(node, ast.Call) or any(k.arg in ("encoding", None) for k in node.keywords):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name in TEXT_METHODS:
            raise AssertionError(f"line {node.lineno}: {name} without an encoding")
        if name == "open" and _is_text_mode(node):
            raise AssertionError(f"line {node.lineno}: open without an encoding")


def _is_text_mode(node: ast.Call) -> bool:
    """Whether a call of `open` or `Path.open` has a mode, and the mode is not binary."""
    modes = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    modes = [mode for mode in modes if set(mode) <= set("rwaxbt+")]
    is_builtin = isinstance(node.func, ast.Name)
    return (bool(modes) and "b" not in modes[-1]) or (is_builtin and not modes)
