"""A complete interview through `eddi mcp`, with the client of the SDK over standard input and output."""

import asyncio
import importlib.util
from pathlib import Path

import pytest
from mcp import StdioServerParameters

from .conftest import COMMAND, ENVIRONMENT

SCRIPT = Path(__file__).parents[2] / "examples" / "mcp_interview.py"


@pytest.mark.slow
def test_the_example_holds_an_interview(fitted: Path) -> None:
    spec = importlib.util.spec_from_file_location("mcp_interview", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    asked = []

    def answer(question: dict[str, object]) -> object:
        asked.append(question["name"])
        return {"smoker": "yes", "Größe": 181.5}.get(str(question["name"]))

    server = StdioServerParameters(command=COMMAND, args=["mcp", str(fitted)], env=ENVIRONMENT)
    prediction = asyncio.run(example.hold_interview(server, answer))
    assert sorted(asked) == ["Größe", "city", "smoker", "体重"]
    assert set(prediction["risk"]) == {"mean", "sd", "interval"}
