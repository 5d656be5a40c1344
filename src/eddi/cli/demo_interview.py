"""The interview of `eddi demo`: a held-out person, with the answers from the table."""

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from eddi import demo
from eddi.cli import terminal
from eddi.cli.demo_model import count_questions
from eddi.errors import EddiError
from eddi.interview.interview import Interview
from eddi.partial_vae import PartialVAE
from eddi.table.question import Question
from eddi.table.schema import Schema

BAR_WIDTH = 20
QUESTION_WIDTH = 44
UNKNOWN_TEXT = "not known"


def check_person(person: int) -> None:
    """Raise an error if there is no held-out person with this number, counted from 1."""
    _, held_out = demo.split_table(demo.load_table())
    if person > held_out.num_rows:
        raise EddiError(f"--person must be between 1 and {held_out.num_rows}, got {person}.")


def interview_person(out: Console, model: PartialVAE, person: int) -> None:
    """Interview a held-out person and print the probability of raised blood sugar after each answer."""
    _, held_out = demo.split_table(demo.load_table())
    row = held_out.slice(person - 1, 1).to_pylist()[0]
    interview = Interview(model)
    table = _build_table(model.schema_)
    table.add_row("", "[dim]before the first question[/dim]", "", *_format_probability(interview))
    while (question := interview.ask()) is not None:
        interview.tell(question, *(row[name] for name in question.reveals))
        number, answer = str(len(interview.record.answers)), _format_answer(model.schema_, question, row)
        table.add_row(number, question.title, answer, *_format_probability(interview))
    out.print(f"[bold]The interview of one of {held_out.num_rows} held-out people[/bold]")
    out.print(table)
    _print_result(out, interview, row)


def _build_table(schema: Schema) -> Table:
    level = str(schema[schema.targets[0]].levels[1]).lower()
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="dim")
    table.add_column("", no_wrap=True)
    table.add_column("question", max_width=QUESTION_WIDTH)
    table.add_column("answer", justify="right")
    table.add_column(f"{level}?", no_wrap=True)
    table.add_column("", justify="right", no_wrap=True)
    return table


def _format_answer(schema: Schema, question: Question, row: dict[str, Any]) -> str:
    values = [(schema[name], row[name]) for name in question.reveals]
    texts = [UNKNOWN_TEXT if value is None else f"{value} {variable.unit}" for variable, value in values]
    return ", ".join(text.strip() for text in texts)


def _format_probability(interview: Interview) -> tuple[Text, str]:
    probability = find_probability(interview)
    return terminal.draw_share(probability, BAR_WIDTH), f"{probability:.0%}"


def find_probability(interview: Interview) -> float:
    """Return the present probability of the target's second level."""
    probabilities = interview.predict(interview.target[0]).probabilities
    assert probabilities is not None  # noqa: S101  # the target has levels
    return float(probabilities[1])


def _print_result(out: Console, interview: Interview, row: dict[str, Any]) -> None:
    schema = interview.model.schema
    target = schema[interview.target[0]]
    costs = {question.name: question.cost for question in schema.questions}
    spent = sum(costs[answer.question] for answer in interview.record.answers)
    total = sum(cost for name, cost in costs.items() if name != target.name)
    out.print(
        f"EDDI stopped after {len(interview.record.answers)} of {count_questions(schema)} questions, at a "
        f"cost of {spent:g} instead of {total:g}.\n"
        f"Estimate: [bold]{find_probability(interview):.0%}[/bold] for {str(target.levels[1]).lower()}. "
        f"The blood test showed: [bold]{str(row[target.name]).lower()}[/bold].\n"
        f"(HbA1c {row['HbA1c']}%. From 5.7% it is prediabetes, from 6.5% diabetes.)\n"
    )
