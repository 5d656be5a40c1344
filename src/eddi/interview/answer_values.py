"""The values of an answer, as they are given, assigned to the variables of the question."""

from collections.abc import Collection, Mapping, Sequence

from eddi.errors import AnswerError
from eddi.interview.record import Answer, NoAnswer
from eddi.table.cells.missing import has_code
from eddi.table.cells.multi_select import DEFAULT_SEPARATOR, split_options
from eddi.table.schema import Schema
from eddi.table.text import is_missing
from eddi.table.variable import Variable, level_position


def assign_values(
    question: str, variables: Sequence[Variable], values: tuple[object, ...], *, answered: set[str]
) -> dict[str, object]:
    """Return the value or `NoAnswer` that an answer gives for each variable.

    Args:
        question: the name of the question.
        variables: what the question reveals.
        values: one value per variable, a list or mapping of them, or a list of options; see
            `Interview.tell`.
        answered: variables answered before, which may be left out.

    Raises:
        AnswerError: the values do not match the variables.
    """
    by_name = {variable.name: variable for variable in variables}
    values = _split_options(question, variables, values)
    if len(values) == 1 and isinstance(values[0], list | tuple):
        values = tuple(values[0])
    given = _by_variable(question, tuple(by_name), values, answered=answered)
    return {name: _read_no_answer(by_name[name], value) for name, value in given.items()}


def selected_options(answer: Answer, schema: Schema) -> list[str] | None:
    """Return the options that an answer selects; None if it does not answer a multi-select question."""
    question = next((q for q in schema.questions if q.name == answer.question), None)
    options = {} if question is None else schema.options(question)
    if not options or not answer.values:
        return None
    selected = {name for name, value in answer.values.items() if value == schema[name].levels[1]}
    return [option for name, option in options.items() if name in selected]


def _split_options(
    question: str, variables: Sequence[Variable], values: tuple[object, ...]
) -> tuple[object, ...]:
    """Return one value per option if the answer lists the options of a column, else the values."""
    sources = [variable.source for variable in variables if variable.source is not None]
    if len(values) != 1 or not sources or len(sources) < len(variables):
        return values
    (answer,) = values
    is_text = isinstance(answer, str) and not isinstance(answer, NoAnswer)
    if is_text and level_position(variables[0].levels, answer) is not None and len(variables) == 1:
        return values
    if has_code(variables[0].codes, answer):
        return (_read_no_answer(variables[0], answer),)
    if is_text:
        answer = split_options(str(answer), sources[0].separator or DEFAULT_SEPARATOR)
    if not isinstance(answer, list | tuple | set) or _are_levels(variables, answer):
        return values
    known = {source.option.casefold() for source in sources}
    for option in answer:
        if str(option).casefold() not in known:
            options = ", ".join(source.option for source in sources)
            name = sources[0].column if sources[0].is_list else question
            raise AnswerError(f"{name!r} has no option {option!r}. Options are: {options}.")
    listed = {str(option).casefold() for option in answer}
    return tuple(
        variable.levels[source.option.casefold() in listed]
        for variable, source in zip(variables, sources, strict=True)
    )


def _are_levels(variables: Sequence[Variable], values: Collection[object]) -> bool:
    """Whether there is one level, or none that is known, for each variable."""
    return len(values) == len(variables) and all(
        isinstance(value, NoAnswer)
        or is_missing(value)
        or level_position(variable.levels, value) is not None
        for variable, value in zip(variables, values, strict=True)
    )


def _read_no_answer(variable: Variable, value: object) -> object:
    """Return UNKNOWN or DECLINED for a missing value or a code, and any other value unchanged."""
    if isinstance(value, NoAnswer):
        return value
    if is_missing(value):
        return NoAnswer.UNKNOWN
    if has_code(variable.declined, value):
        return NoAnswer.DECLINED
    return NoAnswer.UNKNOWN if has_code(variable.missing, value) else value


def _by_variable(
    name: str, reveals: tuple[str, ...], values: tuple[object, ...], *, answered: set[str]
) -> Mapping[str, object]:
    """The value given for each revealed variable; variables answered before may be left out."""
    if len(values) == 1 and (isinstance(values[0], NoAnswer) or is_missing(values[0])):
        return dict.fromkeys(reveals, values[0])
    if len(values) == 1 and isinstance(values[0], Mapping):
        given = dict(values[0])
        if unexpected := [key for key in given if key not in reveals]:
            raise AnswerError(f"{name!r} reveals {', '.join(reveals)}, not {unexpected[0]!r}.")
        omitted = (key for key in reveals if key not in given and key not in answered)
        return {**given, **dict.fromkeys(omitted, NoAnswer.UNKNOWN)}
    if len(values) != len(reveals):
        raise AnswerError(
            f"{name!r} takes {len(reveals)} value(s) ({', '.join(reveals)}), got {len(values)}. "
            "Give UNKNOWN for those that are not known."
        )
    return dict(zip(reveals, values, strict=True))
