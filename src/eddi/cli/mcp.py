"""`eddi mcp`: interviews as tools for language models."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eddi.cli.options import InterviewOptions, StoreOption, with_interview_options
from eddi.cli.serve import read_settings
from eddi.errors import EddiError, MissingExtraError

if TYPE_CHECKING:
    from eddi.service.settings import Settings


@with_interview_options
def mcp(
    *,
    options: InterviewOptions,
    models: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Model files written by `eddi fit`. Default: the questionnaires of the store."
        ),
    ] = None,
    store: StoreOption = None,
) -> None:
    """Let a language model conduct interviews, over the Model Context Protocol.

    For example: eddi mcp people.eddi --target risk

    A client of the protocol starts this command, and talks to it over standard
    input and output. The tools list questionnaires, begin an interview, ask for
    the next question, tell an answer, undo it, predict and explain.

    Answers are kept in memory until the command ends, unless --store is given.
    """
    if not models and not store:
        raise EddiError(
            "there is no questionnaire. Name a model file, or give --store with the store of a server."
        )
    settings = {
        "target": ",".join(options.target) if options.target else None,
        "strategy": options.strategy,
        "store": store or "memory:",
        **options.rules,
    }
    given = {name: value for name, value in settings.items() if value is not None}
    _run(read_settings(**given), models or [])


def _run(settings: "Settings", models: list[Path]) -> None:
    """Serve until standard input ends."""
    try:
        from eddi.service.agents.interview_tools import InterviewTools
        from eddi.service.agents.mcp_server import build_server
        from eddi.service.open_service import open_service
    except ImportError as error:
        raise MissingExtraError(
            f"`eddi mcp` needs the package {error.name}, which is not installed. "
            "Install it: pip install 'eddi-ml[mcp]'"
        ) from None
    import torch

    torch.set_num_threads(1)  # for such a small network, several threads are slower than one
    service, workshop = open_service(settings, models)
    try:
        build_server(InterviewTools(service)).run("stdio")
    finally:
        service.close()
        workshop.close()
