"""`eddi bench`: the benchmark suites, which are a separate package (`benchmarks/` in the repository)."""

from importlib import import_module
from importlib.util import find_spec

import typer

from eddi.cli.errors import EPILOG, command_of
from eddi.errors import MissingExtraError

PACKAGE = "eddi_benchmarks"
ANY_ARGUMENTS = {"allow_extra_args": True, "ignore_unknown_options": True}


def register(app: typer.Typer) -> None:
    """Add the commands of the benchmarks package, or one that explains how to get it."""
    if find_spec(PACKAGE) is not None:
        app.add_typer(import_module(f"{PACKAGE}.cli").app, epilog=EPILOG)
    else:
        command_of(app, name="bench", context_settings=ANY_ARGUMENTS)(explain_missing)


def explain_missing() -> None:
    """Run the benchmark suites (needs the benchmarks package of the repository)."""
    raise MissingExtraError(
        "`eddi bench` needs the benchmarks package, which is not part of eddi-ml. "
        "Clone the repository and run `pip install ./benchmarks` in it."
    )
