"""Exceptions and warnings raised by EDDI.

Every message states what is wrong (with the value), what is expected, and what to do. Each exception
inherits from `EddiError` and from the builtin exception that a caller would expect to catch.
"""

from collections.abc import Mapping
from typing import ClassVar

MAX_MESSAGE_CHARS = 900  # a message may quote a file, whose names and values can be very long


class EddiError(Exception):
    """Base class of all exceptions that EDDI raises on purpose.

    Attributes:
        status: HTTP status of the response if the error ends a web request. 500 means that the
            request itself was correct.
        title: heading of the error page shown in a browser.
        problem_type: name of the problem in HTTP responses; empty to derive it from the class name.
        public_message: shown to clients of the web service in place of a message that names files or
            servers; empty to show the message itself.
    """

    status: ClassVar[int] = 500
    title: ClassVar[str] = "Something went wrong on our side"
    problem_type: ClassVar[str] = ""
    public_message: ClassVar[str] = ""

    def __init__(self, *args: object) -> None:
        super().__init__(*map(_shorten, args))


class TableError(EddiError, ValueError):
    """A table cannot be read, or it does not fit the schema or the operation."""

    status = 422
    title = "This table cannot be used"


class SchemaError(EddiError, ValueError):
    """A schema contradicts itself, the table, or the rules of its file format."""

    status = 422
    title = "This schema is not valid"


class AnswerError(EddiError, ValueError):
    """An answer is out of range, has the wrong type, or belongs to no question."""

    status = 422
    title = "That answer does not fit"


class OutOfRangeError(AnswerError):
    """A value is outside the usual range. It is accepted once it is confirmed.

    Attributes:
        ranges: the usual range of each variable whose value is outside.
    """

    title = "Please check this value"
    problem_type = "out-of-range"

    def __init__(self, message: str, ranges: Mapping[str, tuple[float, float]]) -> None:
        super().__init__(message)
        self.ranges = dict(ranges)


class TargetError(EddiError, ValueError):
    """A target is unknown, missing, or cannot be predicted."""

    status = 422
    title = "This target cannot be used"


class StrategyError(EddiError, ValueError):
    """A strategy has an invalid setting."""


class StopError(EddiError, ValueError):
    """A stopping rule has no criterion, or its criteria do not suit the target."""


class EvaluationError(EddiError, ValueError):
    """A metric, comparison or plot cannot be computed from the given data."""


class ModelFileError(EddiError, ValueError):
    """A model file or checkpoint is damaged, too new, not ours, or belongs to another model."""


class TrainingError(EddiError, RuntimeError):
    """Training cannot start or failed, for example because the loss is no longer finite."""


class EngineError(EddiError, RuntimeError):
    """Work cannot be distributed as requested, or a worker was killed repeatedly."""


class MissingExtraError(EddiError, ImportError):
    """An optional package is required but not installed."""


class EddiWarning(UserWarning):
    """EDDI repaired or excluded something, and the user should know."""

    def __init__(self, *args: object) -> None:
        super().__init__(*map(_shorten, args))


class TrainingDataWarning(EddiWarning):
    """Possible problems with a training table: few rows, rare classes, leakage, repeated rows.

    There is at most one such warning per fit; ``args`` has the text of each problem.
    """

    def __str__(self) -> str:
        return "\n".join(map(str, self.args))


def _shorten(argument: object) -> object:
    """Return a long text without its middle: the end says what to do."""
    if not isinstance(argument, str) or len(argument) <= MAX_MESSAGE_CHARS:
        return argument
    n_kept = (MAX_MESSAGE_CHARS - 5) // 3
    return f"{argument[: 2 * n_kept]} ... {argument[-n_kept:]}"
