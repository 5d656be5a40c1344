"""`eddi serve`: a questionnaire at a local address; and `eddi keys`, for its HTTP API."""

import builtins
import signal
import socket
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from eddi.cli import terminal
from eddi.cli.errors import EPILOG, command_of
from eddi.errors import EddiError, MissingExtraError

if TYPE_CHECKING:
    from eddi.service.settings import Settings
    from eddi.service.web.api_keys import Keys

SECONDS_TO_FINISH = 10  # that requests have once the server is told to stop
BACKLOG = 1024  # connections that wait to be taken

app = typer.Typer()  # without a name: its verbs are those of `eddi` itself
_command = command_of(app)
keys = typer.Typer(name="keys", help="Make, list and revoke keys of the HTTP API.", no_args_is_help=True)
app.add_typer(keys, epilog=EPILOG)
_keys_command = command_of(keys)

Store = Annotated[
    str | None, typer.Option(metavar="URL", help="sqlite:///answers.db, postgresql://... or memory:")
]


@_command
def serve(
    model: Annotated[
        Path | None,
        typer.Argument(help="A model written by `eddi fit`; without one, what was published before."),
    ] = None,
    target: Annotated[
        builtins.list[str] | None,
        typer.Option("--target", "-t", metavar="NAME", help="What you want to know. May be repeated."),
    ] = None,
    store: Store = None,
    host: Annotated[
        str | None, typer.Option(metavar="NAME", help="Where to listen; 0.0.0.0 for every network.")
    ] = None,
    port: Annotated[
        int | None, typer.Option(metavar="N", min=0, max=65_535, help="0 takes any that is free.")
    ] = None,
    after: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Stop after this many answers.")
    ] = None,
    budget: Annotated[
        float | None, typer.Option(metavar="B", help="Ask no more than this costs in all.")
    ] = None,
    risk: Annotated[
        float | None, typer.Option(metavar="P", help="Stop when at most this share ends wrongly.")
    ] = None,
    within: Annotated[
        float | None,
        typer.Option(metavar="X", help="With --risk: how far off a quantity is still right."),
    ] = None,
) -> None:
    """Serve a questionnaire on the web: pages for people, and an HTTP API for programs.

    For example: eddi serve people.eddi --target risk --store sqlite:///answers.db

    Analysts bring tables, train models and publish them at /analyst; without a model there is only that,
    and what was published there before.

    What is left out is taken from the environment (EDDI_STORE, EDDI_PORT ...), then from defaults:
    only this machine can reach the server, at port 8000, and answers go to answers.db beside you.
    """
    given = {"store": store, "host": host, "port": port, "after": after, "budget": budget}
    given |= {"risk": risk, "within": within}
    known = {name: value for name, value in given.items() if value is not None}
    wanted = {"target": ",".join(target)} if target else {}
    named = {"model": str(model)} if model else {}
    hold(replace(environment(), **named, **wanted, **known))  # type: ignore[arg-type]


def environment() -> "Settings":
    """What the environment sets."""
    from eddi.service.settings import Settings

    return Settings.from_environment()


def at_a_free_port(settings: "Settings") -> "Settings":
    """The same settings, with any free port where theirs is taken."""
    try:
        _door(settings.host, settings.port).close()
    except EddiError:
        terminal.say(f"port {settings.port} is taken, so another is used; EDDI_PORT chooses one.")
        return replace(settings, port=0)
    return settings


def hold(settings: "Settings") -> None:
    """Serve until somebody stops it."""
    try:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        _run(settings)
    except KeyboardInterrupt:
        terminal.say("stopped; every answer that was acknowledged is kept.")


def _run(settings: "Settings") -> None:
    try:
        import uvicorn

        from eddi.service import app, logs
    except ImportError as error:
        raise MissingExtraError(
            f"serving needs a package that is not installed ({error.name}). "
            "Install it with: pip install 'eddi-ml[web]'"
        ) from None
    import torch

    torch.set_num_threads(1)  # so small a network is done before two threads have met
    logs.configure(settings.log)
    with _door(settings.host, settings.port) as door:
        config = uvicorn.Config(
            app.build(settings),
            log_config=None,
            access_log=False,
            server_header=False,
            forwarded_allow_ips=settings.proxies,
            timeout_graceful_shutdown=SECONDS_TO_FINISH,
            backlog=BACKLOG,
        )
        door.listen(BACKLOG)  # whoever reads the address may come at once
        _welcome(settings, door.getsockname()[1])
        uvicorn.Server(config).run(sockets=[door])


def _door(host: str, port: int) -> socket.socket:
    """A socket at the address; one that is taken is told before the model is loaded."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named for asyncio to turn off Nagle, which would hold each answer back for 40 ms.
    door = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        door.bind((host.strip("[]"), port))
    except OSError as error:
        door.close()
        raise EddiError(
            f"cannot listen at {host}:{port} ({error.strerror}). Choose another --host or --port; "
            "--port 0 takes any that is free."
        ) from None
    door.set_inheritable(True)
    return door


def _welcome(settings: "Settings", port: int) -> None:
    shown = "localhost" if settings.is_local else settings.host
    address = f"http://{f'[{shown}]' if ':' in shown else shown}:{port}"
    store = settings.store.partition("@")[2] or settings.store  # never a password
    terminal.say(f"{settings.model or 'the workshop'} is served at {address}", style="bold green")
    terminal.say(f"  in a browser:  {address}/")
    terminal.say(f"  for analysts:  {address}/analyst")
    terminal.say(f"  by program:    curl -X POST {address}/interviews")
    terminal.say(f"  described at:  {address}/openapi.json")
    terminal.say(f"  answers are kept in {store}; Ctrl-C stops the server.")
    if settings.needs_keys:
        terminal.say("  the API needs a key; make one with: eddi keys issue respondent", style="yellow")


@_keys_command
def issue(
    role: Annotated[str, typer.Argument(help="respondent, analyst or operator.")],
    days: Annotated[float, typer.Option(metavar="N", min=0, help="How long it is good.")] = 90,
    store: Store = None,
) -> None:
    """Make a key; it is shown this once.

    For example: eddi keys issue respondent --days 30 --store sqlite:///answers.db
    """
    from eddi.service.web.api_keys import Role

    if role not in tuple(Role):
        raise EddiError(f"there is no role {role!r}. Roles are: {', '.join(Role)}.")
    terminal.put(_keys(store).issue(Role(role), days=days))


@_keys_command
def list(store: Store = None) -> None:
    """List all keys by name, never by secret."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for heading in ("name", "role", "expires", "revoked"):
        table.add_column(heading)
    for key in _keys(store).all():
        table.add_row(
            key.name, key.role, f"{key.expires:%Y-%m-%d %H:%M} UTC", "yes" if key.revoked else ""
        )
    terminal.console(stderr=False).print(table)


@_keys_command
def revoke(
    name: Annotated[str, typer.Argument(help="The name of a key, from `eddi keys list`.")],
    store: Store = None,
) -> None:
    """Make a key useless from now on."""
    _keys(store).revoke(name)
    terminal.say(f"the key {name} opens nothing any more.")


def _keys(store: str | None) -> "Keys":
    from eddi.service.web.api_keys import Keys
    from eddi.store.factory import open_store

    return Keys(open_store(store or environment().store))
