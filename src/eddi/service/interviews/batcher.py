"""The batcher: computes the next steps of all waiting requests at once, on one thread.

A single request is served immediately. If there was more than one a moment ago, the thread waits briefly
for others. A row's result does not depend on its batch. Recent results are cached: all interviews begin
alike, and a page is often loaded again.

The next steps after changes are computed on the thread of the changes (`change_processor`), with the same
cache. Other uses of the model run on the threads of their requests:
the next step of a respondent who put questions off, explanations, the pages' analytics
(`interview_analytics`), drift and the workshop. The workshop's jobs run in processes of their own.
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
from typing import Any

from numpy.typing import NDArray

from eddi.interview.interview import Interview, answers_to_evidence
from eddi.interview.next_step import InterviewStates, NextStep, NextSteps
from eddi.interview.rules import InterviewRules
from eddi.service.errors import N_, RespondentError

TIMEOUT_S = 60.0  # a request that waited this long is given up
MAX_CACHED = 1_024  # next steps; each takes a few kilobytes


class BusyError(RespondentError, RuntimeError):
    """Too many requests are waiting for the model."""

    status = 503
    title = N_("We are very busy just now")
    explanation = N_("Wait a moment, then try again. Your answers so far are safe.")


@dataclass(frozen=True)
class _Request:
    """An interview that waits for its next step."""

    interview: Interview
    state: InterviewStates  # of one row
    result: "Future[NextStep]" = field(default_factory=Future, compare=False)

    @classmethod
    def from_interview(cls, interview: Interview) -> "_Request":
        return cls(interview, interview.state())

    @classmethod
    def from_interviews(cls, interviews: Sequence[Interview]) -> list["_Request"]:
        """Return a request for each interview. The answers to the same model are encoded at once."""
        by_model: dict[int, list[int]] = {}
        for place, interview in enumerate(interviews):
            by_model.setdefault(id(interview.model), []).append(place)
        found: dict[int, _Request] = {}
        for places in by_model.values():
            answers = [interviews[place].record.answers for place in places]
            evidence = answers_to_evidence(interviews[places[0]].model, answers)
            for row, place in enumerate(places):
                state = interviews[place].state(evidence=evidence[row : row + 1])
                found[place] = cls(interviews[place], state)
        return [found[place] for place in range(len(interviews))]

    @property
    def rules(self) -> InterviewRules:
        return self.interview.rules

    @cached_property
    def cache_key(self) -> bytes:
        """A hash of everything that the next step depends on, besides the rules."""
        state = self.state
        model = id(self.interview.model)
        numbers = (model, self.interview.target, int(state.n_asked[0]), float(state.spent[0]))
        arrays: tuple[NDArray[Any], ...] = (state.evidence.values, state.evidence.observed, state.closed)
        if self.rules.exploration is not None and state.uniform is not None:
            arrays = (*arrays, state.uniform)
        if state.withheld is not None:
            arrays = (*arrays, state.withheld)
        content = repr(numbers).encode() + b"".join(array.tobytes() for array in arrays)
        return hashlib.blake2b(content, digest_size=16).digest()


class Batcher:
    """The queue of waiting requests, and the thread that serves them.

    Args:
        max_batch_size: maximum number of interviews per batch; 0 computes each on the thread of its request.
        window_s: how long to wait for more requests if the last batch had several.
        max_waiting: maximum length of the queue.
        on_batch: called with the size of each batch.
    """

    def __init__(
        self,
        *,
        max_batch_size: int = 32,
        window_s: float = 0.002,
        max_waiting: int = 256,
        on_batch: Callable[[int], None] | None = None,
    ) -> None:
        self.max_batch_size, self.window_s = max_batch_size, window_s
        self._on_batch = on_batch or (lambda _: None)
        self._queue: queue.Queue[_Request | None] = queue.Queue(max_waiting)
        self._cache = _NextStepCache(MAX_CACHED)
        self._thread = threading.Thread(target=self._work, name="eddi-model", daemon=True)
        self._thread.start()

    def next_step(self, interview: Interview) -> NextStep:
        """The next step of ``interview``; waits for it.

        Raises:
            BusyError: the queue is full, or the model did not answer in time.
        """
        request = _Request.from_interview(interview)
        step = self._cache.get(request)
        if step is None:
            step = self._compute(request)
            self._cache.put(request, step)
        return step

    def next_steps(self, interviews: Sequence[Interview]) -> list[NextStep | Exception]:
        """The next steps of several interviews, or why there is none, computed on the calling thread."""
        requests = _Request.from_interviews(interviews)
        steps: list[NextStep | Exception | None] = [self._cache.get(request) for request in requests]
        missing = [request for request, step in zip(requests, steps, strict=True) if step is None]
        for group in _group_by_rules(missing):
            self._on_batch(len(group))
            _serve(group)
        for request in missing:
            if request.result.exception() is None:
                self._cache.put(request, request.result.result())
        return [
            step or request.result.exception() or request.result.result()  # type: ignore[misc]
            for request, step in zip(requests, steps, strict=True)
        ]

    def cached_step(self, interview: Interview) -> NextStep | None:
        """The next step of ``interview`` if it was computed recently."""
        return self._cache.get(_Request.from_interview(interview))

    def _compute(self, request: _Request) -> NextStep:
        if self.max_batch_size == 0:
            _serve([request])
            return request.result.result()
        if not self._thread.is_alive():
            raise BusyError("the server is shutting down. Try again in a moment.")
        try:
            self._queue.put_nowait(request)
            return request.result.result(TIMEOUT_S)
        except (queue.Full, TimeoutError):
            raise BusyError("the server is busy. Try again in a moment.") from None

    def check(self) -> None:
        """Raise `BusyError` if no request would be served."""
        if not self._thread.is_alive() or self._queue.full():
            raise BusyError("the model is not responding. Try again in a moment.")

    def close(self) -> None:
        """Serve all waiting requests, then stop."""
        self._queue.put(None)
        self._thread.join(TIMEOUT_S)

    def _work(self) -> None:
        is_last = had_several = False
        while not is_last:
            batch, is_last = self._collect(self.window_s if had_several else 0)
            had_several = len(batch) > 1
            for group in _group_by_rules(batch):
                self._on_batch(len(group))
                _serve(group)

    def _collect(self, window_s: float) -> tuple[list[_Request], bool]:
        """The requests that arrive within the window, and whether the server is closing."""
        request = self._queue.get()
        batch: list[_Request] = []
        deadline = time.monotonic() + window_s
        while request is not None:
            batch.append(request)
            if len(batch) == self.max_batch_size:
                return batch, False
            try:
                left = deadline - time.monotonic()
                request = self._queue.get(timeout=left) if left > 0 else self._queue.get_nowait()
            except queue.Empty:
                return batch, False
        return batch, True


class _NextStepCache:
    """The most recently used next steps."""

    def __init__(self, max_entries: int) -> None:
        self._max_entries = max_entries
        self._entries: OrderedDict[bytes, tuple[InterviewRules, NextStep]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, request: _Request) -> NextStep | None:
        """The cached next step of a request."""
        with self._lock:
            rules, step = self._entries.get(request.cache_key, (None, None))
            if rules != request.rules:
                return None
            self._entries.move_to_end(request.cache_key)
            return step

    def put(self, request: _Request, step: NextStep) -> None:
        """Cache the next step of a request."""
        with self._lock:
            self._entries[request.cache_key] = (request.rules, step)
            while len(self._entries) > self._max_entries:
                self._entries.popitem(last=False)


def _group_by_rules(batch: Sequence[_Request]) -> list[list[_Request]]:
    """Requests with the same model, target and rules, which are computed in one call."""
    groups: list[list[_Request]] = []
    for request in batch:
        group = next((group for group in groups if group[0].rules == request.rules), None)
        groups.append([request]) if group is None else group.append(request)
    return groups


def _serve(group: Sequence[_Request]) -> None:
    """Set the result of each request; if a batch fails, each request is tried on its own."""
    try:
        steps = compute_next_steps(group)
    except Exception as error:  # the waiting request must receive any error
        if len(group) == 1:
            group[0].result.set_exception(error)
        else:
            for request in group:
                _serve([request])
        return
    for request, step in zip(group, steps, strict=True):
        if step.is_finite():
            request.result.set_result(step)
        else:
            request.result.set_exception(FloatingPointError("a prediction or reward is not finite"))


def compute_next_steps(requests: Sequence[_Request]) -> list[NextStep]:
    """The next steps of requests with the same rules, from one call of the strategy."""
    states = InterviewStates.concatenate([request.state for request in requests])
    steps = NextSteps(requests[0].rules, states)
    return [steps[row] for row in range(len(requests))]
