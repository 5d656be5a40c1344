"""Request and response schemas of the HTTP API, as described in OpenAPI. `eddi ask` uses the same format."""

from typing import Annotated, Any, NotRequired, cast

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from typing_extensions import TypedDict  # pydantic requires this one before Python 3.12

from eddi.interview.documents import prediction_document, question_document
from eddi.service.interviews.history import name_person
from eddi.service.interviews.interview_view import InterviewView
from eddi.service.interviews.questionnaire import Questionnaire
from eddi.table.variable import Level

MAX_NAME = 500  # characters of the name of a question or variable
MAX_TARGETS = 100

Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME)]
Target = Name | Annotated[list[Name], Field(min_length=1, max_length=MAX_TARGETS)] | None
TARGET = Field(
    default=None,
    description="The variable or variables to predict; by default those of the questionnaire.",
    examples=["risk"],
)

CONFIRM = Field(
    default=False,
    description="Whether values outside their range are correct. Without it, they are 422.",
)


class _StrictModel(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class StartIn(_StrictModel):
    """Parameters of a new interview."""

    target: Target = TARGET
    questionnaire: Name | None = Field(
        default=None,
        description="Name of the questionnaire; by default the first of the server.",
        examples=["people"],
    )
    invitation: Name | None = Field(
        default=None, description="The token of an invitation, if the questionnaire needs one."
    )


class AnswerIn(_StrictModel):
    """An answer to one question, whether it was asked or volunteered."""

    question: Name = Field(description="The name of the question or of one variable.", examples=["age"])
    values: JsonValue = Field(
        description=(
            "A value; null if it is not known; an object {'without': 'declined'}; a list of these in "
            "the order of the question's variables; an object of them by variable; or, for a "
            "multi-select question, the list of the selected options."
        ),
        examples=[61, None, {"without": "declined"}, [3.1, None], {"ldl": 3.1}, ["Excel", "R"]],
    )
    confirm: bool = CONFIRM


class AskIn(_StrictModel):
    """The answers so far, which the client keeps."""

    answers: dict[str, JsonValue] | list[JsonValue] = Field(
        default_factory=dict,
        description="Answers by question or variable, or the list of answers of an interview.",
        examples=[{"age": 61, "smoker": None, "weight": {"without": "declined"}}],
    )
    target: Target = TARGET
    confirm: bool = CONFIRM
    key: str | None = Field(default=None, max_length=MAX_NAME, description="Ignored.")


class VariableOut(TypedDict):
    """A variable that an answer reveals, and its possible values."""

    name: str
    kind: str
    levels: NotRequired[list[Level]]
    low: NotRequired[float]
    high: NotRequired[float]
    unit: NotRequired[str]
    title: NotRequired[str]
    labels: NotRequired[list[str]]
    help: NotRequired[str]


class QuestionOut(TypedDict):
    """The next question, with its expected information in nats.

    A multi-select question has options, and its answer is the list of those that are selected.
    """

    name: str
    text: str
    cost: float
    help: NotRequired[str]
    reveals: list[VariableOut]
    options: NotRequired[list[str]]
    reward: float


class QuantityOut(TypedDict):
    """The prediction of a quantity: mean, standard deviation and central 90% interval."""

    mean: float
    sd: float
    interval: list[float]


class SurvivalCurveOut(TypedDict):
    """The probability of no event up to each time, with the ends of a 90% band if it is known."""

    time: list[float]
    survival: list[float]
    low: NotRequired[list[float]]
    high: NotRequired[list[float]]


class SurvivalOut(QuantityOut):
    """The prediction of a time until an event.

    Mean, standard deviation and interval are those of the time up to the latest event of the training table.
    The median is null if it is not reached before. Risks are probabilities of the event, by horizon.
    """

    median: float | None
    risk: dict[str, float]
    curve: SurvivalCurveOut


class LevelsOut(TypedDict):
    """The prediction of a variable with levels: the most likely level, and all probabilities."""

    value: Level
    probabilities: dict[str, float]


class NextStepOut(TypedDict):
    """The next question (null if the interview is over), the predictions, and the rewards in nats.

    The strategy says how questions are chosen: "information", or "per-cost" if their costs differ.
    """

    question: QuestionOut | None
    prediction: dict[str, SurvivalOut | QuantityOut | LevelsOut]
    rewards: dict[str, float]
    strategy: str


class StartedOut(NextStepOut):
    """A new interview. Its id is the only way to resume it: keep it secret.

    The person is its name in exported answers, and in the routes of outcomes.
    """

    id: str
    person: str


class AnswerOut(TypedDict):
    """A given answer: values by variable, or why there is no value."""

    question: str
    values: dict[str, Level]
    without: dict[str, str]


class InterviewOut(StartedOut):
    """An interview in its present state."""

    target: list[str]
    answers: list[AnswerOut]


class QuestionnaireOut(TypedDict):
    """A published questionnaire."""

    name: str
    version: int
    model: str
    target: list[str]
    strategy: str
    questions: int
    owner: str  # name of the API key of who owns it; empty if nobody does


def describe_next_step(view: InterviewView) -> NextStepOut:
    """Return the next step of an interview."""
    question: dict[str, Any] | None = None
    if view.question is not None:
        question = question_document(view.question, view.interview.model.schema)
        question["reward"] = view.rewards[view.question.name]
    return {
        "question": cast("QuestionOut | None", question),
        "prediction": {
            name: cast("SurvivalOut | QuantityOut | LevelsOut", prediction_document(prediction))
            for name, prediction in view.predictions.items()
        },
        "rewards": dict(view.rewards),
        "strategy": view.questionnaire.strategy_name,
    }


def describe_start(view: InterviewView) -> StartedOut:
    """Return a new interview."""
    return {"id": view.key, "person": name_person(view.key), **describe_next_step(view)}


def describe_interview(view: InterviewView) -> InterviewOut:
    """Return an interview in its present state."""
    record = view.interview.record
    answers = [cast(AnswerOut, answer.to_document()) for answer in record.answers]
    return {**describe_start(view), "target": list(record.target), "answers": answers}


def describe_questionnaire(questionnaire: Questionnaire) -> QuestionnaireOut:
    """Return a questionnaire; questions that reveal the target are not counted."""
    target, questions = set(questionnaire.target), questionnaire.model.schema.questions
    return {
        "name": questionnaire.name,
        "version": questionnaire.version,
        "model": questionnaire.model_sha256,
        "target": list(questionnaire.target),
        "strategy": questionnaire.strategy_name,
        "questions": sum(target.isdisjoint(question.reveals) for question in questions),
        "owner": questionnaire.owner,
    }
