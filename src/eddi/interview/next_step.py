"""The next step of a batch of interviews: question, predictions, rewards and lookahead gain.

Everything that asks questions comes through here: `Interview` is a batch of one, the service's batcher a
batch of all waiting requests, and a simulation a batch of all held-out rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from eddi.interview.rules import InterviewRules, Mask
from eddi.model.prediction import Prediction, Predictions
from eddi.strategy.exploration import choose_surely, draw_question
from eddi.strategy.information import Information
from eddi.strategy.lookahead import Lookahead
from eddi.strategy.randomesque import Randomesque
from eddi.strategy.stopping import Situation
from eddi.table.evidence import Evidence
from eddi.table.question import Question

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class InterviewStates:
    """The state of some interviews, one per row.

    Args:
        evidence: the answers so far.
        closed: questions that must not be asked (again) [rows, questions].
        n_asked: number of questions answered, including volunteered answers [rows].
        spent: their total cost [rows].
        deferred: questions that are asked last, before the interview ends [rows, questions]; None for
            none.
        uniform: random numbers in [0, 1), which decide about exploration [rows]; None for no exploration.
        next_decision: the next decision time, NaN if there is none [rows]; None without `[time]`.
        withheld: questions that are asked only if no other one is left [rows, questions]; see `Exposure`.
            None for none.
    """

    evidence: Evidence
    closed: Mask
    n_asked: NDArray[np.int64]
    spent: Numbers
    deferred: Mask | None = None
    uniform: Numbers | None = None
    next_decision: Numbers | None = None
    withheld: Mask | None = None

    @classmethod
    def empty(cls, rules: InterviewRules, n_rows: int) -> "InterviewStates":
        """Interviews in which nothing was asked."""
        schema = rules.model.schema
        return cls(
            Evidence.empty(n_rows, len(schema.variables)),
            np.zeros((n_rows, len(schema.questions)), dtype=bool),
            np.zeros(n_rows, dtype=np.int64),
            np.zeros(n_rows),
        )

    def __getitem__(self, rows: NDArray[np.generic]) -> "InterviewStates":
        """Some of the interviews, without deferred questions."""
        return InterviewStates(
            self.evidence[rows],
            self.closed[rows],
            self.n_asked[rows],
            self.spent[rows],
            withheld=None if self.withheld is None else self.withheld[rows],
        )

    @classmethod
    def concatenate(cls, states: Sequence["InterviewStates"]) -> "InterviewStates":
        """Several batches, without deferred questions, as one."""
        if len(states) == 1:
            return states[0]
        values = np.concatenate([state.evidence.values for state in states])
        observed = np.concatenate([state.evidence.observed for state in states])
        uniform = [state.uniform for state in states if state.uniform is not None]
        next_decision = [state.next_decision for state in states if state.next_decision is not None]
        return cls(
            Evidence(values, observed),
            np.concatenate([state.closed for state in states]),
            np.concatenate([state.n_asked for state in states]),
            np.concatenate([state.spent for state in states]),
            uniform=np.concatenate(uniform) if len(uniform) == len(states) else None,
            next_decision=np.concatenate(next_decision) if next_decision else None,
            withheld=_join_withheld(states),
        )


@dataclass(frozen=True)
class NextStep:
    """The next step of one interview.

    Args:
        question: the next question; None if the interview is over. That of the time column means to wait.
        predictions: of each target.
        rewards: expected information of each open question in nats, highest first.
        ranking: the open questions by the strategy's score, best first.
        lookahead_gains: nats by which an answer is expected to improve the question after it, for the
            questions for which this counts.
        propensity: probability of this question, given the answers so far; that of the end if there is
            no question. 1 without exploration.
        propensities: probability of each question that might have been asked now.
        wait: the next decision time, if there is no question now that is worth its cost, but may be one then.
    """

    question: Question | None
    predictions: Mapping[str, Prediction]
    rewards: Mapping[str, float]
    ranking: tuple[str, ...]
    lookahead_gains: Mapping[str, float]
    propensity: float = 1.0
    propensities: Mapping[str, float] = field(default_factory=dict)
    wait: float | None = None

    def is_finite(self) -> bool:
        """Whether all numbers are finite."""
        numbers = [
            (p.mean, p.sd, *p.interval) if p.probabilities is None else p.probabilities
            for p in self.predictions.values()
        ]
        return bool(np.isfinite(np.concatenate([list(self.rewards.values()), *numbers])).all())


@dataclass(frozen=True)
class NextSteps:
    """The next steps of interviews under the same rules, from one call of the strategy.

    Each part is computed when it is first needed.
    """

    rules: InterviewRules
    states: InterviewStates

    def __len__(self) -> int:
        return len(self.states.evidence)

    def __getitem__(self, row: int) -> NextStep:
        questions = self.rules.model.schema.questions
        open_ = np.flatnonzero(self.open[row])
        gains, wait = self.lookahead_gain[row], float(self.wait[row])
        by_reward = sorted(open_, key=lambda place: -self.rewards[row, place])
        by_score = sorted(open_, key=lambda place: -self.scores[row, place])
        question = self.question(row)
        rewards = {questions[i].name: float(self.rewards[row, i]) for i in by_reward}
        if question is not None:
            rewards.setdefault(question.name, 0.0)  # waiting reveals nothing
        return NextStep(
            question=question,
            predictions={name: p[row] for name, p in self.predictions.items()},
            rewards=rewards,
            ranking=tuple(questions[i].name for i in by_score),
            lookahead_gains={questions[i].name: float(gains[i]) for i in open_ if gains[i] > 0},
            propensity=float(self.propensities[row]),
            propensities={
                questions[i].name: float(self.probabilities[row, i])
                for i in np.flatnonzero(self.probabilities[row])
            },
            wait=None if np.isnan(wait) else wait,
        )

    def question(self, row: int) -> Question | None:
        """The next question of a row; the time column's if it waits, None if its interview is over."""
        schema, chosen = self.rules.model.schema, int(self.chosen[row])
        if chosen >= 0:
            return schema.questions[chosen]
        is_waiting = schema.time is not None and not np.isnan(self.wait[row])
        return schema.question(schema.time.column) if schema.time and is_waiting else None

    @cached_property
    def chosen(self) -> NDArray[np.int64]:
        """The position of each row's next question [rows]; -1 if the interview is over."""
        if self.rules.exploration is None or self.states.uniform is None:
            return self._best
        drawn = draw_question(self._drawn, self.states.uniform)
        return np.where(drawn >= 0, drawn, self._best_deferred)

    @cached_property
    def wait(self) -> Numbers:
        """The time until which each row waits [rows]; NaN if there is a question, or if it is over.

        A row waits if its rule would not end it whatever a question were worth, and if its budget allows
        another question.
        """
        times = self.states.next_decision
        if times is None:
            return np.full(len(self), np.nan)
        best = np.full(len(self), np.inf)
        rules = self.rules
        is_over = rules.stop.reached(Situation(self.states.n_asked, best, lambda: self.predictions))
        is_over |= rules.stop.budget - self.states.spent < rules.lowest_cost
        return np.where((self.chosen >= 0) | is_over, np.nan, times)

    @cached_property
    def probabilities(self) -> Numbers:
        """The probability of each question to be asked next [rows, questions]; the rest is the end's."""
        if self.rules.exploration is None or self.states.uniform is None:
            return choose_surely(self._best, self.open.shape[1])
        ends = np.where(self._choice[0] < 0, np.maximum(1 - self._drawn.sum(1), 0.0), 0.0)
        return self._drawn + ends[:, None] * choose_surely(self._best_deferred, self.open.shape[1])

    @cached_property
    def _drawn(self) -> Numbers:
        """The probability of each question that is not deferred, with exploration [rows, questions]."""
        explore, (chosen, candidates) = self.rules.exploration, self._choice
        if isinstance(explore, Randomesque):
            return explore.probabilities(chosen, explore.select(candidates, self.scores))
        assert explore is not None  # noqa: S101  # callers check
        nats_against = self._nats_against(candidates)
        return explore.probabilities(chosen, candidates, nats_against, self.rules.n_answers)

    @cached_property
    def propensities(self) -> Numbers:
        """The probability with which each row's next question, or its end, was chosen [rows]."""
        ends = np.maximum(1 - self.probabilities.sum(1, keepdims=True), 0.0)
        with_end = np.concatenate([self.probabilities, ends], axis=1)
        return np.take_along_axis(with_end, self.chosen[:, None] % with_end.shape[1], axis=1)[:, 0]

    @cached_property
    def _best(self) -> NDArray[np.int64]:
        """The next question without exploration [rows]; -1 if the interview is over."""
        chosen = self._choice[0]
        return np.where(chosen >= 0, chosen, self._best_deferred)

    @cached_property
    def _best_deferred(self) -> NDArray[np.int64]:
        """The deferred question with the highest score, which is asked instead of the end [rows]; else -1."""
        if self.states.deferred is None:
            return np.full(len(self), -1)
        return best_question(self.scores, self._askable(self.states.closed) & self.states.deferred)

    def _nats_against(self, candidates: Mask) -> Numbers | None:
        """Evidence that each candidate is worse than the best of them, in nats [rows, questions].

        It is the difference in expected information from the best candidate, times the number of training
        rows that the estimate rests on.
        With scores per unit of cost, an answer is compared with what its cost buys at the best rate. None if
        scores are not in nats.
        """
        if not isinstance(self.rules.base_strategy, Information | Lookahead):
            return None
        scores = self.rules.adjust_to_costs(self._values)
        highest = scores.max(1, keepdims=True, initial=-np.inf, where=candidates)
        with np.errstate(invalid="ignore"):  # no candidates, or infinitely many answers
            gaps = np.where(scores > -np.inf, highest - scores, 0.0)
            if self.rules.is_per_cost:
                gaps = gaps * self.rules.model.schema.costs
            return np.where(candidates & (gaps > 0), self.rules.n_answers * gaps, 0.0)

    @cached_property
    def _values(self) -> Numbers:
        """The scores with the lookahead gain, before they are adjusted to costs [rows, questions]."""
        return self.base_scores + self.lookahead_gain

    @cached_property
    def _not_deferred(self) -> Mask:
        """The open questions that are not deferred [rows, questions]."""
        closed, deferred = self.states.closed, self.states.deferred
        return self.open if deferred is None else self._open(closed | deferred)

    @cached_property
    def open(self) -> Mask:
        """The questions that may be asked, deferred ones included [rows, questions]."""
        return self._open(self.states.closed)

    @cached_property
    def base_scores(self) -> Numbers:
        """The scores before they are adjusted to costs [rows, questions]."""
        rules = self.rules
        return _to_numpy(rules.base_strategy.score(rules.model, self.states.evidence, rules.target))

    @cached_property
    def scores(self) -> Numbers:
        """The strategy's scores of all questions [rows, questions]; -inf for one that is never asked."""
        return self.rules.adjust_to_costs(self.base_scores)

    @cached_property
    def rewards(self) -> Numbers:
        """Expected information of all questions about the target, in nats [rows, questions]."""
        rules = self.rules
        if isinstance(rules.base_strategy, Information):
            return self.base_scores
        return _to_numpy(Information().score(rules.model, self.states.evidence, rules.target))

    @cached_property
    def predictions(self) -> Predictions:
        """The prediction of each target."""
        return self.rules.model.predict_evidence(self.states.evidence, self.rules.target)

    @cached_property
    def lookahead_gain(self) -> Numbers:
        """The lookahead gain of each question [rows, questions].

        It is 0 in rows in which some question that is left may not be asked next.
        """
        rules, states, open_ = self.rules, self.states, self._not_deferred
        gain = np.zeros(open_.shape)
        if (strategy := rules.lookahead_strategy) is None:
            return gain
        askable = open_ & (rules.always | (self.base_scores > -np.inf))
        allows = rules.allows_every_pair(
            states.evidence, askable, n_asked=states.n_asked, spent=states.spent
        )
        if (rows := np.flatnonzero(allows)).size:
            evidence = states.evidence[rows]
            gain[rows] = _to_numpy(strategy.lookahead_gain(rules.model, evidence, rules.target))
        return gain

    def _open(self, closed: Mask) -> Mask:
        return self.rules.open_questions(self.states.evidence, closed, self.states.spent)

    def _askable(self, closed: Mask) -> Mask:
        """Open questions that the strategy asks at all, or that are always asked."""
        return self._open(closed) & (self.rules.always | (self.scores > -np.inf))

    @cached_property
    def _choice(self) -> tuple[NDArray[np.int64], Mask]:
        """The best question of each row, or -1, and the questions that may take its place."""
        rules, open_ = self.rules, self._not_deferred
        if self._is_forced(open_):
            return best_question(np.zeros(open_.shape), open_), open_
        values = self._values
        scores = rules.adjust_to_costs(values)
        askable = open_ & (rules.always | (scores > -np.inf))
        if rules.asks_always_first:
            pinned = askable & rules.always
            askable = np.where(pinned.any(1, keepdims=True), pinned, askable)
        best = np.where(askable, values, -np.inf).max(1, initial=-np.inf)
        situation = Situation(self.states.n_asked, best, lambda: self.predictions)
        is_over = rules.stop.reached(situation)
        askable, required = self._apply_sections(askable)
        chosen = best_question(scores, askable)
        if not is_over.any():
            return chosen, askable
        chosen = np.where(is_over, best_question(scores, required), chosen)
        is_required = is_over & required.any(1)
        return chosen, np.where(is_required[:, None], required, askable)

    def _is_forced(self, open_: Mask) -> bool:
        """Whether no row has a choice, so that no scores are needed: at most one question is left."""
        if np.count_nonzero(open_) > len(self) or not self.rules.asks_all:
            return False
        return bool((open_.sum(1) <= 1).all())

    def _apply_sections(self, askable: Mask) -> tuple[Mask, Mask]:
        """The askable questions that sections allow, and those that are asked in any case.

        Only the latter remain when the questions left are just enough for the minimum of every section.
        """
        rules, sections = self.rules, self.rules.section_rules
        if sections.is_empty:
            return self._leave_out_withheld(askable), askable & rules.always
        asked = rules.find_asked(self.states.evidence)
        required = askable & (rules.always | sections.required(askable, asked))
        n_required = sections.n_required(askable, asked)
        n_left = rules.max_questions - self.states.n_asked
        is_urgent = (n_required > 0) & (n_left <= n_required)
        eligible, required = self._leave_out_withheld(askable), self._leave_out_withheld(required)
        allowed = np.where(is_urgent[:, None], required, sections.balance(eligible, asked))
        return allowed, required

    def _leave_out_withheld(self, askable: Mask) -> Mask:
        """The questions that are not withheld, or all of them if no other one is left."""
        if self.states.withheld is None:
            return askable
        eligible = askable & (self.rules.always | ~self.states.withheld)
        return np.where(eligible.any(1, keepdims=True), eligible, askable)


def _join_withheld(states: Sequence[InterviewStates]) -> Mask | None:
    if all(state.withheld is None for state in states):
        return None
    masks = [np.zeros_like(s.closed) if s.withheld is None else s.withheld for s in states]
    return np.concatenate(masks)


def best_question(scores: NDArray[np.floating], askable: Mask) -> NDArray[np.int64]:
    """The askable question with the highest score of each row [rows]; -1 if none is askable."""
    # A question that is always asked may have a score of -inf; it still precedes those not askable.
    finite = np.maximum(scores, np.finfo(scores.dtype).min)
    best = np.where(askable, finite, -np.inf).argmax(1)
    return np.where(askable.any(1), best, -1)


def _to_numpy(scores: Tensor) -> Numbers:
    array = scores.cpu().numpy().astype(np.float64)
    # An extreme answer may overflow the network; questions then carry no information.
    return np.where(np.isnan(array), 0.0, array)
