"""The outcome of an interview: the true values of its target, such as a lab result.

An outcome is an event of the interview's stream, so deleting the interview erases it. It may be corrected
or withdrawn: the last event counts. It is no answer: neither the record nor the next question depend on it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eddi.store.base import Event
from eddi.table.variable import Level

OUTCOME = "outcome"  # kind of the event


@dataclass(frozen=True)
class Outcome:
    """The true values of the target of an interview.

    Args:
        values: by target variable, in the units and levels of the table; a target may be missing.
        by: who recorded them: the name of an API key, or "command line".
        at: when they were recorded (ISO 8601, UTC).
    """

    values: Mapping[str, Level]
    by: str
    at: str


def read_outcome(events: Sequence[Event]) -> Outcome | None:
    """Return the outcome among the events of an interview; None if there is none, or it was withdrawn."""
    for event in reversed(events):
        if event.kind == OUTCOME and event.facts:
            values = dict(event.facts["values"])
            return Outcome(values, str(event.facts["by"]), event.at) if values else None
    return None


def without_outcomes(events: Sequence[Event]) -> list[Event]:
    """Return the events of the respondent."""
    return [event for event in events if event.kind != OUTCOME]
