"""`eddi serve`: serve a questionnaire as web pages and an HTTP API."""

import os
import signal
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eddi.cli import terminal
from eddi.cli.options import InterviewOptions, StoreOption, with_interview_options
from eddi.errors import EddiError, MissingExtraError

if TYPE_CHECKING:
    from fastapi import FastAPI

    from eddi.service.settings import Settings


@with_interview_options
def serve(
    *,
    options: InterviewOptions,
    model: Annotated[
        Path | None,
        typer.Argument(
            help="A model file written by `eddi fit`. Default: serve published questionnaires."
        ),
    ] = None,
    store: StoreOption = None,
    host: Annotated[
        str | None, typer.Option(metavar="NAME", help="Address to listen on; 0.0.0.0 for all networks.")
    ] = None,
    port: Annotated[
        int | None, typer.Option(metavar="N", min=0, max=65_535, help="0 selects a free port.")
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Processes that serve requests; up to one per core."),
    ] = None,
) -> None:
    """Serve a questionnaire: web pages for respondents and an HTTP API for programs.

    For example: eddi serve people.eddi --target risk --store sqlite:///answers.db

    Analysts upload tables, train models and publish questionnaires at /analyst.
    Without a model, only these pages and the published questionnaires are
    served.

    Options that are not given come from the environment (EDDI_STORE, EDDI_PORT
    ...) or from the defaults: listen on port 8000, reachable only from this
    machine, and store answers in answers.db in the current folder.
    """
    settings = {
        "model": str(model) if model else None,
        "target": ",".join(options.target) if options.target else None,
        "strategy": options.strategy,
        "store": store,
        "host": host,
        "port": port,
        "workers": workers,
        **options.rules,
    }
    given = {name: value for name, value in settings.items() if value is not None}
    run_server(read_settings(**given))


def read_settings(**options: object) -> "Settings":
    """Return the settings from the environment; ``options`` take precedence.

    Raises:
        SettingError: a value is invalid.
        MissingExtraError: the packages of the web service are not installed.
    """
    try:
        from eddi.service.settings import Settings
    except ImportError as error:
        raise _missing_extra(error) from None
    return Settings(**options)


def with_free_port(settings: "Settings") -> "Settings":
    """Return the settings, with any free port if theirs is in use."""
    try:
        _bind_socket(settings.host, settings.port).close()
    except EddiError:
        terminal.print_message(
            f"port {settings.port} is in use, so another one is used. Set EDDI_PORT to choose a port."
        )
        return settings.model_copy(update={"port": 0})
    return settings


def run_server(settings: "Settings") -> None:
    """Serve until interrupted."""
    try:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        _run(settings)
    except KeyboardInterrupt:
        terminal.print_message("stopped. All acknowledged answers are saved.")


def _run(settings: "Settings") -> None:
    try:
        from eddi.service import logs
        from eddi.service.server import web_server
    except ImportError as error:
        raise _missing_extra(error) from None
    logs.configure(settings.log)
    with _bind_socket(settings.host, settings.port) as listener:
        if settings.workers > 1:
            return _run_workers(settings, listener)
        server = web_server.WebServer(
            _build_app(settings), settings, limits=web_server.connection_limits(settings)
        )
        web_server.limit_garbage_collection()
        listener.listen(web_server.BACKLOG)  # accept connections before the address is printed
        _print_addresses(settings, listener.getsockname()[1])
        return server.run(sockets=[listener])


def _build_app(settings: "Settings") -> "FastAPI":
    import torch

    from eddi.service import app

    torch.set_num_threads(1)  # for such a small network, several threads are slower than one
    return app.build(settings)


def _run_workers(settings: "Settings", listener: socket.socket) -> None:
    if os.name == "nt":
        raise EddiError(
            "several workers cannot share a port on Windows. Start several servers on different ports."
        )
    if settings.store.startswith("memory:"):
        raise EddiError(
            "several workers cannot share a store in memory. Use --store sqlite:///answers.db."
        )
    from eddi.service.server.supervisor import Supervisor

    port = listener.getsockname()[1]
    terminal.print_message(f"starting {settings.workers} workers")
    Supervisor(settings, listener).run(lambda: _print_addresses(settings, port))
    raise KeyboardInterrupt  # a signal stopped it, as it stops a single process


def _missing_extra(error: ImportError) -> MissingExtraError:
    return MissingExtraError(
        f"the web service needs the package {error.name}, which is not installed. "
        "Install it: pip install 'eddi-ml[web]'"
    )


def _bind_socket(host: str, port: int) -> socket.socket:
    """Return a socket bound to the address, so that a port in use is reported before loading the model.

    Raises:
        EddiError: the address cannot be used.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With an explicit protocol, asyncio disables Nagle's algorithm, which delays responses by 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    if os.name != "nt":  # on Windows, the option would allow two servers on one port
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host.strip("[]"), port))
    except OSError as error:
        listener.close()
        raise EddiError(
            f"cannot listen on {host}:{port} ({error.strerror}). Choose another --host or --port; "
            "--port 0 selects a free port."
        ) from None
    listener.set_inheritable(True)
    return listener


def _print_addresses(settings: "Settings", port: int) -> None:
    from eddi.service.startup_warnings import find_warnings

    host = "localhost" if settings.is_local else settings.host
    base_url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    store = settings.store.partition("@")[2] or settings.store  # without user name and password
    name = settings.model or "EDDI"
    terminal.print_message(f"{name} is served at {base_url}", style="bold green")
    terminal.print_message(f"  questionnaire:  {base_url}/")
    terminal.print_message(f"  for analysts:   {base_url}/analyst")
    terminal.print_message(f"  HTTP API:       curl -X POST {base_url}/interviews")
    terminal.print_message(f"  API schema:     {base_url}/openapi.json")
    terminal.print_message(f"  Answers are stored in {store}. Press Ctrl-C to stop the server.")
    for warning in find_warnings(settings):
        terminal.print_message(f" {warning}", style="yellow", label="warning:")
    if settings.needs_keys:
        terminal.print_message(
            "  The API requires a key. Create one: eddi keys issue respondent", style="yellow"
        )
