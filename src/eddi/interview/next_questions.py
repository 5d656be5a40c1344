"""The next question of many rows at once, each with any subset of its values observed.

`next_questions` is for programs that keep the answers themselves: benchmarks, pipelines, batch jobs. It
has no state. `Interview` is the same for one respondent, with a record of the answers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eddi.errors import TableError, TargetError
from eddi.interview.next_step import InterviewStates, NextSteps
from eddi.interview.risk_control import resolve_rules
from eddi.interview.rules import Mask
from eddi.model.base import Model, ModelSource
from eddi.model.prediction import Predictions
from eddi.strategy.base import Strategy
from eddi.strategy.stopping import StoppingRule
from eddi.table.evidence import Evidence
from eddi.table.question import Question
from eddi.table.schema import Schema
from eddi.table.text import format_list


@dataclass(frozen=True, eq=False, repr=False)
class NextQuestions:
    """The next question of each row. Rewards and predictions are computed when they are first read."""

    steps: NextSteps

    def __len__(self) -> int:
        return len(self.steps)

    def __repr__(self) -> str:
        return f"NextQuestions({format_list(self.question)})"

    @property
    def questions(self) -> tuple[str, ...]:
        """The names of all questions: the columns of `rewards`, to which `index` refers."""
        return tuple(question.name for question in self.steps.rules.model.schema.questions)

    @property
    def index(self) -> NDArray[np.int64]:
        """The position of each row's next question in `questions` [rows]; -1 if there is none."""
        return self.steps.chosen

    @property
    def question(self) -> tuple[str | None, ...]:
        """The name of each row's next question [rows].

        None means that the stopping rule holds, or that no question is left.
        """
        names = self.questions
        return tuple(None if place < 0 else names[place] for place in self.index.tolist())

    @cached_property
    def rewards(self) -> NDArray[np.float64]:
        """Expected information of each question about the target in nats [rows, questions].

        It is NaN for a question that may not be asked.
        """
        return np.where(self.steps.open, self.steps.rewards, np.nan)

    @property
    def predictions(self) -> Predictions:
        """The prediction of each target from the observed values, by name; each has one entry per row."""
        return self.steps.predictions


def next_questions(
    model: ModelSource,
    rows: Any,
    *,
    target: str | Sequence[str] | None = None,
    strategy: Strategy | None = None,
    closed: Any = (),
    stop: StoppingRule | None = None,
) -> NextQuestions:
    """Choose the next question of every row, given the values that are observed so far.

    Each row gets the question that an `Interview` with these answers would ask. A question counts as
    answered if all variables it reveals are observed, or if some are and it is closed. Values of the
    target are ignored.

    Args:
        model: a fitted `PartialVAE`, or its fitted model.
        rows: a table in which NaN means not observed; `Evidence`; or a tuple of two arrays
            [rows, columns], the values in the table's own units and a boolean mask, True = observed.
            The columns of arrays are those of the table given to ``fit``, in order. Those of the target
            may be left out.
        target: what to predict; the model's declared target if None.
        strategy: how questions are chosen; EDDI (`Information`) if None, per unit of cost if the
            questions have different costs.
        closed: questions that may not be asked: names, which hold for all rows, or a boolean mask
            [rows, questions] in the order of ``model.schema_.questions``.
        stop: when to ask no more; if None, as the schema says, or else once no question is left.
            A question that was asked but not answered at all does not count for ``Stop(after=...)`` and
            budgets.

    Raises:
        TargetError: there is no target, or it is unknown.
        TableError: the rows do not fit the model, or the mask does not fit the rows.
        SchemaError: ``closed`` names a question that does not exist.
    """
    fitted = model.fitted()
    names = fitted.schema.target_names(fitted.target if target is None else target)
    if not names:
        raise TargetError("choosing questions needs a target: name what you want to know.")
    evidence = _read_rows(fitted, rows, names).hide(fitted.schema.positions(names))
    closed_mask = _read_closed(fitted.schema, closed, len(evidence))
    rules = resolve_rules(fitted, names, strategy=strategy, stop=stop)
    return NextQuestions(NextSteps(rules, _infer_states(fitted.schema, evidence, closed_mask)))


