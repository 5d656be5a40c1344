"""The structure of the package: which module may import what, and how large modules may be."""

import ast
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path, PurePosixPath

import pytest

import eddi

PACKAGE = Path(eddi.__file__).parent
FILES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))

# A layer imports only from layers before it, also inside functions and under TYPE_CHECKING.
LAYERS = (
    *("errors", "durable_file", "engine", "table", "demo", "model", "recipes", "reward"),
    *("strategy", "interview"),
    *("estimator_input", "partial_vae", "supervised", "evaluate", "store", "service", "cli"),
)
# Inside `model`, a part imports only from tiers before its own: neither training nor inference imports
# the other.
MODEL_TIERS = (
    ("concordance", "survival_curve", "threads"),
    ("cache", "certificate", "container", "prediction", "quality", "recipe", "survival_quality"),
    ("network",),
    ("training", "inference"),
    ("learned_attributes",),
    ("base", "fitted", "item_bank"),
    ("files", "fit"),
    ("bulk_impute", "grid_imputation"),
)
PROTOCOL_USERS = ("interview/", "evaluate/", "service/")  # they depend on `Model`, not on the estimator
TRAINING_MODULES = ("job_worker.py", "candidate.py")  # the modules among those that fit a model

# A library, and the only files or folders that may import it.
LIBRARY_USERS = {
    "pandas": ("table/",),
    "polars": ("table/",),
    "sklearn": (
        *("estimator_input.py", "partial_vae.py", "supervised.py"),
        "strategy/lasso.py",
    ),
    **dict.fromkeys(("sqlalchemy", "sqlite3", "alembic", "psycopg"), ("store/",)),
    **dict.fromkeys(("mcp", "mcp_types"), ("service/agents/",)),
    **dict.fromkeys(("fastapi", "starlette", "uvicorn", "jinja2"), ("service/", "cli/serve.py")),
}
WITHOUT_TORCH = (
    "errors.py",
    "durable_file.py",
    "engine.py",
    "table/",
    "demo/",
    "store/",
    "interview/record.py",
    "cli/terminal.py",
)

UNSAFE_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
UNSAFE_CALLS = {"eval", "exec", "os.system", "os.popen", "torch.load"}

# Caches live on the object they belong to. These are module-level caches that keep no model alive that
# a user has dropped: the model file a worker read last, the model of the contract tests, and the
# compiled templates of the error pages.
MODULE_CACHES = ("model/files/archive.py", "testing.py", "service/web/error_pages.py")

VAGUE_NAMES = {"utils", "common", "core", "helpers"}
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60
MAX_MODULES = 16  # of a package; the command line has one module per command
LARGE_PACKAGES = {"cli"}


def find_layer(file: str) -> str:
    """The layer of a file of the package, or of a module below ``eddi``."""
    first = PurePosixPath(file).parts[0].removesuffix(".py")
    return "cli" if first == "__main__" else first


def read_public_names() -> dict[str, str]:
    """The module of each public name of ``eddi``."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    return {alias.asname or alias.name: str(node.module) for node in imports for alias in node.names}


PUBLIC_NAMES = read_public_names()


def find_imports(file: str, tree: ast.AST) -> Iterator[str]:
    """Every name that a file imports, with its module; public names with the module that defines them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = ("eddi", *PurePosixPath(file).parts)[: -node.level]
                base = ".".join([*parts, *filter(None, [node.module])])
            for alias in node.names:
                module = PUBLIC_NAMES.get(alias.name, "eddi") if base == "eddi" else base
                yield f"{module}.{alias.name}"


parse = lru_cache(maxsize=1)(ast.parse)  # all checks of a module in turn


def check_layers(file: str, source: str) -> Iterator[str]:
    if file == "__init__.py":  # its imports are for type checkers only; names are imported lazily
        return
    layer = find_layer(file)
    for module in find_imports(file, parse(source)):
        parts = module.split(".")
        if parts[0] == "eddi_benchmarks":
            yield f"{file} imports {module}: nothing imports the benchmarks"
        if parts[0] != "eddi" or module == "eddi.__version__":
            continue
        imported = "eddi" if len(parts) == 1 else find_layer(parts[1])
        if imported != layer and not _may_import(layer, imported):
            yield f"{file} imports {module}: {layer} may not import {imported}"


