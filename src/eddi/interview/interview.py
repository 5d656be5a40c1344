"""The ask/tell loop with one respondent."""

from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Generic, overload

import numpy as np

from eddi.errors import AnswerError, OutOfRangeError, TargetError
from eddi.interview.answer_values import assign_values
from eddi.interview.explanation import Explanation, explain
from eddi.interview.next_step import InterviewStates, NextStep, NextSteps
from eddi.interview.record import Answer, NoAnswer, Record
from eddi.interview.risk_control import resolve_rules
from eddi.model.base import Model, ModelSource
from eddi.model.prediction import Prediction, Predictions
from eddi.strategy.base import Strategy
from eddi.strategy.exploration import uniform_number
from eddi.strategy.names import summarize_strategy
from eddi.strategy.stopping import StoppingRule
from eddi.table.evidence import Evidence
from eddi.table.missingness.indicators import mark_answers
from eddi.table.question import Question
from eddi.table.text import format_html_table, format_names, format_value, suggest_name
from eddi.table.variable import Level

if TYPE_CHECKING:
    from typing_extensions import TypeVar  # type variables with a default, before Python 3.13

    Result_co = TypeVar(
        "Result_co",
        bound=Prediction | Predictions,
        default=Prediction | Predictions,
        covariant=True,
    )
else:
    from typing import TypeVar

    Result_co = TypeVar("Result_co", covariant=True)


