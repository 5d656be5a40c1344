"""What goes wrong at the command line, as words and exit codes."""

import functools
import io
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, redirect_stderr
from pathlib import Path
from typing import Any, ParamSpec

import typer

from eddi.cli import terminal
from eddi.errors import EddiError, EddiWarning

EXIT_ERROR, EXIT_INTERRUPTED = 1, 130
EPILOG = (
    "Exit codes: 0 all is well; 1 something is wrong with a file, a table, a schema or a model, and "
    "standard error says what to do; 2 wrong usage; 130 interrupted. EDDI_DEBUG=1 shows tracebacks."
)

P = ParamSpec("P")


def command_of(
    app: typer.Typer, name: str | None = None, context_settings: dict[str, Any] | None = None
) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """A decorator that adds a function to ``app`` as a command with readable errors and exit codes."""

    def as_command(function: Callable[P, None]) -> Callable[P, None]:
        @app.command(name, epilog=EPILOG, context_settings=context_settings)
        @functools.wraps(function)
        def verb(*args: P.args, **kwargs: P.kwargs) -> None:
            with readable_warnings(), readable_errors():
                function(*args, **kwargs)
                sys.stdout.flush()

        return verb

    return as_command


@contextmanager
def readable_warnings() -> Iterator[None]:
    """EDDI's own warnings as one line each; other packages' are for their developers."""
    with warnings.catch_warnings():
        warnings.simplefilter("default" if debugging() else "ignore")
        warnings.simplefilter("always", EddiWarning)
        if not debugging():
            warnings.showwarning = _show
        yield


def _show(message: Warning | str, *_: Any, **__: Any) -> None:
    terminal.say(f" {message}", style="yellow", label="note:")


@contextmanager
def readable_errors() -> Iterator[None]:
    """Errors a person can act on as one paragraph and an exit code; all others are our mistakes."""
    try:
        yield
    except BrokenPipeError:  # the reader, such as `head`, has had enough
        _let_go_of_stdout()
    except KeyboardInterrupt:
        terminal.say("interrupted.")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    except (EddiError, OSError, MemoryError) as error:
        if debugging():
            raise
        terminal.say(f" {_words(error)}", style="red", label="error:")
        raise typer.Exit(EXIT_ERROR) from None


def _words(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return "there is not enough memory for this. Try a smaller table or a larger machine."
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename!s}: " if error.filename else ""
        return f"{where}{error.strerror}."
    return str(error)


def _let_go_of_stdout() -> None:
    # Python flushes standard output once more when it exits, and would complain again.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def debugging() -> bool:
    """Whether tracebacks are wanted."""
    return os.environ.get("EDDI_DEBUG", "0") not in ("", "0")


@contextmanager
def kept_training(partial: Path) -> Iterator[None]:
    """Say where training stands when something ends it early."""
    try:
        yield
    except KeyboardInterrupt:
        kept = f"its checkpoint {partial} is kept; the same command goes on from there."
        lost = "it was too early for a checkpoint; the same command starts anew."
        terminal.say(f"training was interrupted: {kept if partial.exists() else lost}")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    except OSError:
        if partial.exists():
            terminal.say(f"training is kept in {partial}; the same command goes on from there.")
        raise


@contextmanager
def one_talks() -> Iterator[bool]:
    """Of the processes that torchrun started, the first writes and talks; says whether this is it."""
    first = os.environ.get("RANK", "0") == "0"
    with nullcontext() if first else redirect_stderr(io.StringIO()):
        yield first


def check_output(output: Path) -> None:
    """Refuse now what could not be written after an hour of work."""
    folder = output.parent
    if output.is_dir():
        raise EddiError(f"the output {str(output)!r} is a folder. Name a file in it.")
    if not folder.is_dir():
        raise EddiError(
            f"cannot write {str(output)!r}: there is no folder {str(folder)!r}. Make it first."
        )
    place = output if output.exists() else folder
    if not (os.access(place, os.W_OK) and os.access(folder, os.W_OK)):
        raise EddiError(f"cannot write {str(output)!r}: no permission to. Choose another place.")
