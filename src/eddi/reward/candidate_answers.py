"""Candidate answers: the possible answers of some rows to their open questions."""

from dataclasses import dataclass

from torch import Tensor

from eddi.model.network.factors.factor_model import FactorMoments


@dataclass(frozen=True)
class CandidateAnswers:
    """Possible answers of some rows to their open questions.

    An answer that reveals one variable has its value; one that reveals several has its term of the code.
    """

    rows: Tensor  # [answers]
    questions: Tensor  # [answers]
    probabilities: Tensor  # [answers], summing to 1 for each row and question
    values: Tensor | None = None  # [answers] coded
    variables: Tensor | None = None  # [answers]
    first_terms: Tensor | None = None  # [answers, width] what each adds to the output of the first layer
    factors: FactorMoments | None = None  # after each answer
    code_terms: Tensor | None = None  # [answers, code width]

    @property
    def is_drawn(self) -> bool:
        """Whether the answers are draws, and not all answers that are possible."""
        return self.code_terms is not None

    def where(self, mask: Tensor) -> "CandidateAnswers":
        """The answers selected by ``mask``, without what they add to the network's layers."""
        names = ("rows", "questions", "probabilities", "values", "variables", "code_terms")
        parts = {name: getattr(self, name) for name in names}
        return CandidateAnswers(**{name: part[mask] for name, part in parts.items() if part is not None})

    def gather_rows(self, by_row: Tensor) -> Tensor:
        """The entry of each answer's row [answers, ...]; not copied if there is a single row."""
        return by_row if len(by_row) == 1 else by_row.index_select(0, self.rows)

    def add_expectation(self, values: Tensor, total: Tensor) -> None:
        """Add the expectation over answers of ``values`` [answers, ...] to that of each row and question.

        ``total`` is [rows, questions, ...].
        """
        is_single = len(total) == 1
        index = self.questions if is_single else self.rows * total.shape[1] + self.questions
        probabilities = self.probabilities.view(-1, *[1] * (values.dim() - 1))
        n_pairs = total.shape[0] * total.shape[1]
        total.view(n_pairs, *total.shape[2:]).index_add_(0, index, values * probabilities)
