"""Gathers people who wait for their next question, and works out all of them at once.

One thread has the model. A person alone is served at once; where there is company, the thread waits a
moment for more of it. What a row gets does not depend on its company: rewards are the same in any
batch. What was worked out lately is remembered: all begin alike, and a page is often loaded again.
"""

import hashlib
import queue
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from eddi.errors import AnswerError, EddiError
from eddi.interview.interview import Interview
from eddi.interview.rules import InterviewRules
from eddi.model.prediction import Prediction
from eddi.strategy.information import Information
from eddi.table.evidence import Evidence
from eddi.table.question import Question

FAR = 10.0  # standard deviations from the mean, beyond which an answer may break the arithmetic
PATIENCE_S = 60.0  # a person who waited this long has gone
N_REMEMBERED = 1_024  # standings; each takes a few kilobytes


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
class Row:
    """An interview as its rules see it: what is known, what was asked, and what that cost."""

    interview: Interview
    seen: Evidence  # of one row
    closed: NDArray[np.bool_]  # [1, questions]
    spent: NDArray[np.float64]  # [1]

    @classmethod
    def of(cls, interview: Interview) -> "Row":
        with np.errstate(over="ignore", invalid="ignore"):  # of absurd answers, which are found later
            return cls(interview, interview.evidence(), interview.closed(), interview.spent())

    @property
    def n_asked(self) -> int:
        return len(self.interview.record.answers)

    @cached_property
    def mark(self) -> bytes:
        """Follows from all that the standing follows from, and tells nothing of it."""
        rules = (id(self.interview.model), self.interview.target, self.n_asked, float(self.spent[0]))
        parts = (self.seen.values, self.seen.observed, self.closed)
        said = repr(rules).encode() + b"".join(part.tobytes() for part in parts)
        return hashlib.blake2b(said, digest_size=16).digest()


@dataclass(frozen=True)
class _Waiting:
    row: Row
    standing: "Future[Standing]" = field(default_factory=Future)

    @property
    def rules(self) -> InterviewRules:
        return self.row.interview.turns


class Batcher:
    """The one thread that has the model, and the queue before it.

    Args:
        most: interviews worked out at once; 0 has everybody work out their own, without a queue.
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
        self._remembered = Remembered(N_REMEMBERED)
        self._thread = threading.Thread(target=self._work, name="eddi-model", daemon=True)
        self._thread.start()

    def standing(self, interview: Interview) -> Standing:
        """Where ``interview`` stands; waits for it.

        Raises:
            BusyError: the queue is full, or the model did not answer in time.
            AnswerError: the answers are too far out to be computed with.
        """
        row = Row.of(interview)
        found = self._remembered.get(row)
        if found is None:
            found = self._worked_out(row)
            self._remembered.put(row, found)
        return found

    def recall(self, interview: Interview) -> Standing | None:
        """Where ``interview`` stands, if that was worked out lately."""
        return self._remembered.get(Row.of(interview))

    def _worked_out(self, row: Row) -> Standing:
        one = _Waiting(row)
        if self.most == 0:
            _serve([one])
            return one.standing.result()
        if not self._thread.is_alive():
            raise BusyError("the server is closing. Try again in a moment.")
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
        last = had_company = False
        while not last:
            batch, last = self._gathered(self.window_s if had_company else 0)
            had_company = len(batch) > 1
            for group in _companies(batch):
                self._on_batch(len(group))
                _serve(group)

    def _gathered(self, window_s: float) -> tuple[list[_Waiting], bool]:
        """The first who comes, those who come within the window, and whether the server closes."""
        one = self._queue.get()
        batch: list[_Waiting] = []
        until = time.monotonic() + window_s
        while one is not None:
            batch.append(one)
            if len(batch) == self.most:
                return batch, False
            try:
                left = until - time.monotonic()
                one = self._queue.get(timeout=left) if left > 0 else self._queue.get_nowait()
            except queue.Empty:
                return batch, False
        return batch, True


class Remembered:
    """Standings that were worked out lately, the latest so many of them."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._standings: OrderedDict[bytes, tuple[InterviewRules, Standing]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._standings)

    def get(self, row: Row) -> Standing | None:
        """Where a row stands, if that is remembered."""
        with self._lock:
            turns, standing = self._standings.get(row.mark, (None, None))
            if turns != row.interview.turns:
                return None
            self._standings.move_to_end(row.mark)
            return standing

    def put(self, row: Row, standing: Standing) -> None:
        """Remember where a row stands."""
        with self._lock:
            self._standings[row.mark] = (row.interview.turns, standing)
            while len(self._standings) > self._most:
                self._standings.popitem(last=False)


