"""Each template is a text of the code, so that it is recognised when the code says it."""

import ast
import re
from pathlib import Path

import eddi
from eddi.service.web.languages.message_templates import TEMPLATES

ROOT = Path(eddi.__file__).parent
FILES = (
    *(
        "table/infer.py",
        "table/variable.py",
        "table/kinds/*.py",
        "table/checks/*.py",
        "table/files/*.py",
    ),
    *("model/training/*.py", "interview/risk_control.py", "strategy/stopping.py"),
    *("service/analyst/*.py", "service/analyst/*/*.py"),
    *("service/interviews/*.py", "service/interviews/*/*.py"),
)
VALUE = "\0"


def read_texts(path: Path) -> set[str]:
    """All texts of a module, with a mark for each value of an f-string."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else VALUE for part in node.values)
            found.add("".join(map(str, parts)))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
    return found


def test_every_template_is_a_text_of_the_code() -> None:
    texts = set().union(*(read_texts(path) for name in FILES for path in ROOT.glob(name)))
    texts |= {f"{text} {VALUE}" for text in texts if text.endswith(":")}
    texts |= {text.replace(f"{VALUE} {VALUE}", VALUE) for text in texts}
    texts |= {text.removesuffix(VALUE) for text in texts}  # a value may be empty
    marked = {
        template: re.sub(r"%\(\w+\)s", VALUE, template).replace("%%", "%") for template in TEMPLATES
    }
    assert [template for template, text in marked.items() if text not in texts] == []


def test_templates_differ() -> None:
    assert len(set(TEMPLATES)) == len(TEMPLATES)