class Interview(Generic[Result_co]):
    """Asks one respondent the most informative questions, and predicts the target.

    The record of answers is the only state. Predictions, the next question and rewards follow from it.
    For type checkers, `predict` returns a `Prediction` if ``target`` is given as one name.

    Args:
        model: a fitted `PartialVAE`, or its fitted model.
        target: what to predict; the model's declared target if None.
        strategy: how questions are chosen; EDDI (`Information`) if None, per unit of cost if the
            questions have different costs.
        stop: when the interview ends; if None, as the schema says, or else after the last question.
        record: an earlier interview to continue.
    """

    @overload
    def __init__(
        self: "Interview[Prediction]",
        model: ModelSource,
        target: str,
        *,
        strategy: Strategy | None = None,
        stop: StoppingRule | None = None,
        record: Record | None = None,
    ) -> None: ...

    @overload
    def __init__(
        self,
        model: ModelSource,
        target: str | Sequence[str] | None = None,
        *,
        strategy: Strategy | None = None,
        stop: StoppingRule | None = None,
        record: Record | None = None,
    ) -> None: ...

    def __init__(
        self,
        model: ModelSource,
        target: str | Sequence[str] | None = None,
        *,
        strategy: Strategy | None = None,
        stop: StoppingRule | None = None,
        record: Record | None = None,
    ) -> None:
        fitted = model.fitted()
        if target is None and record is not None:
            target = record.target
        names = fitted.schema.target_names(fitted.target if target is None else target)
        if not names:
            raise TargetError("an interview needs a target: name what you want to know.")
        if record is not None and record.target != names:
            raise TargetError(
                f"this record is of an interview about {', '.join(record.target)}, "
                f"not about {', '.join(names)}."
            )
        self.rules = resolve_rules(fitted, names, strategy=strategy, stop=stop)
        self.record = Record(names) if record is None else replace(record, answers=())
        for answer in record.answers if record is not None else ():
            given = {**answer.values, **answer.without}
            self.tell(answer.question, given, confirm=True, propensity=answer.propensity)

    def __repr__(self) -> str:
        target, n_answers = ", ".join(self.target), len(self.record.answers)
        answers = "1 answer" if n_answers == 1 else f"{n_answers} answers"
        order = summarize_strategy(self.rules.strategy)
        return f"<Interview about {target}: {answers}, next question: {order}>"

    def _repr_html_(self) -> str:
        rows = [
            (answer.question, name, format_value(value))
            for answer in self.record.answers
            for name, value in {**answer.values, **answer.without}.items()
        ]
        answers = format_html_table(repr(self), ("question", "variable", "answer"), rows)
        predictions = self.model.predict_evidence(self.evidence(), self.target)
        return "\n".join([answers, *(predictions[name][0]._repr_html_() for name in self.target)])

    @property
    def model(self) -> Model:
        """The fitted model."""
        return self.rules.model

    @property
    def target(self) -> tuple[str, ...]:
        """The targets of this interview."""
        return self.record.target

    def ask(self) -> Question | None:
        """The next question, or None if the interview is over. It does not change the interview."""
        chosen = int(self._next_steps().chosen[0])
        return None if chosen < 0 else self.model.schema.questions[chosen]

    def tell(
        self,
        question: Question | str,
        *values: object,
        confirm: bool = False,
        propensity: float | None = None,
    ) -> None:
        """Record the answer to ``question``, asked or volunteered; a variable's name works, too.

        Give one value for each variable that the question reveals, in order, or a list of them, or a
        mapping of those that are known. UNKNOWN or DECLINED stands for any of them, or for all, and so
        does a code that the schema declares for it. None and NaN mean UNKNOWN. For a multi-select
        question, give the selected options as in the table ("Excel; R"), or as a list.

        Args:
            question: the question, its name, or the name of a variable.
            values: the answer.
            confirm: whether values outside their range are known to be correct.
            propensity: the probability with which the question was chosen, to be recorded; see `NextStep`.

        Raises:
            AnswerError: the answer is not valid; nothing is recorded.
            OutOfRangeError: a value is outside its range and not confirmed; nothing is recorded.
        """
        name = question.name if isinstance(question, Question) else question
        reveals = self._revealed_variables(name)
        answered = self.record.answered_variables()
        if name in self.record.answered_questions() or set(reveals) <= answered:
            raise AnswerError(f"{name!r} was already answered. Undo that answer to change it.")
        variables = [self.model.schema[variable] for variable in reveals]
        given = assign_values(name, variables, values, answered=answered)
        without = {key: value for key, value in given.items() if isinstance(value, NoAnswer)}
        levels = self._parse_values({k: v for k, v in given.items() if k not in without}, confirm)
        self.record = self.record.plus(Answer(name, levels, without, propensity))

    def parse(self, variable: str, value: object, *, confirm: bool = False) -> Level:
        """The value of a variable as it is recorded.

        Raises:
            AnswerError: the value is not valid.
            OutOfRangeError: it is outside the range of the schema, or so far outside the range of the
                training values that the model cannot use it, and it is not confirmed.
        """
        schema, coding = self.model.schema, self.model.coding
        described, position = schema[variable], schema.position(variable)
        number = described.number(value, confirm=confirm)
        if not confirm:
            row = np.full((1, len(schema.variables)), np.nan)
            row[0, position] = number
            if not coding.limit(coding.encode(row)).observed[0, position]:
                raise described.out_of_range(number, *coding.training_range(position))
        return described.answer(number)

    def _parse_values(self, given: Mapping[str, object], confirm: bool) -> dict[str, Level]:
        values: dict[str, Level] = {}
        errors: dict[str, OutOfRangeError] = {}
        for name, value in given.items():
            try:
                values[name] = self.parse(name, value, confirm=confirm)
            except OutOfRangeError as error:
                errors[name] = error
        if errors:
            ranges = {name: error.ranges[name] for name, error in errors.items()}
            raise OutOfRangeError(" ".join(map(str, errors.values())), ranges)
        return values

    def undo(self) -> None:
        """Remove the last answer."""
        if not self.record.answers:
            raise AnswerError("there is no answer to undo.")
        self.record = self.record.minus_last()

    @overload
    def predict(self, target: str) -> Prediction: ...

    @overload
    def predict(self, target: None = None) -> Result_co: ...

    def predict(self, target: str | None = None) -> Prediction | Predictions:
        """The present prediction of ``target``.

        If it is None: the prediction of the target of this interview or, if there are several targets,
        the `Predictions` of all of them by name.
        """
        names = self.target if target is None else self.model.schema.target_names(target)
        predictions = self.model.predict_evidence(self.evidence(), names)
        if len(names) == 1:
            return predictions[names[0]][0]
        return Predictions({name: prediction[0] for name, prediction in predictions.items()})

    def rewards(self) -> dict[str, float]:
        """Expected information of each open question about the target in nats, highest first."""
        return dict(self.next_step().rewards)

    def next_step(self, deferred: Collection[str] = ()) -> NextStep:
        """The next question with predictions, rewards and lookahead gains.

        Questions named in ``deferred`` are asked last, before the interview ends.
        """
        return self._next_steps(deferred)[0]

    def propensities(self) -> tuple[float, ...]:
        """The probability with which each answered question was chosen at its step.

        It is 0 for an answer to a question that would never have been asked at that step. Recorded
        probabilities are not used.
        """
        states = [self._state_before(number) for number in range(len(self.record.answers))]
        if not states:
            return ()
        steps = NextSteps(self.rules, InterviewStates.concatenate(states))
        places = {question.name: place for place, question in enumerate(self.model.schema.questions)}
        return tuple(
            float(steps.probabilities[row, places[answer.question]])
            if answer.question in places
            else 0.0
            for row, answer in enumerate(self.record.answers)
        )

    def _state_before(self, n_answers: int) -> InterviewStates:
        """The state after the first answers."""
        earlier = copy(self)
        earlier.record = replace(self.record, answers=self.record.answers[:n_answers])
        return earlier.state()

    def explain(self) -> Explanation | None:
        """Why the next question is asked, in words and numbers; None if the interview is over."""
        step, per_cost = self.next_step(), self.rules.is_per_cost
        return explain(self.model, self.evidence(), self.target, step, per_cost=per_cost)

    def _next_steps(self, deferred: Collection[str] = ()) -> NextSteps:
        return NextSteps(self.rules, self.state(deferred))

    def state(
        self, deferred: Collection[str] = (), *, evidence: Evidence | None = None
    ) -> InterviewStates:
        """The state of this interview, as a batch of one; ``evidence`` is that of its answers, if known."""
        questions, answered = self.model.schema.questions, self.record.answered_questions()
        declined = self.record.declined_variables()
        # A question that could only reveal declined variables is closed, too.
        closed = [q.name in answered or declined >= set(q.reveals) for q in questions]
        is_deferred = [q.name in deferred for q in questions]
        is_withheld = [q.name in self.record.withheld for q in questions]
        key, n_answers = self.record.key, len(self.record.answers)
        return InterviewStates(
            evidence=self.evidence() if evidence is None else evidence,
            closed=np.array([closed], dtype=bool),
            n_asked=np.array([self.record.n_answered]),
            spent=np.array([sum(q.cost for q in questions if q.name in answered)], dtype=np.float64),
            deferred=np.array([is_deferred], dtype=bool) if any(is_deferred) else None,
            uniform=np.array([uniform_number(key, n_answers)]) if key else None,
            withheld=np.array([is_withheld], dtype=bool) if any(is_withheld) else None,
        )

    def evidence(self) -> Evidence:
        """The answers so far as one row of evidence."""
        return answers_to_evidence(self.model, [self.record.answers])

    def _revealed_variables(self, name: str) -> tuple[str, ...]:
        """The variables that a question reveals, or the variable of this name."""
        schema = self.model.schema
        by_name = {question.name: question.reveals for question in schema.questions}
        if name not in by_name and name not in schema.names:
            hint = suggest_name(name, [*by_name, *schema.names])
            names = format_names(list(by_name))
            raise AnswerError(f"there is no question {name!r}.{hint} Questions are: {names}.")
        reveals = by_name.get(name, (name,))
        if set(reveals) & set(self.target):
            raise AnswerError(
                f"{name!r} reveals the target of this interview and cannot be answered. "
                "Answer other questions, or choose another target."
            )
        return reveals


def answers_to_evidence(model: Model, interviews: Sequence[Sequence[Answer]]) -> Evidence:
    """One row of evidence for the answers of each interview."""
    schema = model.schema
    numbers = np.full((len(interviews), len(schema.variables)), np.nan)
    for row, answers in enumerate(interviews):
        for answer in answers:
            for name, value in answer.values.items():
                numbers[row, schema.position(name)] = schema[name].number(value, confirm=True)
            mark_answers(numbers[row], schema, values=answer.values, without=answer.without)
    return model.coding.encode(numbers)
