"""`eddi bench`: run the benchmarks, a separate package in the folder `benchmarks` of the repository."""

from importlib import import_module
from importlib.util import find_spec

import typer

from eddi.cli.errors import EPILOG, register_command
from eddi.errors import MissingExtraError

PACKAGE = "eddi_benchmarks"
ANY_ARGUMENTS = {"allow_extra_args": True, "ignore_unknown_options": True}


def register(app: typer.Typer) -> None:
    """Add the commands of the benchmarks package, or a command that explains how to install it."""
    if find_spec(PACKAGE) is not None:
        app.add_typer(import_module(f"{PACKAGE}.cli").app, epilog=EPILOG)
    else:
        register_command(app, "bench", ANY_ARGUMENTS)(explain_missing_package)


def explain_missing_package() -> None:
    """Run the benchmark suites. Needs the benchmarks package from the repository."""
    raise MissingExtraError(
        "`eddi bench` needs the benchmarks package, which is not part of eddi-ml. "
        "Clone the repository and run `pip install ./benchmarks` in it."
    )
