"""Layers rot unless a machine keeps them: who may import whom, and how large things may grow."""

import ast
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest

import eddi

PACKAGE = Path(eddi.__file__).parent
FILES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))

ROOMS = (
    *("errors", "engine", "table", "model", "reward", "strategy", "interview", "evaluate", "store"),
    *("service", "cli"),
)
TESTING_SEES = ROOMS[: ROOMS.index("evaluate") + 1]
FORBIDDEN_NAMES = {"utils", "common", "core", "helpers"}
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60

# A library, and the only files or folders of the package that may name it.
HOMES = {
    "pandas": ("table/", "cli/demo.py"),
    "polars": ("table/", "cli/demo.py"),
    "sklearn": ("model/partial_vae.py", "strategy/lasso.py", "cli/demo_study.py"),
}
HOMES |= dict.fromkeys(("sqlalchemy", "sqlite3", "alembic", "psycopg"), ("store/",))
HOMES |= dict.fromkeys(("fastapi", "starlette", "uvicorn", "jinja2"), ("service/", "cli/serve.py"))
TORCHLESS = ("table/", "store/", "interview/record.py", "errors.py", "cli/terminal.py")
DANGEROUS_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
DANGEROUS_CALLS = {"eval", "exec", "os.system", "os.popen", "torch.load"}


def room(file: str) -> str:
    """The room a file of the package, or a module below ``eddi``, belongs to."""
    first = PurePosixPath(file).parts[0].removesuffix(".py")
    return "cli" if first == "__main__" else first


