"""What a model keeps about its training."""

from dataclasses import dataclass

from eddi.model.training.checkpoint import Progress


@dataclass(frozen=True)
class TrainingSummary:
    """What a model was trained on, and how training went."""

    columns: tuple[str, ...]  # of the training table
    n_rows: int
    fingerprint: str  # SHA-256 of the schema and the coded table
    history: list[Progress]
    has_column_names: bool = True  # False for an array
    has_single_target: bool = False  # whether the target was given as one name
    warnings: tuple[str, ...] = ()  # about the table, such as leakage
    n_prior_rows: int = 0  # how many rows the beliefs of the schema counted as
    n_answers: tuple[int, ...] = ()  # to each variable, in rows with a known target; empty if not known
