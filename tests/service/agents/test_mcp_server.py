"""The tools over the Model Context Protocol, with a client in the same process."""

import asyncio

import pytest
from mcp import Client

from eddi.service.agents.mcp_server import build_server


@pytest.fixture
def call(tools):
    """Calls tools one after another: `call((name, arguments), ...)` returns their results."""

    async def run(calls):
        async with Client(build_server(tools)) as client:
            return [await client.call_tool(name, arguments) for name, arguments in calls]

    return lambda *calls: asyncio.run(run(calls))


async def list_tools(server):
    async with Client(server) as client:
        return (await client.list_tools()).tools


def test_the_tools_are_described_for_a_language_model(tools):
    listed = {tool.name: tool for tool in asyncio.run(list_tools(build_server(tools)))}
    assert set(listed) == {
        *("list_questionnaires", "begin", "ask", "tell", "undo", "predict", "explain"),
    }
    assert all(tool.description for tool in listed.values())
    assert listed["tell"].input_schema["required"] == ["interview", "question", "answer"]


def test_tools_that_change_nothing_say_so(tools):
    listed = asyncio.run(list_tools(build_server(tools)))
    readers = {tool.name for tool in listed if tool.annotations.read_only_hint}
    assert readers == {"list_questionnaires", "ask", "predict", "explain"}


def test_results_are_structured(call, questionnaire):
    [begun] = call(("begin", {"questionnaire": "people"}))
    assert begun.structured_content["question"]["name"] == questionnaire.interview().ask().name
    assert set(begun.structured_content["prediction"]) == {"stage"}


def test_a_language_model_can_read_what_is_wrong(call, tools):
    key = tools.begin()["interview"]
    wrong = {"interview": key, "question": "town", "answer": "Paris"}
    [refused] = call(("tell", wrong))
    assert refused.is_error
    assert "'town' must be one of Aber, Bala, Conwy, got 'Paris'." in refused.content[0].text


def test_an_answer_may_be_null(call, tools):
    key = tools.begin()["interview"]
    [told] = call(("tell", {"interview": key, "question": "town", "answer": None}))
    assert not told.is_error
    assert tools.ask(key)["answers"][0]["without"] == {"town": "unknown"}
