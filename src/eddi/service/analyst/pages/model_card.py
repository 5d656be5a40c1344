"""The template data of the model card: training data, variables, questions, and performance."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from eddi.model.fitted import FittedModel
from eddi.model.quality import TargetQuality
from eddi.service.analyst.models.model_viewer import LoadedModel
from eddi.service.analyst.pages import charts, evaluation_context
from eddi.service.analyst.pages.page_context import (
    KINDS,
    Context,
    count_rows,
    format_duration,
    format_time,
)
from eddi.service.errors import N_
from eddi.service.web.formatting import format_number, format_value
from eddi.service.web.languages.current import (
    current_language,
    format_integer,
    format_percent,
    gettext,
    localize,
    ngettext,
)
from eddi.service.web.languages.messages import translate_message
from eddi.table.question import Question, format_requires
from eddi.table.variable import Kind, Variable

N_LEVELS_LISTED = 6
SOURCES = {
    "validation rows": N_("validation rows"),
    "cross-validation": N_("cross-validation"),
    "test rows": N_("test rows"),
}
OBJECTIVES = {
    "observed": N_("likelihood of observed entries, as in the paper"),
    "direct": N_("likelihood of hidden entries, predicted directly from the encoder"),
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
        "qualities": [(quality.target, describe_quality(quality)) for quality in model.quality.values()],
        "warnings": tuple(map(translate_message, model.training.warnings)),
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
        "n_rows": ngettext(
            "one held-out row",
            "%(number)s held-out rows",
            evaluation["n_rows"],
            number=format_integer(evaluation["n_rows"]),
        ),
    }


def summarise(loaded: LoadedModel) -> list[tuple[str, str]]:
    """The properties of a model, by name."""
    model, origin = loaded.model, loaded.origin
    last = model.training.history[-1]
    scores = [progress.best for progress in model.training.history if progress.best is not None]
    validation = gettext("no validation rows")
    if scores:
        score = format_number(scores[-1], 3, current_language())
        validation = gettext("%(score)s per hidden entry", score=score)
    steps, time = format_integer(last.step), format_duration(last.seconds)
    return [
        (gettext("Target"), origin.target),
        (
            gettext("Trained"),
            format_time(origin.trained_at) if origin.trained_at else gettext("unknown"),
        ),
        (gettext("Table"), origin.table_name or gettext("not available")),
        (gettext("Training rows"), format_integer(model.training.n_rows)),
        (
            gettext("Held-out rows"),
            format_integer(len(origin.held_out)) if origin.held_out else gettext("none"),
        ),
        (gettext("Variables"), format_integer(len(model.schema.variables))),
        (gettext("Questions"), format_integer(_count_askable(model, origin.target))),
        (gettext("Set encoder"), model.set_encoder),
        (gettext("Latent size"), f"{model.recipe.latent}"),
        (gettext("Objective"), gettext(OBJECTIVES[model.recipe.objective])),
        (gettext("Training"), gettext("%(steps)s steps in %(time)s", steps=steps, time=time)),
        (gettext("Validation score"), validation),
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
        gettext(KINDS[variable.kind]),
        describe_values(variable),
        "" if question is None else _question_text(question),
        "" if question is None else f"{question.cost:g}",
        "" if question is None else describe_rules(question),
        is_target,
    )


def describe_values(variable: Variable) -> str:
    """The possible values of a variable as text."""
    if variable.survival is not None:
        time, event = variable.survival.time, variable.survival.event
        return gettext("time “%(time)s”, event “%(event)s”", time=time, event=event)
    if variable.kind.has_levels:
        shown = variable.levels[:N_LEVELS_LISTED]
        names = ", ".join(format_value(level, current_language()) for level in shown)
        more = variable.n_levels - N_LEVELS_LISTED
        return gettext("%(names)s and %(number)s more", names=names, number=more) if more > 0 else names
    return describe_range(variable)


def _question_text(question: Question) -> str:
    """The text of a question, with a note if it reveals other variables, too."""
    return (
        question.text
        if len(question.reveals) == 1
        else gettext("%(question)s (with others)", question=question.text)
    )


def describe_rules(question: Question) -> str:
    """When a question is asked, if there are rules for it."""
    rules = [gettext("always asked")] if question.always else []
    rules += [gettext("never asked")] if question.never else []
    conditions = format_requires(question.requires)
    rules += [gettext("only if %(condition)s", condition=condition) for condition in conditions]
    return "; ".join(rules)


def describe_range(variable: Variable) -> str:
    """The range and the unit of a quantity as text."""
    language = current_language()
    smallest = 0.0 if variable.kind is Kind.COUNT and variable.low is None else variable.low
    ends = (smallest, variable.high)
    low, high = (None if end is None else format_value(end, language) for end in ends)
    if low is not None and high is not None:
        numbers = gettext("%(low)s to %(high)s", low=low, high=high)
    elif low is not None:
        numbers = gettext("%(low)s or more", low=low)
    else:
        numbers = gettext("any") if high is None else gettext("%(high)s or less", high=high)
    return f"{numbers} {variable.in_language(language.code).unit}".strip()


def describe_quality(quality: TargetQuality) -> list[str]:
    """How well a target is predicted, in sentences."""
    lines = [
        gettext(
            "Measured on %(rows)s that the model was not trained on (%(source)s).",
            rows=count_rows(quality.n_rows),
            source=gettext(SOURCES.get(quality.source, quality.source)),
        )
    ]
    lines += _describe_levels(quality) if quality.class_shares else _describe_error(quality)
    if quality.n_enough is not None:
        lines.append(
            gettext(
                "With %(number)s of %(all)s questions, predictions come within 5%% of what all questions "
                "achieve.",
                number=quality.n_enough,
                all=quality.n_questions,
            )
        )
    return lines


def _describe_levels(quality: TargetQuality) -> Iterator[str]:
    yield gettext(
        "Accuracy %(accuracy)s; always guessing the most frequent class: %(trivial)s.",
        accuracy=format_percent(quality.metrics["accuracy"]),
        trivial=format_percent(quality.trivial["accuracy"]),
    )
    if "auroc" in quality.metrics:
        yield gettext(
            "AUROC %(auroc)s; guessing: %(trivial)s.",
            auroc=localize(f"{quality.metrics['auroc']:.2f}"),
            trivial=localize("0.50"),
        )
    shares = (f"{level} {format_percent(share)}" for level, share in quality.class_shares.items())
    yield gettext("Classes: %(shares)s.", shares=", ".join(shares))


def _describe_error(quality: TargetQuality) -> Iterator[str]:
    if "concordance" in quality.metrics:
        yield gettext(
            "Of two people, the one with the earlier event has the higher predicted risk in %(share)s of "
            "cases (concordance); guessing: 50%%.",
            share=format_percent(quality.metrics["concordance"]),
        )
        return
    errors = (localize(f"{metrics['rmse']:.4g}") for metrics in (quality.metrics, quality.trivial))
    error, trivial = (f"{number} {quality.unit}".strip() for number in errors)
    yield gettext(
        "Typical error (RMSE) %(error)s; always guessing the mean: %(trivial)s. R² %(r2)s.",
        error=error,
        trivial=trivial,
        r2=localize(f"{quality.metrics['r2']:.2f}"),
    )
