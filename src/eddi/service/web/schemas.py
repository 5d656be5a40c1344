"""What the HTTP API takes and gives, as OpenAPI tells it. The same shapes as `eddi ask`."""

from typing import Annotated, Any, NotRequired, cast

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from typing_extensions import TypedDict  # pydantic wants this one before Python 3.12

from eddi.interview.documents import prediction_document, question_document
from eddi.service.interviews.interview_service import Sitting
from eddi.service.interviews.questionnaire import Questionnaire
from eddi.table.variable import Level

MAX_NAME = 500  # characters of a question's or variable's name
MAX_TARGETS = 100

Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME)]
Target = Name | Annotated[list[Name], Field(min_length=1, max_length=MAX_TARGETS)] | None
TARGET = Field(
    default=None,
    description="What to find out: a variable, or several; the questionnaire's own if left out.",
    examples=["risk"],
)


class _In(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class StartIn(_In):
    """How to begin an interview."""

    target: Target = TARGET
    questionnaire: Name | None = Field(
        default=None, description="By name; the first of the server if left out.", examples=["people"]
    )


class AnswerIn(_In):
    """An answer to one question, asked or volunteered."""

    question: Name = Field(description="The question, or one variable, by name.", examples=["age"])
    values: JsonValue = Field(
        description=(
            "A value; null where nobody knows; an object {'without': 'declined'}; a list of these in "
            "the order the question reveals variables; or an object of them by variable."
        ),
        examples=[61, None, {"without": "declined"}, [3.1, None], {"ldl": 3.1}],
    )


class AskIn(_In):
    """Answers so far, kept by whoever asks."""

    answers: dict[str, JsonValue] | list[JsonValue] = Field(
        default_factory=dict,
        description="Answers by question or variable, or the answers of an interview's record.",
        examples=[{"age": 61, "smoker": None, "weight": {"without": "declined"}}],
    )
    target: Target = TARGET
    key: str | None = Field(default=None, max_length=MAX_NAME, description="Of a record; not looked at.")


class VariableOut(TypedDict):
    """One thing that an answer tells, and what it may be."""

    name: str
    kind: str
    levels: NotRequired[list[Level]]
    low: NotRequired[float]
    high: NotRequired[float]
    unit: NotRequired[str]


class QuestionOut(TypedDict):
    """What to ask next."""

    name: str
    text: str
    cost: float
    reveals: list[VariableOut]
    reward: float


class QuantityOut(TypedDict):
    """A belief about a quantity: what is expected, how unsure that is, and the central 90%."""

    mean: float
    sd: float
    interval: list[float]


class LevelsOut(TypedDict):
    """A belief about levels: the likeliest, and how likely each is."""

    value: Level
    probabilities: dict[str, float]


class Turn(TypedDict):
    """What comes next: a question (null when it is enough), the belief, and what questions are worth."""

    question: QuestionOut | None
    prediction: dict[str, QuantityOut | LevelsOut]
    rewards: dict[str, float]


class Opened(Turn):
    """An interview that has begun. Its id is the only way back to it: keep it secret."""

    id: str


class AnswerOut(TypedDict):
    """What was said to one question, by variable, or why there is no value."""

    question: str
    values: dict[str, Level]
    without: dict[str, str]


class InterviewOut(Opened):
    """An interview as it stands."""

    target: list[str]
    answers: list[AnswerOut]


class QuestionnaireOut(TypedDict):
    """What can be answered here."""

    name: str
    version: int
    model: str
    target: list[str]
    questions: int


def turn(sitting: Sitting) -> Turn:
    """What comes next in an interview."""
    asked, variables = sitting.question, sitting.interview.model.schema.variables
    question: dict[str, Any] | None = None
    if asked is not None:
        question = {**question_document(asked, variables), "reward": sitting.rewards[asked.name]}
    return {
        "question": cast("QuestionOut | None", question),
        "prediction": {
            name: cast("QuantityOut | LevelsOut", prediction_document(belief))
            for name, belief in sitting.predictions.items()
        },
        "rewards": dict(sitting.rewards),
    }


def opened(sitting: Sitting) -> Opened:
    """An interview that has begun."""
    return {"id": sitting.key, **turn(sitting)}


def interview(sitting: Sitting) -> InterviewOut:
    """An interview as it stands."""
    record = sitting.interview.record
    answers = [cast(AnswerOut, answer.to_document()) for answer in record.answers]
    return {**opened(sitting), "target": list(record.target), "answers": answers}


def questionnaire(one: Questionnaire) -> QuestionnaireOut:
    """What can be answered."""
    return {
        "name": one.name,
        "version": one.version,
        "model": one.seal,
        "target": list(one.target),
        "questions": sum(not set(q.reveals) & set(one.target) for q in one.model.schema.questions),
    }
