"""The variables and questions that a `[time]` section adds to a schema."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from eddi.errors import SchemaError
from eddi.table.question import Question
from eddi.table.series.time_section import TimeSection
from eddi.table.text import format_names, suggest_name
from eddi.table.variable import Kind, Variable

NOT_MEASURED, MEASURED = "no", "yes"  # levels of "a measurement was taken in this window"


def add_windows(
    time: TimeSection, variables: Iterable[Variable], questions: Iterable[Question]
) -> tuple[tuple[Variable, ...], tuple[Question, ...]]:
    """The variables and questions of a schema, and those that follow from its `[time]` section.

    What was derived before is replaced, so the result of a second call is the same. A question of a derived
    variable is never asked: only the present can be measured.
    """
    derived = set(time.derived_names())
    base = {variable.name: variable for variable in variables if variable.name not in derived}
    for name in time.repeats:
        if name not in base:
            raise SchemaError(
                f"{name!r} repeats, but is not a variable.{suggest_name(name, list(base))} "
                f"Variables are: {format_names(list(base))}."
            )
        if time.repeats[name] == "mean" and base[name].kind is not Kind.REAL:
            raise SchemaError(
                f"variable {name!r}: repeats = 'mean' needs a real variable; it is {base[name].kind}. "
                "Use repeats = true, which keeps the last value."
            )
    added = list(_derive_variables(time, base))
    asked = [question for question in questions if question.name not in derived]
    never = [Question(variable.name, (variable.name,), never=True) for variable in added]
    return (*base.values(), *added), (*asked, *never)


def _derive_variables(time: TimeSection, base: dict[str, Variable]) -> Iterator[Variable]:
    yield Variable(time.column, Kind.REAL, unit=time.unit, low=0)
    older = range(1, time.n_windows)
    for name in time.repeats:
        variable = replace(base[name], translations={})
        for window in older:
            yield replace(variable, name=time.window_name(name, window), title="")
        for window in older if time.informative else ():
            measured = time.measured_name(name, window)
            yield Variable(measured, Kind.BINARY, (NOT_MEASURED, MEASURED))
        if name in time.next_values:
            yield replace(variable, name=time.next_name(name), title="")
