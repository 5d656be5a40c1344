"""Pages that are written from the code before the site is built: commands, TOML, HTTP, project files.

`python docs/_ext/generated_pages.py` writes them without building the site.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from repository_links import DOCS, PROJECT_PAGES, REPOSITORY, rewrite_links
from sphinx.application import Sphinx

MAX_DEPTH = 4  # of nested schemas of a request or response
FEW_ROWS = DOCS / "results" / "few-rows.json"
ERROR_TABLES = ("Real targets", "Classes")  # the tables of errors; few-rows.md has all tables


def cli_page() -> str:
    """All commands with their arguments and options, as Typer describes them."""
    command = [sys.executable, "-m", "typer", "eddi.cli", "utils", "docs", "--name", "eddi"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603
    text = text.split("\n## `eddi bench`")[0]  # the benchmarks are not part of the package
    text = re.sub(r"^\* `-h, --help`.*\n|^\* `--help`.*\n|^\* `bench`.*\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"^\*\*Options\*\*:\n\n(?!\*)", "", text, flags=re.MULTILINE)
    head, _, commands = text.partition("\n## ")
    exit_codes = next(line for line in head.splitlines() if line.startswith("Exit codes"))
    commands = commands.replace(f"{exit_codes}\n", "").replace("```console\n$ ", "```text\n")
    head = head.replace("# `eddi`", "# Command line").replace("```console\n$ ", "```text\n")
    return complete_summaries(f"{head}\n## {commands}")


def complete_summaries(page: str) -> str:
    """Replace the shortened descriptions in lists of commands by the first sentence of each command."""
    pattern = r"^#+ `eddi [a-z ]+`\n\n(.+?\.)(?:\s|$)"
    sentences = [
        " ".join(text.split()) for text in re.findall(pattern, page, flags=re.MULTILINE | re.DOTALL)
    ]

    def replace(match: re.Match[str]) -> str:
        start = match["text"].removesuffix("...").rstrip()
        full = next((sentence for sentence in sentences if sentence.startswith(start)), match["text"])
        return f"* `{match['name']}`: {full}"

    return re.sub(r"^\* `(?P<name>[a-z]+)`: (?P<text>.*)$", replace, page, flags=re.MULTILINE)


def toml_page() -> str:
    """The keys of a schema file, from the classes that read them."""
    from eddi.strategy.stopping import Stop
    from eddi.table import schema_file
    from eddi.table.languages.translations import QuestionTexts, VariableTexts
    from eddi.table.question import Question
    from eddi.table.schema import Schema
    from eddi.table.variable import Kind, Variable

    variable = {**read_arguments(Variable), **OPTION_KEYS}
    question, schema = read_arguments(Question), read_arguments(Schema)
    stop = read_arguments(Stop)
    parts = [
        TOML_HEAD,
        "## The top of the file",
        format_keys({key: schema[key] for key in schema_file._TOP_KEYS}),
        "## `[variables]`",
        f"One line per variable. The kinds are {', '.join(f'`{kind}`' for kind in Kind)}.",
        format_keys({key: variable[key] for key in schema_file._VARIABLE_KEYS}),
        "## `[questions]`",
        "One line per question. A variable that no question reveals has a question of its own name.",
        format_keys({key: question[key] for key in schema_file._QUESTION_KEYS}),
        "## `[stop]`",
        "The interview ends as soon as one of these conditions holds; see {py:obj}`eddi.Stop`.",
        format_keys({field.name: stop[field.name] for field in fields(Stop)}),
        "## `[identifiers]` and `[ignored]`",
        "Columns that are not modelled, each with the reason as text.",
        "## `[languages.CODE.variables]`",
        "Texts of variables in another language, such as `[languages.de.variables]`.",
        format_keys(read_arguments(VariableTexts)),
        "## `[languages.CODE.questions]`",
        "Texts of questions in another language.",
        format_keys(read_arguments(QuestionTexts)),
    ]
    return "\n\n".join(parts) + "\n"


OPTION_KEYS = {
    "column": "the column that lists several options, of which this variable is one.",
    "option": "the option that this variable stands for.",
    "separator": "what separates the options within a cell.",
}
TOML_HEAD = """\
# Schema file (TOML)

`eddi schema people.csv > people.toml` writes a schema file, and `eddi fit --schema people.toml` reads it. In
Python, {py:meth}`eddi.Schema.to_toml` and {py:meth}`eddi.Schema.from_toml` do the same.
[Real-world tables](../how-to/tables.md) and [groups and prerequisites](../how-to/groups.md) have examples.
[Publish a questionnaire](../how-to/questionnaires.md) has one with texts in several languages."""


def read_arguments(owner: type) -> dict[str, str]:
    """The arguments of a class and their descriptions, from its docstring."""
    section = (owner.__doc__ or "").partition("Args:")[2].partition("\n\n")[0]
    entries = re.findall(r"^ {8}(\w+): (.*(?:\n {12}.*)*)", section, flags=re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in entries}


def format_keys(keys: dict[str, str]) -> str:
    """Keys and their meaning as a table."""
    rows = (
        f"| `{key}` | {text.replace('|', chr(92) + '|').replace('``', '`')} |"
        for key, text in keys.items()
    )
    return "\n".join(["| key | meaning |", "|---|---|", *rows])


def http_page() -> str:
    """The routes of the service, from its OpenAPI document."""
    from eddi.service.app import build
    from eddi.service.settings import Settings

    with tempfile.TemporaryDirectory() as folder:
        document = build(Settings(store="memory:", workshop=folder)).openapi()
    write(DOCS / "_static" / "openapi.json", json.dumps(document, indent=1, sort_keys=True) + "\n")
    schemas = document["components"]["schemas"]
    routes = [
        (f"{method.upper()} {path}", operation)
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    ]
    rows = [f"| [`{title}`](#{_anchor(title)}) | {o.get('summary', '')} |" for title, o in routes]
    overview = "\n".join(["| route | meaning |", "|---|---|", *rows])
    sections = [
        part for title, operation in routes for part in describe_route(title, operation, schemas)
    ]
    return "\n\n".join([HTTP_HEAD, overview, *sections]) + "\n"


HTTP_HEAD = """\
# HTTP

