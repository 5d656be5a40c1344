"""The state of an interview as the API and the pages show it."""

from collections.abc import Mapping
from dataclasses import dataclass

from eddi.interview.interview import Interview
from eddi.interview.next_step import NextStep
from eddi.model.prediction import Prediction
from eddi.service.interviews.questionnaire import Questionnaire
from eddi.table.question import Question


@dataclass(frozen=True)
class InterviewView:
    """An interview with its next step.

    Args:
        key: the secret key that resumes the interview; "" if it is not stored.
        version: number of its events, which grows with every change.
        questionnaire: the version that it started with.
        interview: its answers and rules.
        step: its next question, predictions and rewards.
    """

    key: str
    version: int
    questionnaire: Questionnaire
    interview: Interview
    step: NextStep

    @property
    def question(self) -> Question | None:
        """The next question; None if the interview is over."""
        return self.step.question

    @property
    def predictions(self) -> Mapping[str, Prediction]:
        """The prediction of each target."""
        return self.step.predictions

    @property
    def rewards(self) -> Mapping[str, float]:
        """Expected information of each open question in nats, highest first."""
        return self.step.rewards

    @property
    def prediction(self) -> Prediction:
        """The prediction of the first target."""
        return self.predictions[self.interview.target[0]]
