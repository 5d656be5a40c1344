"""`eddi interview`: interview a person in the terminal."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eddi.cli import terminal
from eddi.cli.errors import check_writable
from eddi.cli.options import (
    InterviewOptions,
    LanguageOption,
    ModelPath,
    load_in_language,
    with_interview_options,
)
from eddi.durable_file import finish_file, name_unfinished
from eddi.errors import AnswerError

if TYPE_CHECKING:
    from eddi.interview.record import Record


@with_interview_options
def interview(
    model: ModelPath,
    *,
    options: InterviewOptions,
    record: Annotated[
        Path | None, typer.Option(help="File to save the answers to, and to resume from if it exists.")
    ] = None,
    language: LanguageOption = "",
) -> None:
    """Interview a person in the terminal, always asking the most informative question next.

    For example: eddi interview people.eddi --target risk --after 5 --record anna.json

    Answers can also be piped in, one per line. The record is saved after every
    answer.
    """
    if record is not None:
        check_writable(record)
    from eddi.cli.conversation import Conversation
    from eddi.interview.interview import Interview

    fitted = load_in_language(model, language)
    previous = None if record is None else read_record(record)
    if previous is not None:
        terminal.print_message(f"resuming from {record}")
    resumed = Interview(
        fitted,
        options.targets,
        strategy=options.build_strategy(fitted) if options.strategy else None,
        stop=options.build_stop(fitted),
        record=previous,
    )

    def save(answers: "Record") -> None:
        if record is not None:
            write_record(answers, record)

    save(resumed.record)
    try:
        Conversation(resumed, terminal.open_console(stderr=False), save).run()
    finally:
        if record is not None:
            terminal.print_message(f"the answers are saved in {record}. Run the same command to resume.")


def read_record(path: Path) -> "Record | None":
    """Return the interview record saved at ``path``, or None if the file does not exist.

    Raises:
        AnswerError: the file is not an interview record.
    """
    from eddi.interview.record import Record

    try:
        document: Any = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise AnswerError(
            f"{str(path)!r} is not the record of an interview ({error}). Name another file."
        ) from None
    return Record.from_document(document)


def write_record(record: "Record", path: Path) -> None:
    """Write an interview record atomically: an interruption leaves either the old or the new file."""
    unfinished = name_unfinished(path)
    unfinished.write_text(terminal.to_json(record.to_document()) + "\n", encoding="utf-8")
    finish_file(unfinished, path)