def _companies(batch: Sequence[_Waiting]) -> list[list[_Waiting]]:
    """Those whose model, target and rules are the same, and who can be worked out in one call."""
    groups: list[list[_Waiting]] = []
    for one in batch:
        mine = next(
            (each for each in groups if each[0].row.interview.turns == one.row.interview.turns), None
        )
        groups.append([one]) if mine is None else mine.append(one)
    return groups


def _serve(group: Sequence[_Waiting]) -> None:
    """Give each its standing; where one of many fails, all are tried alone, and only it fails."""
    try:
        found = standings([one.row for one in group])
    except Exception as error:  # whoever waits must hear of it, whatever it is
        if len(group) == 1:
            group[0].standing.set_exception(_blamed(error, group[0].row))
        else:
            for one in group:
                _serve([one])
        return
    for one, standing in zip(group, found, strict=True):
        if standing.is_finite():
            one.standing.set_result(standing)
        else:
            one.standing.set_exception(_blamed(FloatingPointError("not finite"), one.row))


def standings(rows: Sequence[Row]) -> list[Standing]:
    """Where interviews by the same rules stand, from one call of the strategy."""
    turns = rows[0].interview.turns
    seen = _stacked([row.seen for row in rows])
    closed = np.concatenate([row.closed for row in rows])
    spent = np.concatenate([row.spent for row in rows])
    n_asked = np.array([row.n_asked for row in rows])
    with np.errstate(over="ignore", invalid="ignore"):
        scores = turns.scores(seen)
        scored = _Scored(turns.model, turns.target, turns.strategy, turns.stop, scores)
        chosen = scored.next(seen, closed, n_asked, spent=spent)
        open_ = scored.open(seen, closed, spent=spent)
        nats = scores if isinstance(turns.strategy, Information) else _nats(turns, seen)
        predictions = turns.model.predict_evidence(seen, turns.target)
    questions = turns.model.schema_.questions
    return [
        Standing(
            None if chosen[row] < 0 else questions[int(chosen[row])],
            {name: prediction[row] for name, prediction in predictions.items()},
            _ranked(questions, nats[row], open_[row]),
        )
        for row in range(len(rows))
    ]


def _ranked(
    questions: Sequence[Question], nats: NDArray[np.float64], open_: NDArray[np.bool_]
) -> dict[str, float]:
    ranked = sorted(np.flatnonzero(open_), key=lambda place: -nats[place])
    return {questions[int(place)].name: float(nats[place]) for place in ranked}


@dataclass(frozen=True)
class _Scored(InterviewRules):
    """Rules whose scores are known already, so that they are worked out once."""

    known: NDArray[np.float64]  # [rows, questions]

    def scores(self, seen: Evidence) -> NDArray[np.float64]:  # noqa: ARG002
        return self.known


def _nats(turns: InterviewRules, seen: Evidence) -> NDArray[np.float64]:
    scores = Information().score(turns.model, seen, turns.target)
    return np.asarray(scores.cpu().numpy(), dtype=np.float64)


def _stacked(rows: Sequence[Evidence]) -> Evidence:
    if len(rows) == 1:
        return rows[0]
    return Evidence(
        np.concatenate([row.values for row in rows]), np.concatenate([row.observed for row in rows])
    )


def _blamed(error: Exception, row: Row) -> Exception:
    """The error, unless an answer far from all that was learned explains it: then words about that."""
    record, names = row.interview.record, row.interview.model.schema_.names
    with np.errstate(over="ignore"):
        far = np.nan_to_num(np.abs(row.seen.numbers()[0]), posinf=np.inf)
    if far.max() < FAR:
        return error
    name = names[int(far.argmax())]
    given = {known: value for one in record.answers for known, value in one.values.items()}
    return AnswerError(
        f"{name!r} is {given[name]}, so far from all the model has learned that it cannot compute with "
        "it. Check the value and its unit."
    )