def imports(file: str, tree: ast.AST) -> Iterator[str]:
    """Every module imported anywhere in a file, names of the public face led back to their homes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = ("eddi", *PurePosixPath(file).parts)[: -node.level]
                base = ".".join([*parts, *filter(None, [node.module])])
            yield from (_target(base, alias.name) for alias in node.names)


def _target(base: str, name: str) -> str:
    if base != "eddi":
        return f"{base}.{name}"
    return f"{eddi._MODULES.get(name, 'eddi')}.{name}"


def layer_faults(file: str, source: str) -> Iterator[str]:
    if file == "__init__.py":  # its table of names is lazy; a test below resolves them all
        return
    here = room(file)
    for module in imports(file, ast.parse(source)):
        parts = module.split(".")
        if parts[0] == "eddi_benchmarks":
            yield f"{file} imports {module}: nothing imports the benchmarks"
        if parts[0] != "eddi" or module == "eddi.__version__":
            continue
        there = "eddi" if len(parts) == 1 else room(parts[1])
        if there != here and not _may_see(here, there):
            yield f"{file} imports {module}: {here} may not see {there}"


def _may_see(here: str, there: str) -> bool:
    if here == "testing":
        return there in ("store", *TESTING_SEES, "eddi")  # the public face, as any user has it
    return here in ROOMS and there in ROOMS and ROOMS.index(there) < ROOMS.index(here)


def library_faults(file: str, source: str) -> Iterator[str]:
    for module in imports(file, ast.parse(source)):
        library = module.split(".")[0]
        if library in HOMES and not file.startswith(HOMES[library]):
            yield f"{file} imports {module}: {library} stays in {', '.join(HOMES[library])}"
        if library == "torch" and file.startswith(TORCHLESS):
            yield f"{file} imports {module}: no torch here"


def danger_faults(file: str, source: str) -> Iterator[str]:
    tree = ast.parse(source)
    for module in imports(file, tree):
        if module.split(".")[0] in DANGEROUS_MODULES or module in DANGEROUS_CALLS:
            yield f"{file} imports {module}, which can run what a file says"
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if ast.unparse(node.func) in DANGEROUS_CALLS:
                yield f"{file}:{node.lineno} calls {ast.unparse(node.func)}"
            if any(k.arg == "shell" and ast.unparse(k.value) != "False" for k in node.keywords):
                yield f"{file}:{node.lineno} runs a shell"


def size_faults(file: str, source: str) -> Iterator[str]:
    n_lines = len(source.splitlines())
    if n_lines > MAX_FILE_LINES:
        yield f"{file} has {n_lines} lines"
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > MAX_FUNCTION_LINES:
                yield f"{file}: {node.name} has {length} lines"


def name_faults(file: str, source: str) -> Iterator[str]:
    path = PurePosixPath(file)
    yield from (f"{file} lies in {part!r}" for part in path.parent.parts if part in FORBIDDEN_NAMES)
    if path.stem in FORBIDDEN_NAMES:
        yield f"{file} is called {path.stem!r}"
    if path.name == "__init__.py" and len(path.parts) > 1 and not _only_exports(source):
        yield f"{file} does more than export names"


def _only_exports(source: str) -> bool:
    allowed = ast.ImportFrom, ast.Assign, ast.Expr
    return all(isinstance(node, allowed) for node in ast.parse(source).body)


CHECKS = (layer_faults, library_faults, danger_faults, size_faults, name_faults)


def faults(file: str, source: str) -> list[str]:
    return [fault for check in CHECKS for fault in check(file, source)]


@pytest.mark.parametrize("file", FILES)
def test_a_file_keeps_to_its_layer_and_size(file: str) -> None:
    assert faults(file, (PACKAGE / file).read_text(encoding="utf-8")) == []


def test_the_package_was_found() -> None:
    assert {"errors.py", "cli/app.py", "table/schema.py", "model/partial_vae.py"} <= set(FILES)


@pytest.mark.parametrize("name", eddi.__all__)
def test_every_public_name_resolves(name: str) -> None:
    assert getattr(eddi, name) is not None


@pytest.mark.parametrize(
    ("file", "source", "word"),
    [
        ("table/x.py", "from eddi.model.base import Model", "may not see model"),
        ("table/x.py", "def f():\n    from eddi.model import base", "may not see model"),
        ("table/x.py", "if TYPE_CHECKING:\n    import eddi.model.base", "may not see model"),
        ("table/x.py", "from ..model import base", "may not see model"),
        ("table/deep/x.py", "from ... import cli", "may not see cli"),
        ("table/x.py", "from eddi import PartialVAE", "may not see model"),
        ("table/x.py", "import eddi", "may not see eddi"),
        ("errors.py", "from eddi.table import schema", "may not see table"),
        ("evaluate/x.py", "import eddi_benchmarks.paper", "nothing imports the benchmarks"),
        ("service/x.py", "from eddi import testing", "may not see"),
        ("cellar/x.py", "from eddi.table import schema", "may not see table"),
        ("model/x.py", "import pandas as pd", "pandas stays in"),
        ("model/training.py", "from sklearn.base import BaseEstimator", "sklearn stays in"),
        ("service/x.py", "import sqlalchemy as sa", "sqlalchemy stays in"),
        ("cli/store.py", "import sqlite3", "sqlite3 stays in"),
        ("store/x.py", "from fastapi import FastAPI", "fastapi stays in"),
        ("store/x.py", "from eddi.service import app", "may not see service"),
        ("table/x.py", "import torch.nn", "no torch"),
        ("store/x.py", "import torch", "no torch"),
        ("interview/record.py", "def f():\n    from torch import Tensor", "no torch"),
        ("model/x.py", "import pickle", "pickle"),
        ("model/x.py", "from torch import load", "torch.load"),
        ("model/x.py", "torch.load('x')", "torch.load"),
        ("model/x.py", "def f(text):\n    return eval(text)", "eval"),
        ("model/x.py", "os.system('ls')", "os.system"),
        ("model/x.py", "subprocess.run('ls', shell=True)", "shell"),
        ("model/x.py", "x = 1\n" * 401, "401 lines"),
        ("model/x.py", "def f():\n" + "    x = 1\n" * 60, "61 lines"),
        ("model/utils/x.py", "", "utils"),
        ("model/helpers.py", "", "helpers"),
        ("model/__init__.py", "def f(): ...", "more than export"),
    ],
)
def test_a_planted_fault_is_found(file: str, source: str, word: str) -> None:
    assert word in "\n".join(faults(file, source))


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("model/x.py", "from eddi.table import schema\nfrom eddi import __version__"),
        ("cli/app.py", "from eddi.cli.errors import check_output"),
        ("model/x.py", "network.eval()"),
        ("testing.py", "from eddi.store.base import Store"),
        ("store/x.py", "import sqlalchemy"),
    ],
)
def test_what_is_allowed_is_let_through(file: str, source: str) -> None:
    assert faults(file, source) == []
