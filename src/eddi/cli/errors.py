"""Errors and warnings of the commands as readable messages and exit codes."""

import functools
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ParamSpec

import typer

from eddi.cli import terminal
from eddi.errors import EddiError, EddiWarning, TrainingDataWarning

EXIT_ERROR, EXIT_INTERRUPTED = 1, 130
EPILOG = (
    "Exit codes: 0 success; 1 error in a file, table, schema or model (standard error says what to do); "
    "2 wrong usage; 130 interrupted. Set EDDI_DEBUG=1 to show tracebacks."
)

P = ParamSpec("P")


def register_command(
    app: typer.Typer, name: str | None = None, context_settings: dict[str, Any] | None = None
) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Return a decorator that adds a function to ``app`` as a command with readable errors."""

    def register(function: Callable[P, None]) -> Callable[P, None]:
        @app.command(name, epilog=EPILOG, context_settings=context_settings)
        @functools.wraps(function)
        def command(*args: P.args, **kwargs: P.kwargs) -> None:
            with report_warnings(), report_errors():
                function(*args, **kwargs)
                sys.stdout.flush()

        return command

    return register


@contextmanager
def report_warnings() -> Iterator[None]:
    """Print each warning of EDDI as one line and hide the warnings of other packages."""
    with warnings.catch_warnings():
        warnings.simplefilter("default" if is_debugging() else "ignore")
        warnings.simplefilter("always", EddiWarning)
        if not is_debugging():
            warnings.showwarning = _show_warning
        yield


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    if not isinstance(message, TrainingDataWarning):
        terminal.print_message(f" {message}", style="yellow", label="note:")
        return
    for problem in message.args:
        terminal.print_message(f" {problem}", style="yellow", label="warning:")


@contextmanager
def report_errors() -> Iterator[None]:
    """Turn errors that a user can fix into a message and an exit code.

    All other errors are bugs and keep their traceback.
    """
    try:
        yield
    except BrokenPipeError:  # the reader, such as `head`, closed the pipe
        _discard_stdout()
    except KeyboardInterrupt:
        terminal.print_message("interrupted.")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    except (EddiError, OSError, MemoryError) as error:
        if is_debugging():
            raise
        terminal.print_message(f" {_format_error(error)}", style="red", label="error:")
        raise typer.Exit(EXIT_ERROR) from None


def _format_error(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return "not enough memory. Use a smaller table or a machine with more memory."
    if isinstance(error, OSError) and error.strerror:
        file = f"{error.filename!s}: " if error.filename else ""
        return f"{file}{error.strerror}."
    return str(error)


def _discard_stdout() -> None:
    # Python flushes standard output at exit, which would raise BrokenPipeError again.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def is_debugging() -> bool:
    """Whether tracebacks are enabled."""
    return os.environ.get("EDDI_DEBUG", "0") not in ("", "0")


def check_writable(output: Path) -> None:
    """Check that ``output`` can be written before any long computation starts.

    Raises:
        EddiError: ``output`` cannot be written.
    """
    folder = output.parent
    if output.is_dir():
        raise EddiError(f"the output {str(output)!r} is a folder. Name a file in it.")
    if not folder.is_dir():
        raise EddiError(
            f"cannot write {str(output)!r}: there is no folder {str(folder)!r}. Create it first."
        )
    existing = output if output.exists() else folder
    if not (os.access(existing, os.W_OK) and os.access(folder, os.W_OK)):
        raise EddiError(f"cannot write {str(output)!r}: permission denied. Choose another location.")