def _infer_states(schema: Schema, evidence: Evidence, closed: Mask) -> InterviewStates:
    """The interviews that have these answers."""
    reveals = schema.reveals_mask.T.astype(np.float32)  # [variables, questions]
    n_observed = evidence.observed.astype(np.float32) @ reveals  # [rows, questions]
    is_answered = (n_observed == reveals.sum(0)) | ((n_observed > 0) & closed)
    return InterviewStates(
        evidence=evidence,
        closed=closed | is_answered,
        n_asked=is_answered.sum(1),
        spent=is_answered @ schema.costs,
    )


def _read_rows(model: Model, rows: Any, target: tuple[str, ...]) -> Evidence:
    if isinstance(rows, tuple):
        if len(rows) != 2:
            raise TableError(
                f"rows must be a table, Evidence, or a tuple of values and mask; got a tuple of {len(rows)}."
            )
        return _read_arrays(model, *rows, target)
    if not isinstance(rows, Evidence):
        return model.evidence(rows, hidden=target)
    n_variables = len(model.schema.variables)
    if rows.n_variables != n_variables:
        raise TableError(
            f"the evidence has {rows.n_variables} variables, but the model has {n_variables}. Create it "
            "with model.evidence(table)."
        )
    _check_not_missing(rows.values, rows.observed)
    return rows


def _read_arrays(
    model: Model, values: ArrayLike, observed: ArrayLike, target: tuple[str, ...]
) -> Evidence:
    """The evidence of values [rows, columns] where a mask is true."""
    array, mask = np.asarray(values), np.asarray(observed)
    if array.ndim != 2:
        raise TableError(
            f"values must have the shape [rows, columns], got an array of shape {array.shape}. One row "
            "is an array of shape (1, columns)."
        )
    _check_mask("observed", mask, array.shape)
    is_numeric = array.dtype.kind in "biuf"
    cells = array.astype(np.float64 if is_numeric else object)
    _check_not_missing(cells, mask)
    cells[~mask] = np.nan
    return model.evidence(cells, hidden=target)


def _read_closed(schema: Schema, closed: Any, n_rows: int) -> Mask:
    """The questions that may not be asked [rows, questions]."""
    questions = schema.questions
    if isinstance(closed, str | Question):
        closed = [closed]
    array = np.asarray(() if closed is None else closed)
    if array.dtype.kind in "OU" or array.size == 0:
        names = [q.name if isinstance(q, Question) else str(q) for q in array.ravel()]
        closed_questions = [schema.question(name) for name in names]
        return np.tile([question in closed_questions for question in questions], (n_rows, 1))
    _check_mask("closed", array, (n_rows, len(questions)))
    return array


def _check_mask(name: str, mask: NDArray[Any], shape: tuple[int, ...]) -> None:
    if mask.dtype != np.bool_:
        raise TableError(
            f"the mask {name!r} must hold booleans, got {mask.dtype}. Convert it with "
            "mask.astype(bool), if its numbers are 0 and 1."
        )
    if mask.shape != shape:
        raise TableError(f"the mask {name!r} must have the shape {shape}, got {mask.shape}.")


def _check_not_missing(values: NDArray[Any], observed: Mask) -> None:
    """Raise a `TableError` if a value that is marked as observed is NaN or None."""
    is_missing = (values != values) | (values == None)  # noqa: E711  # by element
    places = np.argwhere(observed & is_missing.astype(bool))
    if len(places):
        row, column = places[0].tolist()
        raise TableError(
            f"the value in row {row}, column {column} is marked as observed, but it is "
            f"{values[row, column]}. Mark it as not observed, or give its value."
        )
