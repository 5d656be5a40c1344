"""Gathers people who wait for their next question, and works out all of them at once.

One thread has the model. A person alone is served at once; where there is company, the thread waits a
moment for more of it. What a row gets does not depend on its company: rewards are the same in any batch.
"""

import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eddi.errors import AnswerError, EddiError
from eddi.interview.interview import Interview
from eddi.interview.turn import Turns
from eddi.model.prediction import Prediction
from eddi.service.questionnaire import Questionnaire
from eddi.strategy.information import Information
from eddi.table.evidence import Evidence
from eddi.table.question import Question

FAR = 10.0  # standard deviations from the mean, beyond which an answer may break the arithmetic
PATIENCE_S = 60.0  # a person who waited this long has gone


class BusyError(EddiError, RuntimeError):
    """Too many people wait for the model already."""


@dataclass(frozen=True)
class Standing:
    """Where one interview stands, all of it from one look at the model.

    Args:
        question: the next one; None when it is enough.
        predictions: what is believed about each target.
        rewards: what each open question is worth, in nats about the target, best first.
    """

    question: Question | None
    predictions: dict[str, Prediction]
    rewards: dict[str, float]

    def is_finite(self) -> bool:
        """Whether all figures are numbers."""
        beliefs = self.predictions.values()
        shown = [
            (p.mean, p.sd, *p.interval) if p.probabilities is None else p.probabilities for p in beliefs
        ]
        return bool(np.isfinite(np.concatenate([list(self.rewards.values()), *shown])).all())


@dataclass(frozen=True)
class _Waiting:
    questionnaire: Questionnaire
    interview: Interview
    standing: "Future[Standing]"

    @property
    def company(self) -> tuple[int, tuple[str, ...]]:
        """Those who can be worked out in one call."""
        return id(self.questionnaire), self.interview.target


class Batcher:
    """The one thread that has the model, and the queue before it.

    Args:
        most: interviews worked out at once; 1 turns gathering off.
        window_s: how long to wait for company, where there was some a moment ago.
        waiting: how long the queue may grow.
        on_batch: told how many were worked out at once.
    """

    def __init__(
        self,
        *,
        most: int = 32,
        window_s: float = 0.002,
        waiting: int = 256,
        on_batch: Callable[[int], None] | None = None,
    ) -> None:
        self.most, self.window_s = most, window_s
        self._on_batch = on_batch or (lambda _: None)
        self._queue: queue.Queue[_Waiting | None] = queue.Queue(waiting)
        self._had_company = False
        self._thread = threading.Thread(target=self._work, name="eddi-model", daemon=True)
        self._thread.start()

    def standing(self, questionnaire: Questionnaire, interview: Interview) -> Standing:
        """Where ``interview`` stands; waits for it.

        Raises:
            BusyError: the queue is full, or the model did not answer in time.
            AnswerError: the answers are too far out to be computed with.
        """
        if self.most == 1:
            return _alone(questionnaire, interview)
        if not self._thread.is_alive():
            raise BusyError("the server is closing. Try again in a moment.")
        one = _Waiting(questionnaire, interview, Future())
        try:
            self._queue.put_nowait(one)
            return one.standing.result(PATIENCE_S)
        except (queue.Full, TimeoutError):
            raise BusyError(
                "too many people are being interviewed just now. Try again in a moment."
            ) from None

    def check(self) -> None:
        """Raise `BusyError` where nobody would be served."""
        if not self._thread.is_alive() or self._queue.full():
            raise BusyError("the model does not answer just now. Try again in a moment.")

    def close(self) -> None:
        """Serve those who wait, then stop."""
        self._queue.put(None)
        self._thread.join(PATIENCE_S)

    def _work(self) -> None:
        while (first := self._queue.get()) is not None:
            batch, last = self._gathered(first)
            self._had_company = len(batch) > 1
            by_company: dict[object, list[_Waiting]] = {}
            for one in batch:
                by_company.setdefault(one.company, []).append(one)
            for group in by_company.values():
                self._on_batch(len(group))
                _serve(group)
            if last:
                return

    def _gathered(self, first: _Waiting) -> tuple[list[_Waiting], bool]:
        """Those who come within the window, and whether the server closes."""
        batch = [first]
        until = time.monotonic() + (self.window_s if self._had_company else 0)
        while len(batch) < self.most:
            try:
                left = until - time.monotonic()
                one = self._queue.get(timeout=left) if left > 0 else self._queue.get_nowait()
            except queue.Empty:
                break
            if one is None:
                return batch, True
            batch.append(one)
        return batch, False


