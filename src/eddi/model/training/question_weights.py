"""Weights of interviews whose questions were chosen with known probabilities.

An adaptive interview asks for a blood test if the answers before make it worthwhile, so those who have a
result are not representative. A prediction of the target from the blood test alone must not treat them
as such. The probability of each question is known, so nothing has to be estimated: a row in which the set S
of questions is used counts as the inverse of the probability that S was asked, given its answers. A
row has a weight for each subset of its questions, since training hides a random part of them.

The weights are stabilised: multiplied by the share of interviews that have S (Robins, Hernán and Brumback
2000). If questions were chosen without regard to answers, all weights are 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from eddi.errors import TableError
from eddi.table.evidence import Evidence

MAX_WEIGHT = 10.0  # weights are clipped to [1 / MAX_WEIGHT, MAX_WEIGHT]


@dataclass(frozen=True, eq=False)
class QuestionWeights:
    """The weight of each row for each subset of its questions.

    Args:
        by_subset: weights, with mean about 1 [rows, subsets]; bit k of a subset is the k-th question.
        bits: the bit of the question that revealed a variable, as ``1 << k``; 0 if it was not asked
            [rows, variables].
        is_known: whether the probabilities of a row are known, as those of an interview are [rows].
    """

    by_subset: NDArray[np.float32]
    bits: NDArray[np.int64]
    is_known: NDArray[np.bool_]

    @classmethod
    def unknown(cls, n_rows: int, n_variables: int) -> "QuestionWeights":
        """Those of a table, whose values are missing with unknown probabilities."""
        return cls(
            np.ones((n_rows, 1), dtype=np.float32),
            np.zeros((n_rows, n_variables), dtype=np.int64),
            np.zeros(n_rows, dtype=bool),
        )

    @classmethod
    def concatenate(cls, parts: "Sequence[QuestionWeights]") -> "QuestionWeights":
        """The weights of several tables."""
        width = max(part.by_subset.shape[1] for part in parts)
        padded = [
            np.pad(part.by_subset, ((0, 0), (0, width - part.by_subset.shape[1])), constant_values=1.0)
            for part in parts
        ]
        return cls(
            np.concatenate(padded),
            np.concatenate([part.bits for part in parts]),
            np.concatenate([part.is_known for part in parts]),
        )

    def __len__(self) -> int:
        return len(self.bits)

    def __getitem__(self, rows: slice | Sequence[int] | NDArray[np.generic]) -> "QuestionWeights":
        return QuestionWeights(self.by_subset[rows], self.bits[rows], self.is_known[rows])

    def digest(self) -> str:
        """SHA-256 of the weights."""
        arrays = (self.by_subset, self.bits, self.is_known)
        return sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()


@dataclass(frozen=True)
class InterviewEvidence(Evidence):
    """Rows of which some are interviews, with the weights of their questions."""

    question_weights: QuestionWeights = field(kw_only=True)

    def __getitem__(self, rows: slice | Sequence[int] | NDArray[np.generic]) -> Evidence:
        chosen, weights = super().__getitem__(rows), self.question_weights[rows]
        return attach_weights(chosen, weights)


def attach_weights(evidence: Evidence, weights: QuestionWeights | None) -> Evidence:
    """The rows with the weights of their questions, if there are any.

    Raises:
        TableError: the numbers of rows or variables differ.
    """
    if weights is None:
        return evidence
    if weights.bits.shape != evidence.observed.shape:
        (n_rows, n_variables), shape = weights.bits.shape, evidence.observed.shape
        raise TableError(
            f"question_weights has {n_rows} rows of {n_variables} variables, but the table has "
            f"{shape[0]} rows of {shape[1]} variables. Compute the weights from the rows of the table."
        )
    return InterviewEvidence(
        evidence.values, evidence.observed, evidence.groups, question_weights=weights
    )


@dataclass(frozen=True)
class SubsetLookup:
    """The weights of rows on a device, for any part of their entries that is visible."""

    by_subset: Tensor  # [rows, subsets]
    bits: Tensor  # [rows, variables]

    @classmethod
    def from_evidence(
        cls, evidence: Evidence, device: torch.device, *, n_extra: int = 0
    ) -> "SubsetLookup | None":
        """The weights of rows, and of ``n_extra`` more that are no interviews; None without interviews."""
        if not isinstance(evidence, InterviewEvidence):
            return None
        parts = [evidence.question_weights, QuestionWeights.unknown(n_extra, evidence.n_variables)]
        joined = QuestionWeights.concatenate(parts)
        return cls(
            torch.from_numpy(joined.by_subset).to(device), torch.from_numpy(joined.bits).to(device)
        )

    def weights(self, rows: Tensor, visible: Tensor) -> Tensor:
        """The weight of each entry of some rows [n, variables].

        An entry is used together with those that are ``visible`` (1 or 0) [n, variables].
        """
        bits = self.bits[rows]
        subset = torch.zeros((len(rows), 1), dtype=torch.int64, device=bits.device)
        for place in range((self.by_subset.shape[1] - 1).bit_length()):
            bit = 1 << place
            is_visible = ((bits & bit) * (visible > 0)).any(1, keepdim=True)
            subset |= is_visible * bit
        return self.by_subset[rows].gather(1, subset | bits)
