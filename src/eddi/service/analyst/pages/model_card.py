"""The template data of the model card: training data, variables, questions, and performance."""

from dataclasses import dataclass
from typing import Any

from eddi.model.fitted import FittedModel
from eddi.service.analyst.models.model_viewer import LoadedModel
from eddi.service.analyst.pages import charts, evaluation_context
from eddi.service.analyst.pages.page_context import (
    Context,
    format_count,
    format_duration,
    format_time,
)
from eddi.service.web.formatting import format_number, format_value
from eddi.service.web.wording import describe_expected_number
from eddi.table.question import Question, format_requires
from eddi.table.variable import Variable

N_LEVELS_LISTED = 6
OBJECTIVES = {
    "observed": "likelihood of observed entries, as in the paper",
    "direct": "likelihood of hidden entries, predicted directly from the encoder",
}


@dataclass(frozen=True)
class VariableItem:
    """A variable in the list of a model card."""

    name: str
    kind: str
    values: str
    question: str
    cost: str
    rules: str
    is_target: bool


def build_context(loaded: LoadedModel, evaluation: dict[str, Any] | None) -> Context:
    """All template data of a model card."""
    model = loaded.model
    variables = [_variable_item(model, item, loaded.origin.target) for item in model.schema.variables]
    context: Context = {
        "facts": summarise(loaded),
        "qualities": [(quality.target, quality.describe()) for quality in model.quality.values()],
        "warnings": model.training.warnings,
        "training": charts.training_chart(model.training.history),
        "variables": variables,
        "costs_differ": len({item.cost for item in variables if item.cost}) > 1,
        "set_aside": model.schema.set_aside,
        "is_evaluated": evaluation is not None,
        "summary": [],
        "curve": None,
        "n_rows": "",
    }
    if evaluation is None:
        return context
    return context | {
        "summary": evaluation_context.summarise(evaluation),
        "curve": evaluation_context.information_chart(evaluation, evaluation["metrics"][0]),
        "n_rows": format_count(evaluation["n_rows"], "held-out row"),
    }


def summarise(loaded: LoadedModel) -> list[tuple[str, str]]:
    """The properties of a model, by name."""
    model, origin = loaded.model, loaded.origin
    last = model.training.history[-1]
    scores = [progress.best for progress in model.training.history if progress.best is not None]
    validation = f"{format_number(scores[-1], 3)} per hidden entry" if scores else "no validation rows"
    return [
        ("Target", origin.target),
        ("Trained", format_time(origin.trained_at) if origin.trained_at else "unknown"),
        ("Table", origin.table_name or "not available"),
        ("Training rows", f"{model.training.n_rows:,}"),
        ("Held-out rows", f"{len(origin.held_out):,}" if origin.held_out else "none"),
        ("Variables", f"{len(model.schema.variables):,}"),
        ("Questions", f"{_count_askable(model, origin.target):,}"),
        ("Set encoder", model.set_encoder),
        ("Latent size", f"{model.recipe.latent}"),
        ("Objective", OBJECTIVES[model.recipe.objective]),
        ("Training", f"{last.step:,} steps in {format_duration(last.seconds)}"),
        ("Validation score", validation),
    ]


def _count_askable(model: FittedModel, target: str) -> int:
    questions = model.schema.questions
    return sum(target not in question.reveals and not question.never for question in questions)


def _variable_item(model: FittedModel, variable: Variable, target: str) -> VariableItem:
    questions = [q for q in model.schema.questions if variable.name in q.reveals]
    is_target = variable.name == target
    question = questions[0] if questions and not is_target else None
    return VariableItem(
        variable.name,
        str(variable.kind),
        describe_values(variable),
        "" if question is None else _question_text(question),
        "" if question is None else f"{question.cost:g}",
        "" if question is None else describe_rules(question),
        is_target,
    )


def describe_values(variable: Variable) -> str:
    """The possible values of a variable as text."""
    if variable.kind.has_levels:
        levels = ", ".join(format_value(level) for level in variable.levels[:N_LEVELS_LISTED])
        more = variable.n_levels - N_LEVELS_LISTED
        return levels + (f" and {more} more" if more > 0 else "")
    text = describe_expected_number(variable)
    return text.removeprefix("a whole number").removeprefix("a number").strip(" ,") or "any"


def _question_text(question: Question) -> str:
    """The text of a question, with a note if it reveals other variables, too."""
    return question.text if len(question.reveals) == 1 else f"{question.text} (with others)"


def describe_rules(question: Question) -> str:
    """When a question is asked, if there are rules for it."""
    rules = ["always asked"] if question.always else ["never asked"] if question.never else []
    rules += [f"only if {condition}" for condition in format_requires(question.requires)]
    return "; ".join(rules)
