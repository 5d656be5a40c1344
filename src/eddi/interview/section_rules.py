"""Rules about sections: how many of their questions are asked, and which questions exclude each other.

A question counts as asked once a variable that it reveals has a value, so the rules follow from the
answers alone.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eddi.errors import StrategyError
from eddi.strategy.balance import Balance
from eddi.table.schema import Schema
from eddi.table.text import format_names, suggest_name

Mask = NDArray[np.bool_]
Numbers = NDArray[np.float64]

ROUNDING = 1e-9  # of differences between shares


@dataclass(frozen=True, eq=False)
class SectionRules:
    """The limits of the sections of a schema, as arrays.

    Args:
        members: which questions belong to which section [sections, questions].
        minimum: number of questions of each section that are asked in any case [sections].
        maximum: number that is asked at most; infinite without a limit [sections].
        share: of each section among the questions asked; 0 without one [sections].
        exclusive: which questions belong to which exclusive group [groups, questions].
    """

    members: Numbers
    minimum: Numbers
    maximum: Numbers
    share: Numbers
    exclusive: Numbers

    @classmethod
    def from_schema(cls, schema: Schema, balance: Balance | None = None) -> "SectionRules":
        """The rules of a schema; a strategy that balances sections replaces their shares."""
        sections = {section.name: section for section in schema.sections}
        known = sorted({question.section for question in schema.questions if question.section})
        shares = {name: section.share or 0.0 for name, section in sections.items()}
        if balance is not None:
            _check_shares(balance, known)
            shares = dict(balance.shares)
        names = [name for name in known if name in sections or shares.get(name)]
        limits = [sections.get(name) for name in names]
        of_section = [[question.section == name for question in schema.questions] for name in names]
        groups = [
            [question.name in group for question in schema.questions] for group in schema.exclusive
        ]
        n_questions = len(schema.questions)
        return cls(
            members=np.array(of_section, dtype=np.float64).reshape(-1, n_questions),
            minimum=np.array([0 if limit is None else limit.minimum for limit in limits], np.float64),
            maximum=np.array(
                [np.inf if limit is None or limit.maximum is None else limit.maximum for limit in limits]
            ),
            share=np.array([shares.get(name, 0.0) for name in names], dtype=np.float64),
            exclusive=np.array(groups, dtype=np.float64).reshape(-1, n_questions),
        )

    @property
    def is_empty(self) -> bool:
        """Whether there are no rules."""
        return not len(self.members) and not len(self.exclusive)

    def closed(self, asked: Mask) -> Mask:
        """Questions of full sections, and those that exclude one that was asked [rows, questions]."""
        is_full = self._count(asked) >= self.maximum  # [rows, sections]
        is_excluded = (asked @ self.exclusive.T) @ self.exclusive > 0
        return np.asarray((is_full @ self.members > 0) | (is_excluded & ~asked))

    def required(self, askable: Mask, asked: Mask) -> Mask:
        """Askable questions of sections below their minimum [rows, questions]."""
        is_below = self._count(asked) < self.minimum
        return np.asarray(askable & (is_below @ self.members > 0))

    def n_required(self, askable: Mask, asked: Mask) -> Numbers:
        """Number of questions that are missing to the minimum of all sections [rows]."""
        missing = np.maximum(self.minimum - self._count(asked), 0)
        return np.asarray(np.minimum(missing, askable @ self.members.T).sum(1))

    def balance(self, askable: Mask, asked: Mask) -> Mask:
        """The askable questions of the section that is furthest below its share [rows, questions].

        Questions outside the sections with a share have the remaining share (Kingsbury and Zara 1989).
        """
        if not self.share.any():
            return askable
        members = self.members[self.share > 0]
        others = 1 - members.max(0)
        groups = np.concatenate([members, others[None]])
        share = np.append(self.share[self.share > 0], max(1 - self.share.sum(), 0.0))
        counts = asked @ groups.T
        gap = share * (counts.sum(1, keepdims=True) + 1) - counts  # [rows, groups]
        is_possible = (askable @ groups.T > 0) & (share > 0)
        gap = np.where(is_possible, gap, -np.inf)
        is_lowest = is_possible & (gap >= gap.max(1, keepdims=True) - ROUNDING)
        balanced = askable & (is_lowest @ groups > 0)
        return np.asarray(np.where(balanced.any(1, keepdims=True), balanced, askable))

    def _count(self, asked: Mask) -> Numbers:
        """Number of questions asked in each section [rows, sections]."""
        return np.asarray(asked @ self.members.T)


def _check_shares(balance: Balance, known: list[str]) -> None:
    for name in balance.shares:
        if name not in known:
            raise StrategyError(
                f"Balance names the section {name!r}, which no question belongs to."
                f"{suggest_name(name, known)} Sections are: {format_names(known) or 'none'}."
            )