def _may_import(layer: str, imported: str) -> bool:
    if layer == "testing":  # contract tests use the package as any user does
        return imported == "eddi" or imported in LAYERS[: LAYERS.index("service")]
    return layer in LAYERS and imported in LAYERS and LAYERS.index(imported) < LAYERS.index(layer)


def check_model_tiers(file: str, source: str) -> Iterator[str]:
    path = PurePosixPath(file)
    if path.parts[0] != "model" or file == "model/__init__.py":
        return
    part = path.parts[1].removesuffix(".py")
    tier = _find_tier(part)
    if tier is None:
        yield f"{file} belongs to no tier of the model package"
        return
    for module in find_imports(file, parse(source)):
        parts = module.split(".")
        if parts[:2] != ["eddi", "model"] or len(parts) < 3 or parts[2] == part:
            continue
        imported = _find_tier(parts[2])
        if imported is not None and imported >= tier:
            yield f"{file} imports {module}: inside model, {part} may not import {parts[2]}"


def _find_tier(part: str) -> int | None:
    return next((tier for tier, parts in enumerate(MODEL_TIERS) if part in parts), None)


def check_entry_points(file: str, source: str) -> Iterator[str]:
    """Packages that are used through one entry point."""
    for module in find_imports(file, parse(source)):
        is_paper = module.startswith("eddi.reward.paper")
        if is_paper and not file.startswith(("strategy/", "reward/paper/")):
            yield f"{file} imports {module}: only strategies use the paper's reward"
        is_estimator = module.startswith(("eddi.partial_vae", "eddi.supervised"))
        if is_estimator and file.startswith(PROTOCOL_USERS) and not file.endswith(TRAINING_MODULES):
            yield f"{file} imports {module}: depend on the Model protocol, not on the estimator"


def check_libraries(file: str, source: str) -> Iterator[str]:
    for module in find_imports(file, parse(source)):
        library = module.split(".")[0]
        users = LIBRARY_USERS.get(library)
        if users is not None and not file.startswith(users):
            yield f"{file} imports {module}: only {', '.join(users)} may import {library}"
        if library == "torch" and file.startswith(WITHOUT_TORCH):
            yield f"{file} imports {module}: it must work without torch"


def check_safety(file: str, source: str) -> Iterator[str]:
    tree = parse(source)
    for module in find_imports(file, tree):
        if module.split(".")[0] in UNSAFE_MODULES or module in UNSAFE_CALLS:
            yield f"{file} imports {module}, which can run code from a file"
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if ast.unparse(node.func) in UNSAFE_CALLS:
                yield f"{file}:{node.lineno} calls {ast.unparse(node.func)}"
            if any(k.arg == "shell" and ast.unparse(k.value) != "False" for k in node.keywords):
                yield f"{file}:{node.lineno} runs a shell"


def check_typing(file: str, source: str) -> Iterator[str]:
    """Attributes are accessed by name, so that the type checker sees them."""
    for node in ast.walk(parse(source)):
        is_getattr = isinstance(node, ast.Call) and ast.unparse(node.func) == "getattr"
        if is_getattr and len(node.args) > 1 and isinstance(node.args[1], ast.Constant):
            yield f"{file}:{node.lineno} calls getattr with the literal {node.args[1].value!r}"
    for number, line in enumerate(source.splitlines(), start=1):
        if "type: ignore[attr-defined]" in line:
            yield f"{file}:{number} ignores an undefined attribute"


def check_caches(file: str, source: str) -> Iterator[str]:
    if file.startswith(MODULE_CACHES):
        return
    tree = parse(source)
    used = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for name in ("functools.cache", "functools.lru_cache"):
        if name in used or name in find_imports(file, tree):
            yield f"{file} uses {name}: a cache belongs to an object, such as Model.cache"