`eddi serve` answers JSON. The running server has this description at `/openapi.json`;
<a href="../_static/openapi.json">openapi.json</a> is the same document for generators of clients.
Keys of the API are created with `eddi keys issue`, and are sent as `Authorization: Bearer KEY`.
All errors are `application/problem+json`."""


def _anchor(title: str) -> str:
    return "route-" + re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def describe_route(title: str, operation: dict[str, Any], schemas: dict[str, Any]) -> Iterator[str]:
    """The section of one route."""
    yield f"({_anchor(title)})=\n## `{title}`"
    yield operation.get("description") or operation.get("summary", "")
    parameters = [p for p in operation.get("parameters", []) if p["in"] != "cookie"]
    if parameters:
        rows = [f"| `{p['name']}` | {p['in']} | {p.get('description', '')} |" for p in parameters]
        yield "\n".join(["| parameter | in | meaning |", "|---|---|---|", *rows])
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    if body:
        yield f"**Request**\n\n{format_schema(body, schemas)}"
    for status, response in operation.get("responses", {}).items():
        content = response.get("content", {}).get("application/json", {}).get("schema")
        described = f"\n\n{format_schema(content, schemas)}" if content else ""
        yield f"**{status}** {response.get('description', '')}{described}"


def format_schema(schema: dict[str, Any], schemas: dict[str, Any], depth: int = 0) -> str:
    """The fields of a JSON object as a nested list."""
    schema = resolve(schema, schemas)
    required = schema.get("required", [])
    lines = []
    for name, entry in schema.get("properties", {}).items():
        inner = resolve(entry, schemas)
        text = f"{'  ' * depth}- `{name}` ({name_type(entry)}{'' if name in required else ', optional'})"
        description = " ".join((entry.get("description") or inner.get("description") or "").split())
        lines.append(f"{text}: {description}" if description else text)
        if depth < MAX_DEPTH and inner.get("properties"):
            lines.append(format_schema(inner, schemas, depth + 1))
    return "\n".join(lines) or f"{'  ' * depth}- {name_type(schema)}"


def resolve(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    """The schema that a reference, a list or an optional value leads to."""
    if "$ref" in schema:
        return dict(schemas[schema["$ref"].rpartition("/")[2]])
    if schema.get("type") == "array":
        return resolve(schema["items"], schemas)
    options = [option for option in schema.get("anyOf", []) if option.get("type") != "null"]
    return resolve(options[0], schemas) if len(options) == 1 else schema


def name_type(schema: dict[str, Any]) -> str:
    """The type of a JSON value in words."""
    if "$ref" in schema:
        return "object"
    if schema.get("type") == "array":
        return f"list of {name_type(schema['items'])}s"
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(map(name_type, schema["anyOf"])))
    return str(schema.get("type", "any value"))


def few_rows_section(results: Path = FEW_ROWS) -> str:
    """The measured effect of the number of rows, or the commands that measure it."""
    if not results.exists():
        return (
            "The suite `few-rows` measures this for 15 tables: `eddi bench run few-rows`, then "
            "`eddi bench table few-rows`. The next section does it for one table, and works for yours.\n"
        )
    document = json.loads(results.read_text(encoding="utf-8"))
    n_finished, n_runs = document["runs"]["finished"], document["runs"]["all"]
    head = (
        "`eddi bench run few-rows` trains with 50, 100 and 200 rows, and `eddi bench table few-rows` prints "
        f"these tables. They are from {n_finished:,} of its {n_runs:,} runs."
    )
    grids = (grid for grid in document["grids"] if grid["title"].startswith(ERROR_TABLES))
    return "\n\n".join([head, *map(format_grid, grids)]) + "\n"


def format_grid(grid: dict[str, Any]) -> str:
    """A table of a benchmark's results in Markdown."""
    rows = [list(map(format_cell, row)) for row in grid["rows"]]
    for row, column in grid["best"]:
        rows[row][column] = f"**{rows[row][column]}**"
    lines = [grid["columns"], ["---"] * len(grid["columns"]), *rows]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    note = f"\n\n*{grid['note']}*" if grid.get("note") else ""
    return f"**{grid['title']}**\n\n{table}{note}"


def format_cell(cell: object) -> str:
    """A cell of a benchmark's table: numbers with four digits."""
    if cell is None:
        return ""
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell).replace("|", "\\|")


def project_page(name: str) -> Callable[[], str]:
    """A file of the repository, with links that fit the site."""

    def read() -> str:
        source = REPOSITORY / name
        text = source.read_text(encoding="utf-8")
        return rewrite_links(text, source=source, page=DOCS / PROJECT_PAGES[name])

    return read


GENERATED: dict[str, Callable[[], str]] = {
    "reference/cli.md": cli_page,
    "reference/toml.md": toml_page,
    "reference/http.md": http_page,
    "how-to/few-rows.inc": few_rows_section,
    **{page: project_page(name) for name, page in PROJECT_PAGES.items()},
}
"""What writes each page; none of them is in the repository."""


def write(path: Path, text: str) -> None:
    """Write a file if its content changed, so that unchanged pages are not built again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def generate(*_: Any) -> None:
    """Write all generated pages."""
    for name, make in GENERATED.items():
        write(DOCS / name, make())


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the pages before Sphinx looks for them."""
    app.connect("config-inited", generate)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    generate()
