"""Hold an interview through `eddi mcp`, as a language model would: python mcp_interview.py people.eddi.

Questions are asked on the terminal. An empty answer means that you do not know.
"""

import asyncio
import sys
from collections.abc import Callable, Sequence
from typing import Any

from mcp import Client, StdioServerParameters

Answer = Callable[[dict[str, Any]], Any]


async def hold_interview(server: StdioServerParameters, answer: Answer) -> dict[str, Any]:
    """Return the predictions after an interview; ``answer`` answers a question."""
    async with Client(server) as client:
        step = await call(client, "begin")
        key = step["interview"]
        while step["question"] is not None:
            question = step["question"]
            step = await call(
                client, "tell", interview=key, question=question["name"], answer=answer(question)
            )
        prediction: dict[str, Any] = (await call(client, "predict", interview=key))["prediction"]
        return prediction


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Return the result of a tool; an error of the tool is raised."""
    result = await client.call_tool(tool, arguments)
    if result.is_error or result.structured_content is None:
        raise SystemExit(f"{tool}: {result.content[0].text}")
    return result.structured_content


def ask_on_terminal(question: dict[str, Any]) -> str | None:
    """Ask a question on the terminal."""
    return input(f"{question['text']} ") or None


def main(arguments: Sequence[str]) -> None:
    """Hold an interview about the model file that is named."""
    server = StdioServerParameters(command="eddi", args=["mcp", *arguments])
    result = asyncio.run(hold_interview(server, ask_on_terminal))
    sys.stdout.write(f"{result}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
