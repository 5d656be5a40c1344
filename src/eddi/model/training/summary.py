"""What a model keeps about its training."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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

    def count_answers(self, n_variables: int) -> NDArray[np.float64]:
        """Number of training rows with a value of each variable and of a target, plus prior rows [variables].

        Those of the table that have both, and those that the beliefs of the schema count as. A model file
        without these numbers counts all rows of its table.
        """
        n_answers = self.n_answers or (self.n_rows,) * n_variables
        return np.array(n_answers, dtype=np.float64) + self.n_prior_rows
