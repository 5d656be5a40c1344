"""One stateless step in plain JSON: what was told goes in, the next question and belief come out."""

from collections.abc import Mapping, Sequence
from typing import Any

from eddi.errors import AnswerError
from eddi.interview.interview import Interview
from eddi.interview.record import NoAnswer, Record
from eddi.model.partial_vae import PartialVAE
from eddi.model.prediction import Prediction
from eddi.strategy.base import Strategy
from eddi.strategy.stopping import StoppingRule
from eddi.table.question import Question
from eddi.table.variable import Variable

SHAPE = (
    'Expected {"answers": {"age": 61, "blood panel": {"ldl": 3.1}, "smoker": null}}, '
    "or the record of an interview."
)


def resume(
    model: PartialVAE,
    document: Any,
    target: str | Sequence[str] | None = None,
    *,
    strategy: Strategy | None = None,
    stop: StoppingRule | None = None,
) -> Interview:
    """The interview in which what ``document`` says was told.

    Args:
        model: what was learned.
        document: ``{"answers": {question or variable: said}}``, where ``said`` is a value; null where
            nobody knows; ``{"without": "declined"}``; or an object of these by variable, for a
            question that reveals several. What `Record.to_document` gives will do too.
        target: what one wants to know; the document's, then the model's own, where None.
        strategy: who chooses; EDDI where None.
        stop: when it is enough; never where None.

    Raises:
        AnswerError: the document is not of this shape, or an answer does not fit.
    """
    if not isinstance(document, Mapping) or not set(document) <= {"key", "target", "answers"}:
        raise AnswerError(f"the answers are not an object of answers: {_brief(document)}. {SHAPE}")
    told = document.get("answers", {})
    if isinstance(told, list):
        record = Record.from_document(document)
        return Interview(model, target, strategy=strategy, stop=stop, record=record)
    if not isinstance(told, Mapping):
        raise AnswerError(f"the answers are not an object of answers: {_brief(told)}. {SHAPE}")
    wanted = document.get("target") if target is None else target
    interview = Interview(model, wanted, strategy=strategy, stop=stop)
    for name, said in told.items():
        interview.tell(name, heard(said))
    return interview


def describe(interview: Interview) -> dict[str, Any]:
    """Where an interview stands: the next question, what is believed, what each question is worth."""
    question = interview.ask()
    schema = interview.model.schema_
    return {
        "question": None if question is None else question_document(question, schema.variables),
        "prediction": {name: prediction_document(interview.predict(name)) for name in interview.target},
        "rewards": interview.rewards(),
    }


def heard(said: Any) -> Any:
    """What `Interview.tell` takes, from what was said in JSON."""
    if said is None:
        return NoAnswer.UNKNOWN
    if not isinstance(said, Mapping):
        return said
    if set(said) != {"without"}:
        return {name: heard(one) for name, one in said.items()}
    if said["without"] not in tuple(NoAnswer):
        raise AnswerError(f'"without" must be "unknown" or "declined", got {said["without"]!r}.')
    return NoAnswer(said["without"])


def question_document(question: Question, variables: Sequence[Variable]) -> dict[str, Any]:
    """A question with the variables it reveals, as plain JSON."""
    revealed = {variable.name: variable for variable in variables}
    return {
        "name": question.name,
        "text": question.text,
        "cost": question.cost,
        "reveals": [variable_document(revealed[name]) for name in question.reveals],
    }


def variable_document(variable: Variable) -> dict[str, Any]:
    """What a person must know of a variable to answer, as plain JSON."""
    facts = {
        "levels": list(variable.levels) or None,
        "low": variable.low,
        "high": variable.high,
        "unit": variable.unit or None,
    }
    known = {key: value for key, value in facts.items() if value is not None}
    return {"name": variable.name, "kind": str(variable.kind), **known}


def prediction_document(belief: Prediction) -> dict[str, Any]:
    """What is believed of one variable, as plain JSON."""
    if belief.probabilities is None:
        return {
            "mean": float(belief.mean),
            "sd": float(belief.sd),
            "interval": [float(end) for end in belief.interval],
        }
    levels = belief.variable.levels
    chances = {str(level): float(p) for level, p in zip(levels, belief.probabilities, strict=True)}
    return {"value": levels[int(belief.probabilities.argmax())], "probabilities": chances}


def _brief(document: Any) -> str:
    text = repr(document)
    return text if len(text) <= 60 else f"{text[:57]}..."
