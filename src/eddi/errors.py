"""What can go wrong, in words a person can act on.

Every error says what was wrong (with the value), what is expected, and what to do. Each is an
`EddiError` and also the builtin a caller would expect to catch.
"""


class EddiError(Exception):
    """The parent of every error this package raises on purpose."""


class TableError(EddiError, ValueError):
    """The table cannot be read or does not fit what was asked of it."""


class SchemaError(EddiError, ValueError):
    """The schema contradicts itself, the table, or the file it was read from."""


class AnswerError(EddiError, ValueError):
    """An answer is out of range, of the wrong kind, or to an unknown question."""


class TargetError(EddiError, ValueError):
    """The target is unknown, missing, or cannot be a target."""


class StrategyError(EddiError, ValueError):
    """A strategy was given a setting it does not have."""


class StopError(EddiError, ValueError):
    """A stopping rule cannot work: it is empty-handed, or does not suit the target."""


class EvaluationError(EddiError, ValueError):
    """A metric, a comparison or a picture that cannot be made of what was given."""


class ModelFileError(EddiError, ValueError):
    """A model file or checkpoint is damaged, foreign, too new, or belongs to something else."""


class TrainingError(EddiError, RuntimeError):
    """Training cannot start or did not survive (a device is missing, the loss is not finite)."""


class EngineError(EddiError, RuntimeError):
    """Work cannot be spread as asked, or a worker was lost again and again."""


class MissingExtraError(EddiError, ImportError):
    """An optional package is needed for this and is not installed."""


class EddiWarning(UserWarning):
    """Something was repaired or set aside and a person should know."""
