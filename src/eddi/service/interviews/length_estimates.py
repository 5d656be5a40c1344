"""Estimates how many questions an interview has left."""

from collections.abc import Collection, Hashable
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from eddi.interview.interview import Interview
from eddi.service.interviews import interview_analytics
from eddi.service.interviews.questionnaire import Questionnaire, stop_to_document


@dataclass(frozen=True)
class QuestionsLeft:
    """The maximum number of questions that are left, and the expected number."""

    maximum: int
    estimate: int


class LengthEstimates:
    """Estimates from simulated interviews, which are computed once for each questionnaire."""

    def __init__(self) -> None:
        self._lengths: dict[Hashable, NDArray[np.int64]] = {}
        self._lock = Lock()

    def questions_left(
        self, questionnaire: Questionnaire, interview: Interview, deferred: Collection[str] = ()
    ) -> QuestionsLeft:
        """Return how many questions an interview has left, including the present one and deferred ones."""
        maximum = interview_analytics.max_questions_left(interview, deferred)
        if not interview_analytics.may_end_early(interview.rules):
            return QuestionsLeft(maximum, maximum)
        lengths = self._simulated_lengths(questionnaire, interview)
        n_answered = interview.record.n_answered
        estimate = interview_analytics.estimate_questions_left(lengths, n_answered, maximum)
        return QuestionsLeft(maximum, estimate)

    def _simulated_lengths(
        self, questionnaire: Questionnaire, interview: Interview
    ) -> NDArray[np.int64]:
        criteria = frozenset(stop_to_document(questionnaire.stop).items())
        cache_key = (questionnaire.model_sha256, interview.target, criteria)
        with self._lock:
            if cache_key not in self._lengths:
                self._lengths[cache_key] = interview_analytics.simulate_lengths(interview.rules)
            return self._lengths[cache_key]