def check_sizes(file: str, source: str) -> Iterator[str]:
    n_lines = len(source.splitlines())
    if n_lines > MAX_FILE_LINES:
        yield f"{file} has {n_lines} lines"
    for node in ast.walk(parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > MAX_FUNCTION_LINES:
                yield f"{file}: {node.name} has {length} lines"


def check_file_names(file: str, source: str) -> Iterator[str]:
    path = PurePosixPath(file)
    vague = VAGUE_NAMES & {*path.parent.parts, path.stem}
    yield from (f"{file} has the vague name {name!r}" for name in vague)
    if path.name == "__init__.py" and len(path.parts) > 1 and not _only_exports(source):
        yield f"{file} does more than export names"


def _only_exports(source: str) -> bool:
    allowed = ast.ImportFrom, ast.Assign, ast.Expr
    return all(isinstance(node, allowed) for node in parse(source).body)


CHECKS = (
    *(check_layers, check_model_tiers, check_entry_points, check_libraries, check_safety),
    *(check_typing, check_caches, check_sizes, check_file_names),
)


def find_violations(file: str, source: str) -> list[str]:
    return [violation for check in CHECKS for violation in check(file, source)]


@pytest.mark.parametrize("file", FILES)
def test_a_module_follows_the_rules(file: str) -> None:
    assert find_violations(file, (PACKAGE / file).read_text(encoding="utf-8")) == []


def test_the_modules_of_the_package_are_found() -> None:
    assert {"errors.py", "cli/app.py", "table/schema.py", "partial_vae.py"} <= set(FILES)


def test_no_package_has_too_many_modules() -> None:
    modules = (PurePosixPath(file) for file in FILES)
    sizes = Counter(str(path.parent) for path in modules if path.name != "__init__.py")
    too_large = {name: n for name, n in sizes.items() if n > MAX_MODULES and name not in LARGE_PACKAGES}
    assert too_large == {}


@pytest.mark.parametrize("package", ["reward", "strategy", "interview", "cli"])
def test_every_module_has_a_test_file(package: str) -> None:
    modules = [PurePosixPath(file) for file in FILES if file.startswith(f"{package}/")]
    expected = {str(path.with_name(f"test_{path.name}")) for path in modules if path.stem != "__init__"}
    # Kernels are tested with the modules that start them.
    expected -= {"reward/paper/test_kernels.py", "reward/fused/test_kernels.py"}
    expected -= {"reward/fused/test_row_kernels.py", "reward/fused/test_reward_kernels.py"}
    tests = Path(__file__).parent
    assert expected <= {path.relative_to(tests).as_posix() for path in tests.rglob("test_*.py")}


@pytest.mark.parametrize("name", eddi.__all__)
def test_every_public_name_can_be_imported(name: str) -> None:
    assert getattr(eddi, name) is not None
    assert name in PUBLIC_NAMES


@pytest.mark.parametrize(
    ("file", "source", "message"),
    [
        ("table/x.py", "from eddi.model.base import Model", "may not import model"),
        ("table/x.py", "def f():\n    from eddi.model import base", "may not import model"),
        ("table/x.py", "if TYPE_CHECKING:\n    import eddi.model.base", "may not import model"),
        ("table/x.py", "from ..model import base", "may not import model"),
        ("table/deep/x.py", "from ... import cli", "may not import cli"),
        ("table/x.py", "from eddi import PartialVAE", "may not import partial_vae"),
        ("table/x.py", "import eddi", "may not import eddi"),
        ("errors.py", "from eddi.table import schema", "may not import table"),
        ("interview/x.py", "from eddi.partial_vae import PartialVAE", "may not import partial_vae"),
        ("evaluate/x.py", "from eddi import PartialVAE", "depend on the Model protocol"),
        ("service/x.py", "from eddi.partial_vae import load", "depend on the Model protocol"),
        ("evaluate/x.py", "from eddi.reward.paper import options", "only strategies use"),
        ("reward/x.py", "from eddi.reward.paper.kernels import y", "only strategies use"),
        ("evaluate/x.py", "import eddi_benchmarks.paper", "nothing imports the benchmarks"),
        ("service/x.py", "from eddi import testing", "may not import"),
        ("testing.py", "from eddi.service import app", "may not import service"),
        ("unknown/x.py", "from eddi.table import schema", "may not import table"),
        (
            "model/network/x.py",
            "from eddi.model.training import loop",
            "network may not import training",
        ),
        ("model/training/x.py", "from eddi.model.inference import y", "may not import inference"),
        ("model/inference/x.py", "from eddi.model.training import y", "may not import training"),
        ("model/training/x.py", "from eddi.model import fitted", "training may not import fitted"),
        ("model/base.py", "from eddi.model.files import archive", "base may not import files"),
        ("model/other.py", "", "belongs to no tier"),
        ("model/base.py", "import pandas as pd", "may import pandas"),
        ("model/base.py", "from sklearn.base import BaseEstimator", "may import sklearn"),
        ("service/x.py", "import sqlalchemy as sa", "may import sqlalchemy"),
        ("cli/store.py", "import sqlite3", "may import sqlite3"),
        ("store/x.py", "from fastapi import FastAPI", "may import fastapi"),
        ("store/x.py", "from eddi.service import app", "may not import service"),
        ("table/x.py", "import torch.nn", "without torch"),
        ("store/x.py", "import torch", "without torch"),
        ("interview/record.py", "def f():\n    from torch import Tensor", "without torch"),
        ("reward/x.py", "import pickle", "pickle"),
        ("reward/x.py", "from torch import load", "torch.load"),
        ("reward/x.py", "torch.load('x')", "torch.load"),
        ("reward/x.py", "def f(text):\n    return eval(text)", "eval"),
        ("reward/x.py", "os.system('ls')", "os.system"),
        ("reward/x.py", "subprocess.run('ls', shell=True)", "shell"),
        ("reward/x.py", "getattr(model, 'schema_')", "literal 'schema_'"),
        ("reward/x.py", "getattr(model, 'schema_', None)", "literal 'schema_'"),
        ("reward/x.py", "model.x  # type: ignore[attr-defined]", "undefined attribute"),
        ("reward/x.py", "from functools import lru_cache", "belongs to an object"),
        ("reward/x.py", "import functools\n@functools.cache\ndef f(model): ...", "belongs to an object"),
        ("reward/x.py", "x = 1\n" * 401, "401 lines"),
        ("reward/x.py", "def f():\n" + "    x = 1\n" * 60, "61 lines"),
        ("reward/utils/x.py", "", "utils"),
        ("reward/helpers.py", "", "helpers"),
        ("reward/__init__.py", "def f(): ...", "more than export"),
    ],
)
def test_a_violation_is_found(file: str, source: str, message: str) -> None:
    assert message in "\n".join(find_violations(file, source))


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("model/base.py", "from eddi.table import schema\nfrom eddi import __version__"),
        ("model/files/x.py", "from eddi.model.training.loop import train"),
        ("model/network/x.py", "from eddi.model.network import heads\nfrom eddi.model import recipe"),
        ("strategy/x.py", "from eddi.reward.paper.latent_information import latent_information"),
        ("service/analyst/jobs/job_worker.py", "from eddi.partial_vae import PartialVAE"),
        ("cli/app.py", "from eddi.cli.errors import check_output"),
        ("reward/x.py", "network.eval()"),
        ("reward/x.py", "getattr(settings, name)"),
        ("reward/x.py", "from functools import cached_property, partial"),
        ("testing.py", "from functools import cache\nfrom eddi.store.base import Store\nimport eddi"),
        ("store/x.py", "import sqlalchemy"),
    ],
)
def test_code_that_follows_the_rules_is_accepted(file: str, source: str) -> None:
    assert find_violations(file, source) == []
