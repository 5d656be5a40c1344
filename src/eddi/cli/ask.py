"""`eddi ask`: one stateless step of an interview, from JSON to JSON."""

import json
import sys
from typing import Any

from eddi.cli import terminal
from eddi.cli.options import (
    InterviewOptions,
    LanguageOption,
    ModelPath,
    load_in_language,
    with_interview_options,
)
from eddi.errors import AnswerError


@with_interview_options
def ask(model: ModelPath, *, options: InterviewOptions, language: LanguageOption = "") -> None:
    """Print the next question. Reads the answers so far as JSON from standard input.

    For example: echo '{"answers": {"age": 61}}' | eddi ask people.eddi --target risk

    Answers are keyed by question or variable. An answer is a value, null if the
    respondent does not know, or {"without": "declined"}. For a question that
    reveals several variables, it is an object of such answers by variable, or
    the list of the options that are selected. The file of `eddi interview
    --record` is valid input, too. Empty input means that there are no answers
    yet. If a value outside its range is correct, add "confirm": true.

    The output is a JSON object: "question" (name, text, cost and revealed
    variables, or null if the interview is complete), "prediction" of each
    target, "rewards" of all open questions in nats, and "strategy".
    """
    from eddi.interview.documents import describe, resume

    answers, fitted = _read_answers(), load_in_language(model, language)
    interview = resume(
        fitted,
        answers,
        options.targets,
        strategy=options.build_strategy(fitted) if options.strategy else None,
        stop=options.build_stop(fitted),
    )
    terminal.print_data(terminal.to_json(describe(interview)))


def _read_answers() -> Any:
    from eddi.interview.documents import SHAPE

    if sys.stdin.isatty():
        terminal.print_message("reading answers as JSON from the terminal; press Ctrl-D to finish.")
    try:
        text = sys.stdin.buffer.read().decode("utf-8-sig").strip()
        return json.loads(text) if text else {}
    except ValueError as error:
        raise AnswerError(f"standard input is not JSON ({error}). {SHAPE}") from None
