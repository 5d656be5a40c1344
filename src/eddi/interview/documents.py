"""Interviews as plain JSON: answers in; next question, predictions and rewards out."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from eddi.errors import AnswerError
from eddi.interview.interview import Interview
from eddi.interview.record import NoAnswer, Record
from eddi.model.base import ModelSource
from eddi.model.prediction import Prediction
from eddi.strategy.base import Strategy
from eddi.strategy.names import name_strategy
from eddi.strategy.stopping import StoppingRule
from eddi.table.question import Question
from eddi.table.schema import Schema
from eddi.table.survival.survival import Survival
from eddi.table.variable import Variable

SHAPE = (
    'Expected {"answers": {"age": 61, "blood panel": {"ldl": 3.1}, "smoker": null}}, '
    "or the record of an interview."
)

DOCUMENT_KEYS = {"key", "target", "answers", "confirm", "withheld"}


def resume(
    model: ModelSource,
    document: Any,
    target: str | Sequence[str] | None = None,
    *,
    strategy: Strategy | None = None,
    stop: StoppingRule | None = None,
) -> Interview:
    """The interview with the answers of a document.

    Args:
        model: a fitted `PartialVAE`, or its fitted model.
        document: ``{"answers": {question or variable: answer}}``. An answer is a value; null if it is
            not known; ``{"without": "declined"}``; or, for a question that reveals several variables, an
            object of these by variable or, if it is a multi-select question, the list of the selected
            options. ``"confirm": true`` says that values outside their range are
            correct. The output of `Record.to_document` works, too.
        target: what to predict; the document's target, then the model's, if None.
        strategy: how questions are chosen; see `Interview`.
        stop: when the interview ends; see `Interview`.

    Raises:
        AnswerError: the document does not have this shape, or an answer is not valid.
    """
    if not isinstance(document, Mapping) or not set(document) <= DOCUMENT_KEYS:
        raise AnswerError(
            f"the document must be an object of answers, got {_shorten(document)}. {SHAPE}"
        )
    answers = document.get("answers", {})
    if isinstance(answers, list):
        record = Record.from_document(document)
        return Interview(model, target, strategy=strategy, stop=stop, record=record)
    if not isinstance(answers, Mapping):
        raise AnswerError(f"the answers must be an object, got {_shorten(answers)}. {SHAPE}")
    requested = document.get("target") if target is None else target
    interview = Interview(model, requested, strategy=strategy, stop=stop)
    # Without a key, the same document must give the same question, so nothing is asked at random.
    interview.record = replace(interview.record, key=str(document.get("key", "")))
    for name, answer in answers.items():
        interview.tell(name, parse_answer(answer), confirm=document.get("confirm") is True)
    return interview


def describe(interview: Interview) -> dict[str, Any]:
    """The next question, predictions, rewards and strategy of an interview."""
    step, schema = interview.next_step(), interview.model.schema
    question = step.question
    return {
        "question": None if question is None else question_document(question, schema),
        "prediction": {name: prediction_document(p) for name, p in step.predictions.items()},
        "rewards": dict(step.rewards),
        "strategy": name_strategy(interview.rules.strategy),
    }


def parse_answer(answer: Any) -> Any:
    """The argument of `Interview.tell` for an answer in JSON."""
    if answer is None:
        return NoAnswer.UNKNOWN
    if isinstance(answer, list):
        return [parse_answer(item) for item in answer]
    if not isinstance(answer, Mapping):
        return answer
    if set(answer) != {"without"}:
        return {name: parse_answer(value) for name, value in answer.items()}
    if answer["without"] not in tuple(NoAnswer):
        raise AnswerError(f'"without" must be "unknown" or "declined", got {answer["without"]!r}.')
    return NoAnswer(answer["without"])


def question_document(question: Question, schema: Schema) -> dict[str, Any]:
    """A question with the variables it reveals, as plain JSON; a multi-select question has options."""
    options = schema.options(question)
    return {
        "name": question.name,
        "text": question.text,
        "cost": question.cost,
        **({"help": question.help} if question.help else {}),
        "reveals": [variable_document(schema[name]) for name in question.reveals],
        **({"options": list(options.values())} if options else {}),
    }


def variable_document(variable: Variable) -> dict[str, Any]:
    """What a respondent needs to know about a variable, as plain JSON."""
    facts = {
        "levels": list(variable.levels) or None,
        "low": variable.low,
        "high": variable.high,
        "unit": variable.unit or None,
        "title": variable.title or None,
        "labels": list(variable.labels) or None,
        "help": variable.help or None,
    }
    given = {key: value for key, value in facts.items() if value is not None}
    return {"name": variable.name, "kind": str(variable.kind), **given}


def prediction_document(prediction: Prediction) -> dict[str, Any]:
    """The prediction of one variable for one row, as plain JSON."""
    if prediction.variable.survival is not None:
        return _survival_document(prediction, prediction.variable.survival)
    if prediction.probabilities is None:
        return {
            "mean": float(prediction.mean),
            "sd": float(prediction.sd),
            "interval": [float(end) for end in prediction.interval],
        }
    levels, probabilities = prediction.variable.levels, prediction.probabilities
    by_level = {str(level): float(p) for level, p in zip(levels, probabilities, strict=True)}
    return {"value": levels[int(probabilities.argmax())], "probabilities": by_level}


def _survival_document(prediction: Prediction, survival: Survival) -> dict[str, Any]:
    """Mean time up to the last edge, median (null if not reached), risks at horizons, and the curve."""
    curve, median = prediction.curve, float(prediction.median)
    ends = curve.band or ()
    band = dict(zip(("low", "high"), (end.tolist() for end in ends), strict=False))
    return {
        "mean": float(prediction.mean),
        "sd": float(prediction.sd),
        "interval": [float(end) for end in prediction.interval],
        "median": median if math.isfinite(median) else None,
        "risk": {f"{horizon:g}": float(curve.risk(horizon)) for horizon in survival.shown_horizons},
        "curve": {"time": curve.times.tolist(), "survival": curve.survival.tolist(), **band},
    }


def _shorten(document: Any) -> str:
    text = repr(document)
    return text if len(text) <= 60 else f"{text[:57]}..."