def _alone(questionnaire: Questionnaire, interview: Interview) -> Standing:
    one = _Waiting(questionnaire, interview, Future())
    _serve([one])
    return one.standing.result()


def _serve(group: Sequence[_Waiting]) -> None:
    """Give each its standing; where one of many fails, all are tried alone, and only it fails."""
    try:
        found = standings(group[0].questionnaire, [one.interview for one in group])
    except Exception as error:  # whoever waits must hear of it, whatever it is
        if len(group) == 1:
            group[0].standing.set_exception(_blamed(error, group[0].interview))
        else:
            for one in group:
                _serve([one])
        return
    for one, standing in zip(group, found, strict=True):
        if standing.is_finite():
            one.standing.set_result(standing)
        else:
            one.standing.set_exception(_blamed(FloatingPointError("not finite"), one.interview))


def standings(questionnaire: Questionnaire, interviews: Sequence[Interview]) -> list[Standing]:
    """Where interviews about the same target stand, from one call of the strategy."""
    turns = questionnaire.turns(interviews[0].target)
    with np.errstate(over="ignore", invalid="ignore"):  # of absurd answers, which are found later
        seen = _stacked([interview.evidence() for interview in interviews])
        closed = np.concatenate([interview.closed() for interview in interviews])
        spent = np.concatenate([interview.spent() for interview in interviews])
        n_asked = np.array([len(interview.record.answers) for interview in interviews])
        scores = turns.scores(seen)
        scored = _Scored(turns.model, turns.target, turns.strategy, turns.stop, scores)
        chosen = scored.next(seen, closed, n_asked, spent=spent)
        open_ = turns.open(seen, closed, spent=spent)
        nats = scores if isinstance(turns.strategy, Information) else _nats(turns, seen)
        predictions = turns.model.predict_evidence(seen, turns.target)
    questions = turns.model.schema_.questions
    return [
        Standing(
            None if chosen[row] < 0 else questions[int(chosen[row])],
            {name: prediction[row] for name, prediction in predictions.items()},
            _ranked(questions, nats[row], open_[row]),
        )
        for row in range(len(interviews))
    ]


def _ranked(
    questions: Sequence[Question], nats: NDArray[np.float64], open_: NDArray[np.bool_]
) -> dict[str, float]:
    ranked = sorted(np.flatnonzero(open_), key=lambda place: -nats[place])
    return {questions[int(place)].name: float(nats[place]) for place in ranked}


@dataclass(frozen=True)
class _Scored(Turns):
    """Rules whose scores are known already, so that they are worked out once."""

    known: NDArray[np.float64]  # [rows, questions]

    def scores(self, seen: Evidence) -> NDArray[np.float64]:  # noqa: ARG002
        return self.known


def _nats(turns: Turns, seen: Evidence) -> NDArray[np.float64]:
    scores = Information().score(turns.model, seen, turns.target)
    return np.asarray(scores.cpu().numpy(), dtype=np.float64)


def _stacked(rows: Sequence[Evidence]) -> Evidence:
    if len(rows) == 1:
        return rows[0]
    return Evidence(
        np.concatenate([row.values for row in rows]), np.concatenate([row.observed for row in rows])
    )


def _blamed(error: Exception, interview: Interview) -> Exception:
    """The error, unless an answer far from all that was learned explains it: then words about that."""
    schema, coding = interview.model.schema_, interview.model.coding_
    given = {name: value for one in interview.record.answers for name, value in one.values.items()}
    numbers = np.full((1, len(schema.variables)), np.nan)
    for name, value in given.items():
        numbers[0, schema.position(name)] = schema[name].number(value)
    with np.errstate(over="ignore"):
        far = np.nan_to_num(np.abs(coding.encode(numbers).numbers()[0]), posinf=np.inf)
    name = schema.names[int(far.argmax())]
    if far.max() < FAR:
        return error
    return AnswerError(
        f"{name!r} is {given[name]}, so far from all the model has learned that it cannot compute with "
        "it. Check the value and its unit."
    )
