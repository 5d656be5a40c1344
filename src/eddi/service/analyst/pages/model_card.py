"""What the card of a model says: what it is, what it learned from, how well it does."""

from dataclasses import dataclass
from typing import Any

from eddi.model.fitted import FittedModel
from eddi.service.analyst.model_viewer import Exhibit
from eddi.service.analyst.pages import charts, evaluation_context, page_context
from eddi.service.web import formatting, wording
from eddi.table.question import Question
from eddi.table.variable import Variable

N_LEVELS_NAMED = 6
RECIPES = {
    "observed": "the paper's: what is observed is scored",
    "direct": "hidden entries are scored, by beliefs that come straight from the encoder",
}


@dataclass(frozen=True)
class Line:
    """One variable as the card lists it."""

    name: str
    kind: str
    values: str
    question: str
    cost: str
    rules: str
    is_target: bool


def facts(exhibit: Exhibit, evaluation: dict[str, Any] | None) -> dict[str, Any]:
    """All that the card shows."""
    model = exhibit.model
    variables = [_line(model, variable, exhibit.made.target) for variable in model.schema.variables]
    return {
        "figures": figures(exhibit),
        "training": charts.training(model.training.history),
        "variables": variables,
        "costs_differ": len({line.cost for line in variables if line.cost}) > 1,
        "set_aside": model.schema.set_aside,
        "headline": [] if evaluation is None else evaluation_context.headline(evaluation),
        "evaluated": evaluation is not None,
        "curve": None if evaluation is None else _curve(evaluation),
        "judged": None
        if evaluation is None
        else page_context.count(evaluation["n_rows"], "held-out row"),
    }


def figures(exhibit: Exhibit) -> list[tuple[str, str]]:
    """The facts of a model by name, in words."""
    model, made = exhibit.model, exhibit.made
    last = model.training.history[-1]
    best = [progress.best for progress in model.training.history if progress.best is not None]
    validation = (
        f"{formatting.format_number(best[-1], 3)} an entry" if best else "no rows were kept for it"
    )
    return [
        ("Target", made.target),
        ("Made", page_context.moment(made.when) if made.when else "not known"),
        ("Table", made.table_name or "not kept"),
        ("Rows learned from", f"{model.training.n_rows:,}"),
        ("Rows held out", f"{len(made.held_out):,}" if made.held_out else "none"),
        ("Variables", f"{len(model.schema.variables):,}"),
        ("Questions", f"{_n_askable(model, made.target):,}"),
        ("Set encoder", model.set_encoder),
        ("Latent size", f"{model.recipe.latent}"),
        ("Objective", RECIPES[model.recipe.objective]),
        ("Training", f"{last.step:,} steps in {page_context.duration(last.seconds)}"),
        ("Validation", validation),
    ]


def _n_askable(model: FittedModel, target: str) -> int:
    questions = model.schema.questions
    return sum(target not in one.reveals and not one.never for one in questions)


def _curve(evaluation: dict[str, Any]) -> charts.Chart:
    return evaluation_context.information(evaluation, evaluation["metrics"][0])


def _line(model: FittedModel, variable: Variable, target: str) -> Line:
    found = [one for one in model.schema.questions if variable.name in one.reveals]
    is_target = variable.name == target
    first = found[0] if found and not is_target else None
    return Line(
        variable.name,
        str(variable.kind),
        values(variable),
        "" if first is None else question_wording(first),
        "" if first is None else f"{first.cost:g}",
        "" if first is None else _rules(first),
        is_target,
    )


def values(variable: Variable) -> str:
    """What a variable may be, in words."""
    if variable.kind.has_levels:
        named = ", ".join(formatting.format_value(level) for level in variable.levels[:N_LEVELS_NAMED])
        more = variable.n_levels - N_LEVELS_NAMED
        return named + (f" and {more} more" if more > 0 else "")
    words = wording.describe_expected_number(variable)
    return words.removeprefix("a whole number").removeprefix("a number").strip(" ,") or "any"


def question_wording(question: Question) -> str:
    """A question as it is asked, and the panel it belongs to."""
    return question.text if len(question.reveals) == 1 else f"{question.text} (with others)"


def _rules(question: Question) -> str:
    rules = ["always asked"] if question.always else ["never asked"] if question.never else []
    rules += [
        f"only if {name} is {' or '.join(map(str, levels))}"
        for name, levels in question.requires.items()
    ]
    return "; ".join(rules)
