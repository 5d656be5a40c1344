"""A server of the Model Context Protocol whose tools conduct interviews."""

import functools
from collections.abc import Callable
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations

from eddi import __version__
from eddi.errors import EddiError
from eddi.service.agents.interview_tools import INSTRUCTIONS, InterviewTools

Tool = Callable[..., dict[str, Any]]


def build_server(tools: InterviewTools) -> MCPServer:
    """Return a server with all tools. Its log goes to standard error."""
    server: MCPServer = MCPServer(
        "eddi", title="EDDI", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING"
    )
    readers: tuple[Tool, ...] = (tools.list_questionnaires, tools.ask, tools.predict, tools.explain)
    writers: tuple[Tool, ...] = (tools.begin, tools.tell, tools.undo)
    for tool in (*readers, *writers):
        annotations = ToolAnnotations(
            read_only_hint=tool in readers, destructive_hint=tool == tools.undo, open_world_hint=False
        )
        server.add_tool(_report_errors(tool), annotations=annotations)
    return server


def _report_errors(tool: Tool) -> Tool:
    """Return a tool whose errors the language model can read."""

    @functools.wraps(tool)
    def call(*args: Any, **kwargs: Any) -> dict[str, Any]:
        try:
            return tool(*args, **kwargs)
        except EddiError as error:
            raise ToolError(error.public_message or str(error)) from None

    return call
