"""The rules of an interview: which questions are open, who chooses, and when it ends."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray

from eddi.interview.section_rules import SectionRules
from eddi.model.base import Model
from eddi.strategy.balance import Balance
from eddi.strategy.base import CostAware, LookaheadStrategy, Strategy
from eddi.strategy.exploration import Explore
from eddi.strategy.information import Information
from eddi.strategy.per_cost import PerCost
from eddi.strategy.randomesque import Randomesque
from eddi.strategy.stopping import Stop, StoppingRule, is_risk_controlled, max_questions
from eddi.table import question
from eddi.table.evidence import Evidence
from eddi.table.question import Requirement
from eddi.table.variable import Kind

ROUNDING = 1e-9  # of costs: a budget of 0.3 buys three questions of 0.1
FLOAT32_ERROR = 1e-6  # of a coded value, relative to the shift and scale of its variable

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class InterviewRules:
    """The model, target, strategy and stopping rule that some interviews share.

    A stopping rule with a risk must be resolved first; see `risk_control.resolve_risk`.
    """

    model: Model
    target: tuple[str, ...]
    strategy: Strategy
    stop: StoppingRule

    @cached_property
    def base_strategy(self) -> Strategy:
        """The strategy whose scores are adjusted to costs; the strategy itself if none are."""
        return self._wrappers[-1].inner if self._wrappers else self.strategy

    @cached_property
    def exploration(self) -> Explore | Randomesque | None:
        """The part of the strategy that asks questions at random; None if there is none."""
        return next((part for part in self._wrappers if isinstance(part, Explore | Randomesque)), None)

    @cached_property
    def is_per_cost(self) -> bool:
        """Whether questions are chosen by score per unit of cost."""
        return any(isinstance(part, PerCost) for part in self._wrappers)

    @cached_property
    def _wrappers(self) -> list[CostAware]:
        """The strategies around the base strategy, the outermost first."""
        wrappers: list[CostAware] = []
        strategy = self.strategy
        while isinstance(strategy, CostAware):
            wrappers.append(strategy)
            strategy = strategy.inner
        return wrappers

    def adjust_to_costs(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """The scores of the strategy, from those of its base strategy [rows, questions]."""
        if not self._wrappers:
            return scores
        adjusted, costs = torch.from_numpy(scores), torch.from_numpy(self._costs)
        for wrapper in reversed(self._wrappers):
            adjusted = wrapper.adjust(adjusted, costs)
        return adjusted.numpy()

    def open_questions(self, evidence: Evidence, closed: Mask, spent: NDArray[np.float64]) -> Mask:
        """The questions that may be asked [rows, questions].

        They would reveal something new, do not reveal the target, are not closed, are affordable, their
        prerequisites are met, their section is not full, and no question that excludes them was asked. A
        section has places for its questions that are always asked, and what excludes these is not asked.

        Args:
            evidence: of each row.
            closed: questions that must not be asked (again) [rows, questions].
            spent: total cost of the questions asked so far [rows].
        """
        open_ = self.reveals_any(~evidence.observed) & ~closed & self.askable
        if self._prerequisites:
            open_ &= self._meets_prerequisites(evidence)
        if not self.section_rules.is_empty:
            reserved = self.always & self.askable
            closed_by_section = self.section_rules.closed(self.find_asked(evidence) | reserved)
            open_ &= ~closed_by_section | reserved
        if np.isinf(self.stop.budget):
            return np.asarray(open_)
        return np.asarray(open_ & self._is_affordable(open_, self.stop.budget - spent))

    def _is_affordable(self, open_: Mask, left: NDArray[np.float64]) -> Mask:
        """Questions that leave enough for those that are always asked, which are always affordable."""
        reserved = (open_ & self.always) @ self._costs  # [rows]
        affordable = self._costs <= (left - reserved + ROUNDING)[:, None]
        return np.asarray(affordable | self.always)

    def _meets_prerequisites(self, evidence: Evidence) -> Mask:
        is_met = np.ones((len(evidence), len(self._costs)), dtype=bool)
        numbers = self.model.coding.decode(evidence.values)
        for place, position, requirement in self._prerequisites:
            variable, tolerance = self.model.schema.variables[position], self._rounding_error[position]
            values = (
                numbers[:, position].round() if variable.kind is Kind.COUNT else numbers[:, position]
            )
            met = question.is_met(requirement, variable, values, tolerance=tolerance)
            is_met[:, place] &= evidence.observed[:, position] & met
        return is_met

    @cached_property
    def section_rules(self) -> SectionRules:
        """The limits of sections, and the questions that exclude each other."""
        balance = next((part for part in self._wrappers if isinstance(part, Balance)), None)
        return SectionRules.from_schema(self.model.schema, balance)

    def find_asked(self, evidence: Evidence) -> Mask:
        """Questions of which a variable has a value [rows, questions]."""
        return self.reveals_any(evidence.observed)

    def reveals_any(self, variables: Mask) -> Mask:
        """Questions that reveal any of a row's ``variables`` [rows, variables]: [rows, questions]."""
        if self._only_revealed is not None:
            return variables.take(self._only_revealed, axis=1)
        return np.asarray(variables.astype(np.float32) @ self._reveals.T.astype(np.float32) > 0)

    @cached_property
    def max_questions(self) -> float:
        """The number of questions after which interviews end; infinite if there is no such number."""
        return max_questions(self.stop)

    @cached_property
    def askable(self) -> Mask:
        """Questions that do not reveal the target and are not marked ``never`` [questions]."""
        schema = self.model.schema
        never = np.array([question.never for question in schema.questions], dtype=bool)
        return np.asarray(~self._reveals[:, schema.positions(self.target)].any(1) & ~never)

    @cached_property
    def lowest_cost(self) -> float:
        """The cost of the cheapest askable question; infinite if there is none."""
        return float(self._costs[self.askable].min(initial=np.inf)) - ROUNDING

    @cached_property
    def always(self) -> Mask:
        """Questions that are asked even after the stopping rule ends an interview [questions]."""
        return np.array([question.always for question in self.model.schema.questions], dtype=bool)

    @cached_property
    def asks_all(self) -> bool:
        """Whether every open question is asked in the end, whatever its score."""
        is_plain = isinstance(self.strategy, Information) and self.section_rules.is_empty
        return is_plain and isinstance(self.stop, Stop) and self.stop.never_ends

    @cached_property
    def may_follow_end(self) -> Mask:
        """Questions that exploration may ask after the stopping rule ends an interview [questions]."""
        if not isinstance(self.exploration, Explore):
            return np.zeros(len(self._costs), dtype=bool)
        return self.exploration.lack_answers(self.n_answers) | (self.exploration.continuation > 0)

    @cached_property
    def explores_all(self) -> bool:
        """Whether exploration asks every open question in the end, if the strategy asks it at all.

        The set of questions is then the same whatever their order. It is not if two questions reveal the
        same variable, since one of them may make the other one superfluous.
        """
        explore = self.exploration
        if not isinstance(explore, Explore) or not self.section_rules.is_empty:
            return False
        if (self._reveals[self.askable].sum(0) > 1).any():
            return False
        is_sure = explore.lack_answers(self.n_answers) | self.always | (explore.continuation == 1)
        return bool(is_sure[self.askable].all() and np.isinf(self.stop.budget))

    @cached_property
    def asks_always_first(self) -> bool:
        """Whether questions that are always asked come first, as risk control requires.

        A certified threshold holds for interviews whose order does not depend on it.
        """
        return is_risk_controlled(self.stop)

    @cached_property
    def lookahead_strategy(self) -> LookaheadStrategy | None:
        """The strategy if it looks one question ahead; None if it does not, or can ask one question only."""
        strategy = self.base_strategy
        if self.max_questions <= 1 or not isinstance(strategy, LookaheadStrategy):
            return None
        return strategy if strategy.looks_ahead(self.model, self.target) else None

    def allows_every_pair(
        self,
        evidence: Evidence,
        askable: Mask,
        *,
        n_asked: NDArray[np.int64],
        spent: NDArray[np.float64],
    ) -> NDArray[np.bool_]:
        """Whether every two questions that are left may come next [rows], as lookahead assumes.

        It is False while a question with prerequisites is open, and after one was declined. Whether the
        first of the two fills a section, or excludes the second, is not considered.

        Args:
            evidence: the answers so far.
            askable: questions that may be asked next [rows, questions].
            n_asked: number of questions that were asked [rows].
            spent: their total cost [rows].
        """
        left = self.unconditional & self.reveals_any(~evidence.observed)
        has_two = (left.sum(1) > 1) & (n_asked + 1 < self.max_questions)
        allows = np.asarray((askable == left).all(1) & has_two)
        if np.isinf(self.stop.budget):
            return allows
        optional = np.where(left & ~self.always, self._costs, 0.0)
        two_highest = np.sort(optional, axis=1)[:, -2:].sum(1)
        reserved = (left & self.always) @ self._costs
        return np.asarray(allows & (spent + two_highest + reserved <= self.stop.budget + ROUNDING))

    @cached_property
    def unconditional(self) -> Mask:
        """Askable questions without prerequisites [questions]."""
        required = [bool(question.requires) for question in self.model.schema.questions]
        return np.asarray(self.askable & ~np.array(required, dtype=bool))

    @cached_property
    def n_answers(self) -> NDArray[np.float64]:
        """Number of training rows behind the reward of each question: mean over its variables [questions]."""
        n_answers = np.where(self._reveals, self.model.n_answers_, 0.0)
        return np.asarray(n_answers.sum(1) / self._reveals.sum(1))

    @property
    def _reveals(self) -> Mask:
        return self.model.schema.reveals_mask

    @cached_property
    def _only_revealed(self) -> NDArray[np.int64] | None:
        """The variable that each question reveals [questions]; None if one reveals several."""
        is_single = (self._reveals.sum(1) == 1).all()
        return self._reveals.argmax(1) if is_single else None

    @cached_property
    def _costs(self) -> NDArray[np.float64]:
        return self.model.schema.costs

    @cached_property
    def _rounding_error(self) -> NDArray[np.float64]:
        """The largest error of decoded numbers, which are coded as float32 [variables]."""
        coding = self.model.coding
        return np.asarray(FLOAT32_ERROR * (np.abs(coding.shift) + coding.scale))

    @cached_property
    def _prerequisites(self) -> list[tuple[int, int, Requirement]]:
        """Position of the question, position of the variable, and requirement of every prerequisite."""
        schema = self.model.schema
        return [
            (place, schema.position(name), requirement)
            for place, asked in enumerate(schema.questions)
            for name, requirement in asked.requires.items()
        ]
