"""When a questionnaire learns by itself: on a schedule, after a number of interviews, or on drift.

The triggers of a questionnaire are the last event of the stream ``learning/<key>``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from scipy import stats

from eddi.errors import EddiError
from eddi.service.analyst.dashboard.answer_distributions import AnswerDistribution, compare_answers
from eddi.service.analyst.questionnaires.collected_answers import InterviewEntry, read_people, sample
from eddi.service.errors import N_
from eddi.service.interviews.questionnaire import Questionnaire
from eddi.store.base import FORGOTTEN, Store, StoreConflict

PREFIX = "learning/"
MAX_DAYS = 3650
MAX_INTERVIEWS = 10_000_000
MAX_ATTEMPTS = 8  # to change triggers that others change at the same time
MIN_ANSWERS = 50  # new interviews, and answers to a question, before drift is judged
MAX_PEOPLE = 500  # whose answers are compared with predictions
ERROR_RATE = 0.01  # of all comparisons together
UNSTABLE = 0.25  # usual limit of the population stability index


class TriggerError(EddiError, ValueError):
    """A trigger is not valid."""

    status = 422
    title = N_("This cannot be saved")


@dataclass(frozen=True)
class Triggers:
    """When a questionnaire learns by itself.

    Args:
        every_days: days after which a run starts if there are new interviews; 0 for no schedule.
        after_interviews: number of new interviews that starts a run; 0 to switch this trigger off.
        on_drift: whether to learn when answers differ from what the model expects.
        publish: whether to publish a candidate that is better.
        by: who set them, the name of an API key.
        at: when they were set, ISO 8601; empty if they never were.
    """

    every_days: int = 0
    after_interviews: int = 0
    on_drift: bool = False
    publish: bool = False
    by: str = ""
    at: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.every_days <= MAX_DAYS:
            raise TriggerError(f"the number of days must be between 0 and {MAX_DAYS:,}.")
        if not 0 <= self.after_interviews <= MAX_INTERVIEWS:
            raise TriggerError(f"the number of interviews must be between 0 and {MAX_INTERVIEWS:,}.")

    @property
    def is_active(self) -> bool:
        """Whether anything can start a run."""
        return bool(self.every_days or self.after_interviews or self.on_drift)

    def find(
        self,
        new: Sequence[InterviewEntry],
        *,
        now: datetime,
        last_run: str,
        has_drift: bool,
    ) -> str:
        """Return why a run is due: "interviews", "schedule" or "drift"; empty if none is.

        Args:
            new: interviews since the last run.
            now: the time.
            last_run: when the last run was submitted, ISO 8601; empty if there was none.
            has_drift: whether their answers differ from what the model expects.
        """
        since = max(last_run, self.at)
        if self.after_interviews and len(new) >= self.after_interviews:
            return "interviews"
        is_late = bool(since) and now - datetime.fromisoformat(since) >= timedelta(days=self.every_days)
        if self.every_days and new and is_late:
            return "schedule"
        return "drift" if self.on_drift and has_drift else ""


def read_triggers(store: Store, questionnaire: str) -> Triggers:
    """The triggers of the questionnaire with this key."""
    events = store.read(f"{PREFIX}{questionnaire}")
    if not events or events[-1].kind == FORGOTTEN:
        return Triggers()
    facts: dict[str, Any] = dict(events[-1].facts)
    return Triggers(**facts, at=events[-1].at)


def save_triggers(store: Store, questionnaire: str, triggers: Triggers) -> None:
    """Replace the triggers of a questionnaire."""
    stream = f"{PREFIX}{questionnaire}"
    facts = {
        "every_days": triggers.every_days,
        "after_interviews": triggers.after_interviews,
        "on_drift": triggers.on_drift,
        "publish": triggers.publish,
        "by": triggers.by,
    }
    for attempt in range(MAX_ATTEMPTS):
        try:
            store.append(stream, "learning-changed", facts, after=len(store.read(stream)))
            return
        except StoreConflict:
            if attempt == MAX_ATTEMPTS - 1:
                raise


def has_drifted(store: Store, current: Questionnaire, new: Sequence[InterviewEntry]) -> bool:
    """Whether answers differ from what the model of the current version expected of the same people."""
    own = [entry for entry in new if entry.model == current.model_sha256]
    if len(own) < MIN_ANSWERS:
        return False
    people = read_people(store, sample(own, MAX_PEOPLE))
    asked = dict.fromkeys(answer.question for person in people for answer in person.record.answers)
    compared = compare_answers(current.model, people, list(asked))
    found = [item for distributions in compared.values() for item in distributions]
    return any(differs(item, n_compared=len(found)) for item in found)


def differs(distribution: AnswerDistribution, *, n_compared: int) -> bool:
    """Whether answers differ from predictions by more than the usual limit, and not by chance.

    Without a difference, the index times the number of answers has about a chi-squared distribution.
    """
    n_people, index = distribution.n_people, distribution.stability
    if n_people < MIN_ANSWERS or index <= UNSTABLE:
        return False
    p_value = stats.chi2.sf(n_people * index, len(distribution.observed) - 1)
    return bool(p_value < ERROR_RATE / n_compared)
