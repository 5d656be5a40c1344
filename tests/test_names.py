"""Names that were retired in favour of the established term do not come back."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = (ROOT / "src" / "eddi", ROOT / "benchmarks" / "eddi_benchmarks")
FILES = sorted(path for folder in SOURCES for path in folder.rglob("*.py"))

# Rejected as a whole name, in any case and with any leading or trailing underscores.
RETIRED_NAMES = {
    *("told", "heard", "settled", "alone", "opened", "onward", "entered", "pieces", "showing"),
    *("standing", "stand", "stands", "left_out", "outside", "worth", "care", "beginning", "same"),
    *("together", "ahead", "turns", "made", "filling", "judging", "wire"),
    *("gone_through", "supposed", "glance"),
}
# Rejected also as a part of a longer name: metaphors and words that have no other use here.
RETIRED_WORDS = {
    *("apology", "manners", "story", "shelf", "exhibits", "sitting", "desk", "dial", "farsighted"),
    *("rehearsal", "courses", "course", "examination", "cautions", "tally", "census", "promise"),
    *("promises", "unkept", "hearsay", "room", "rooms", "verb", "verbs"),
}
# Rejected for one kind of thing only; as variables, ranks and time windows are established terms.
RETIRED_BY_KIND = {
    "module": {"guard", "ranks", "windows"},
    "class": {"now", "ranks", "windows"},
    "method": {"added", "words"},
    "function": {"words"},
}


def split_words(name: str) -> list[str]:
    """The words of a name in snake_case or CamelCase, in lower case."""
    separated = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return [word for word in separated.lower().split("_") if word]


def is_retired(kind: str, name: str) -> bool:
    words = split_words(name)
    whole = "_".join(words)
    retired = RETIRED_NAMES | RETIRED_BY_KIND.get(kind, set())
    return whole in retired or not RETIRED_WORDS.isdisjoint(words)


def find_names(tree: ast.AST) -> Iterator[tuple[str, str, int]]:
    """Kind, name and line of everything that a module defines or assigns."""
    methods = {
        id(node) for owner in ast.walk(tree) if isinstance(owner, ast.ClassDef) for node in owner.body
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield "class", node.name, node.lineno
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield "method" if id(node) in methods else "function", node.name, node.lineno
        elif isinstance(node, ast.arg):
            yield "parameter", node.arg, node.lineno
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield "variable", node.id, node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield "attribute", node.attr, node.lineno
        elif isinstance(node, ast.alias) and node.asname:
            yield "variable", node.asname, node.lineno
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            yield "variable", node.name, node.lineno


def find_retired(path: Path, source: str) -> list[str]:
    """The retired names of one module, each with its line."""
    modules = [("module", part.removesuffix(".py"), 1) for part in path.parts]
    names = [*modules, *find_names(ast.parse(source))]
    return [f"{path}:{line} {kind} {name}" for kind, name, line in names if is_retired(kind, name)]


def find_package(path: Path) -> str:
    """The package that a module is reported under, such as ``eddi/table``."""
    for folder in SOURCES:
        if path.is_relative_to(folder):
            parts = path.relative_to(folder).parts
            return "/".join([folder.name, *parts[: min(2, len(parts) - 1)]])
    raise AssertionError(f"{path} is not a module of the project")


@pytest.mark.parametrize("package", sorted({find_package(path) for path in FILES}))
def test_a_package_has_no_retired_names(package: str) -> None:
    found = [
        retired
        for path in FILES
        if find_package(path) == package
        for retired in find_retired(path.relative_to(ROOT), path.read_text(encoding="utf-8"))
    ]
    assert not found, f"{len(found)} retired names in {package}:\n" + "\n".join(found)


@pytest.mark.parametrize(
    "source",
    [
        "def told(): ...",
        "class Told: ...",
        "class Now: ...",
        "class DeskError: ...",
        "def f(told): ...",
        "def f(*, told=1): ...",
        "def f(**told): ...",
        "told = 1",
        "TOLD = 1",
        "model.told_ = 1",
        "told: int = 1",
        "class A:\n    told: int",
        "class A:\n    def added(self): ...",
        "def words(): ...",
        "class A:\n    def words(self): ...",
        "for same in x: ...",
        "x = [same for same in y]",
        "with a as opened: ...",
        "from x import y as told",
        "import x as told",
        "if (told := 1): ...",
        "_tell_story = 1",
        "lambda told: 1",
        "try: ...\nexcept E as told: ...",
    ],
)
def test_a_retired_name_is_found(source: str) -> None:
    assert len(find_retired(Path("eddi/x.py"), source)) == 1


@pytest.mark.parametrize("path", ["eddi/story.py", "eddi/verbs/x.py", "eddi/guard.py", "eddi/ranks.py"])
def test_a_retired_module_name_is_found(path: str) -> None:
    assert len(find_retired(Path(path), "")) == 1


@pytest.mark.parametrize(
    "source",
    [
        "now = 1",
        "words = 1",
        "ranks = 1",
        "def added(): ...",
        "history = 1",
        "verbose = 1",
        "print(told)",
        "model.told",
        "f(told=1)",
        "{'told': 1}",
        "same_length = 1",
        "guard = 1",
    ],
)
def test_other_names_are_accepted(source: str) -> None:
    assert find_retired(Path("eddi/x.py"), source) == []
