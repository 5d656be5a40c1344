"""The documentation: links lead somewhere, examples work as printed, commands and options exist."""

import ast
import doctest
import re
import shlex
import tomllib
from pathlib import Path

import pytest
import typer

from eddi import Schema
from eddi.cli import app
from eddi.table import schema_file

REPOSITORY = Path(__file__).parents[1]
DOCS = REPOSITORY / "docs"
GENERATED = tuple(
    line.removeprefix("/") for line in (REPOSITORY / ".gitignore").read_text(encoding="utf-8").split()
)
"""Pages that `make docs` writes are not in the repository."""
PAGES = sorted(
    path.relative_to(REPOSITORY).as_posix()
    for path in (*REPOSITORY.glob("*.md"), *DOCS.rglob("*.md"), *REPOSITORY.glob("examples/**/*.md"))
    if not path.relative_to(REPOSITORY).as_posix().startswith(GENERATED)
)
LINK = re.compile(r"\]\(<?(?P<path>[^)#:\s>]+)(?:#[^)\s]*)?>?\)")
BLOCK = re.compile(r"^```(?P<kind>[^\n]*)\n(?P<code>.*?)^```$", flags=re.DOTALL | re.MULTILINE)
MAGIC = re.compile(r"^(%%?|!)", flags=re.MULTILINE)
OTHER_COMMANDS = {"pip", "make", "export", "torchrun", "python", "git", "cd"}
RUN_BY_TEST_README = ("README.md", "docs/how-to/scikit-learn.md")
DOCTEST_OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def read(page: str) -> str:
    return (REPOSITORY / page).read_text(encoding="utf-8")


def read_blocks(page: str, *kinds: str) -> list[str]:
    """The blocks of code of a page in these languages, or of the directive `code-cell`."""
    blocks = [
        (match["kind"].split()[0], match["code"])
        for match in BLOCK.finditer(read(page))
        if match["kind"]
    ]
    return [code for kind, code in blocks if kind in kinds]


def with_blocks(*kinds: str) -> list[str]:
    return [page for page in PAGES if read_blocks(page, *kinds)]


@pytest.mark.parametrize("page", PAGES)
def test_every_relative_link_leads_to_a_file(page):
    for match in LINK.finditer(BLOCK.sub("", read(page))):
        target = (REPOSITORY / page).parent / match["path"]
        name = target.resolve().relative_to(REPOSITORY).as_posix()
        assert target.exists() or name in GENERATED, f"{page} links to {match['path']}"


def test_every_page_is_in_a_table_of_contents():
    listed = {
        (DOCS / page).parent / f"{entry}.md"
        for page in (path.relative_to(DOCS) for path in DOCS.rglob("*.md"))
        for block in re.findall(
            r"```\{toctree\}\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL
        )
        for entry in block.split("\n")
        if entry and not entry.startswith(":")
    }
    for page in PAGES:
        path = REPOSITORY / page
        if path.is_relative_to(DOCS) and path.parent.name != "results" and path != DOCS / "index.md":
            assert path in listed, page


@pytest.mark.parametrize("page", [page for page in PAGES if ">>> " in read(page)])
def test_the_doctests_of_a_page_pass(page):
    path = str(REPOSITORY / page)
    results = doctest.testfile(
        path, module_relative=False, optionflags=DOCTEST_OPTIONS, encoding="utf-8"
    )
    assert results.attempted > 0
    assert results.failed == 0


@pytest.mark.parametrize("page", with_blocks("python"))
def test_every_python_block_is_tested(page):
    """Some are run by `test_readme.py`, doctests by the test above, and cells by `make docs`."""
    for code in read_blocks(page, "python"):
        assert page in RUN_BY_TEST_README or code.lstrip().startswith(">>> ")


@pytest.mark.parametrize("page", with_blocks("{code-cell}"))
def test_every_cell_is_valid_python(page):
    for code in read_blocks(page, "{code-cell}"):
        source = re.sub(r"\A(---\n.*?\n---\n|(:.*\n)+)", "", code, flags=re.DOTALL)
        if not MAGIC.match(source.lstrip()):
            ast.parse(source, filename=page)


@pytest.mark.parametrize("page", with_blocks("toml"))
def test_every_toml_block_has_known_keys(page):
    for code in read_blocks(page, "toml"):
        document = tomllib.loads(code)
        known = {*schema_file._TOP_KEYS, *schema_file.SECTIONS}
        sections = document if known & set(document) else {"variables": document}
        assert set(sections) <= known
        for entry in sections.get("variables", {}).values():
            assert set(entry) <= set(schema_file._VARIABLE_KEYS)
        for entry in sections.get("questions", {}).values():
            assert set(entry) <= set(schema_file._QUESTION_KEYS)
        if variables := sections.get("variables"):
            parts = {name: sections[name] for name in ("variables", "time") if name in sections}
            assert set(variables) <= set(Schema.from_document(parts).names)


def find_options(words: list[str]) -> tuple[list[str], set[str]]:
    """The names of a command and its subcommand, and the options that it accepts."""
    command, names = typer.main.get_command(app), []
    while words and words[0] in getattr(command, "commands", {}):
        names.append(words[0])
        command, words = command.commands[words[0]], words[1:]
    return names, {option for parameter in command.params for option in parameter.opts}


def check_command(line: str) -> None:
    """Check that a line of a shell block is a command that exists, with options that it has."""
    words = shlex.split(line, comments=True)
    while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
        words = words[1:]
    if words[:1] == ["torchrun"]:
        words = ["eddi", *words[words.index("eddi") + 1 :]]
    if words[0] in OTHER_COMMANDS:
        return
    assert words[0] == "eddi", line
    names, options = find_options(words[1:])
    assert names, line
    if names == ["bench"]:  # the benchmarks are another package, and not installed here
        return
    given = {word.partition("=")[0] for word in words if re.match(r"--?[a-zA-Z]", word)}
    assert given <= options | {"--version", "--help"}, line


@pytest.mark.parametrize("page", with_blocks("sh", "console"))
def test_the_commands_and_options_of_shell_blocks_exist(page):
    for code in read_blocks(page, "sh", "console"):
        for line in code.replace("\\\n", " ").splitlines():
            if line.strip() and not line.startswith("#"):
                check_command(line)


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"])
def test_the_commands_of_plain_blocks_exist(page):
    targets = re.findall(r"^([a-z-]+):.*##", read("Makefile"), flags=re.MULTILINE)
    blocks = [match["code"] for match in BLOCK.finditer(read(page)) if not match["kind"]]
    for line in "\n".join(blocks).splitlines():
        if line.startswith("make "):
            assert line.split()[1] in targets, line
        command = line.partition(" | ")[2] or line
        if command.startswith("eddi "):
            check_command(command)


def test_the_commands_in_cells_exist():
    cells = [
        code for page in PAGES for code in read_blocks(page, "{code-cell}") if code.startswith("%%bash")
    ]
    lines = [line for code in cells for line in code.splitlines() if line.startswith("eddi ")]
    assert len(lines) >= 3
    for line in lines:
        check_command(line)


def test_a_command_that_does_not_exist_is_found():
    for line in ("eddi fti people.csv", "eddi fit people.csv --epochs 3", "edi fit"):
        with pytest.raises(AssertionError):
            check_command(line)
