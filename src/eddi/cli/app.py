"""The command `eddi`. Data goes to standard output, messages go to standard error.

The modules of the commands import torch, NumPy and other large packages inside their functions, so
`eddi --help` is instant.
"""

import os
from collections.abc import Callable, MutableMapping
from typing import Annotated

import typer

from eddi import __version__
from eddi.cli import bench, keys, store
from eddi.cli.ask import ask
from eddi.cli.certify import certify
from eddi.cli.demo import demo
from eddi.cli.describe import describe
from eddi.cli.errors import EPILOG, register_command
from eddi.cli.export import export
from eddi.cli.fit import fit
from eddi.cli.impute import impute
from eddi.cli.interview import interview
from eddi.cli.item_bank import item_bank
from eddi.cli.learn import learn
from eddi.cli.mcp import mcp
from eddi.cli.schema import schema
from eddi.cli.sensitivity import sensitivity
from eddi.cli.serve import serve
from eddi.cli.simulate import simulate

app = typer.Typer(
    name="eddi",
    help="Learn from a table with missing values, then ask each person the most informative question.",
    epilog=EPILOG,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


SPIN_COUNT = "2000"  # checks of a waiting thread before it sleeps: tens of microseconds


def main() -> None:
    """Run the command `eddi`."""
    limit_spinning(os.environ)
    app()


def limit_spinning(environment: MutableMapping[str, str]) -> None:
    """Let waiting threads of OpenMP sleep soon, unless the environment says how they wait.

    By default, a waiting thread keeps its core busy for milliseconds. If another program also needs that
    core, the threads that have work to do get less time, and training takes more than ten times as long.
    OpenMP reads these variables when torch is imported.
    """
    if "OMP_WAIT_POLICY" not in environment:
        environment.setdefault("GOMP_SPINCOUNT", SPIN_COUNT)


def _print_version(is_requested: bool) -> None:
    if is_requested:
        typer.echo(f"eddi {__version__}")
        raise typer.Exit


@app.callback()
def _set_global_options(
    version: Annotated[  # noqa: ARG001  # the callback prints it
        bool,
        typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks, like EDDI_DEBUG=1.")] = False,
) -> None:
    if debug:
        os.environ["EDDI_DEBUG"] = "1"


COMMANDS: tuple[Callable[..., None], ...] = (
    *(schema, fit, describe, impute),
    *(interview, ask, simulate, certify, sensitivity),
    *(export, item_bank, serve, learn, mcp, demo),
)
for command in COMMANDS:
    register_command(app)(command)
app.add_typer(keys.app, epilog=EPILOG)
app.add_typer(store.app, epilog=EPILOG)
bench.register(app)
