"""The dialogue of `eddi interview`: questions, answers, commands and predictions."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import TypeVar

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from eddi.cli import terminal
from eddi.cli.prediction_bars import PredictionBars
from eddi.errors import AnswerError, OutOfRangeError
from eddi.interview.answer_values import selected_options
from eddi.interview.effects import measure_effects, predictions_over_time
from eddi.interview.interview import Interview
from eddi.interview.record import Answer, NoAnswer, Record
from eddi.reward.units import format_bits
from eddi.strategy.names import summarize_strategy
from eddi.table.question import Question
from eddi.table.variable import Kind, Level, Variable, describe_range, level_position

MAX_REWARDS_SHOWN = 5
NONE = "none of these"
BAR_WIDTH = 20

Value = TypeVar("Value")


class Command(StrEnum):
    """What a respondent may type instead of an answer."""

    WHY = "?"
    BACK = "b"
    UNKNOWN = "d"
    DECLINED = "p"
    STOP = "q"


MEANINGS = {
    Command.WHY: "why this question",
    Command.BACK: "back",
    Command.UNKNOWN: "don't know",
    Command.DECLINED: "prefer not to say",
    Command.STOP: "stop",
}
NO_ANSWERS = {Command.UNKNOWN: NoAnswer.UNKNOWN, Command.DECLINED: NoAnswer.DECLINED}
NO_ANSWER_TEXTS = {NoAnswer.UNKNOWN: "unknown", NoAnswer.DECLINED: "declined"}


class Conversation:
    """Asks questions until the interview ends, and shows the predictions after each answer.

    Args:
        interview: the interview to conduct.
        out: the console to print to.
        save: called with the record whenever it changes.
    """

    def __init__(self, interview: Interview, out: Console, save: Callable[[Record], None]) -> None:
        self.interview, self.out, self.save = interview, out, save
        self.schema = interview.model.schema
        unanswered = Interview(interview.model, interview.target)
        self.bars = [PredictionBars.from_prior(unanswered.predict(name)) for name in interview.target]

    def run(self) -> None:
        """Conduct the interview and print a summary."""
        self._print_introduction()
        while (question := self.interview.ask()) is not None:
            if not self._ask_question(question):
                break
        self._print_summary(is_complete=question is None)

    def _print_introduction(self) -> None:
        target = ", ".join(self.interview.target)
        self.out.print(Text.assemble("\nVariable to predict: ", (target, "bold")))
        order = summarize_strategy(self.interview.rules.strategy)
        self.out.print(Text(f"Next question: {order}", "dim"))
        legend = [
            Text.assemble((str(command), "bold"), f" {meaning}") for command, meaning in MEANINGS.items()
        ]
        self.out.print(Text("   ").join(legend))
        for answer in self.interview.record.answers:
            self.out.print(Text(f"   {answer.question}: {self._format_answer(answer)}", "dim"))
        self._print_predictions()

    def _ask_question(self, question: Question) -> bool:
        """Ask a question and record its answer, or go back; return False to stop the interview."""
        self._print_question(question)
        answered = self.interview.record.answered_variables()
        names = [name for name in question.reveals if name not in answered]
        options = self.schema.options(question)
        with_name = len(question.reveals) > 1
        values = (
            self._read_options({name: options[name] for name in names})
            if options
            else self._read_values(names, with_name=with_name)
        )
        if isinstance(values, Command):
            if values is Command.BACK:
                self._go_back()
            return values is Command.BACK
        self.interview.tell(question, values, confirm=True)  # each value was checked above
        self.save(self.interview.record)
        self._print_predictions()
        return True

    def _read_values(
        self, names: Sequence[str], *, with_name: bool
    ) -> dict[str, Level | NoAnswer] | Command:
        """Read an answer for each variable, or one of the commands BACK and STOP."""
        values: dict[str, Level | NoAnswer] = {}
        while len(values) < len(names):
            variable = self.schema[names[len(values)]]
            reply = self._read_reply(variable, with_name=with_name)
            if reply is Command.STOP or (reply is Command.BACK and not values):
                return reply
            if reply is Command.BACK:
                values.popitem()
            elif not isinstance(reply, Command):
                values[variable.name] = reply
        return values

    def _read_options(self, options: Mapping[str, str]) -> dict[str, Level | NoAnswer] | Command:
        """Read which options of a multi-select question apply, or one of the commands BACK and STOP."""
        choice = Variable("options", Kind.CATEGORY, (*options.values(), NONE))
        self.out.print(Text("   ").append_text(format_choices(choice)))
        self.out.print(Text("   Type all that apply, separated by commas.", "dim"))
        reply = self._read_until_valid(choice, lambda line: self._parse_options(line, choice))
        if isinstance(reply, Command):
            return reply
        if isinstance(reply, NoAnswer):
            return dict.fromkeys(options, reply)
        return {name: self.schema[name].levels[option in reply] for name, option in options.items()}

    def _parse_options(self, line: str, choice: Variable) -> set[Level] | None:
        """Return the options that a line selects; None if it is not valid."""
        selected = select_options(line, choice)
        if selected is None:
            self._reject_line(line, choice)
        return selected

    def _print_question(self, question: Question) -> None:
        number = len(self.interview.record.answers) + 1
        cost = f"  cost {question.cost:g}" if self._has_different_costs else ""
        self.out.print(Text.assemble((f"\n{number}. {question.text}", "bold"), (cost, "dim")))

    def _read_reply(self, variable: Variable, *, with_name: bool) -> Level | NoAnswer | Command:
        """Read lines until one is an answer for ``variable``, or one of the commands BACK and STOP."""
        name = f"   {variable.name}: " if with_name else "   "
        self.out.print(Text(name).append_text(format_choices(variable)))
        return self._read_until_valid(variable, lambda line: self._parse_line(line, variable))

    def _read_until_valid(
        self, variable: Variable, parse: Callable[[str], Value | None]
    ) -> Value | NoAnswer | Command:
        """Read lines until ``parse`` accepts one, or one is a command."""
        while True:
            line = self._read_line()
            if line is None:
                return Command.STOP
            command = parse_command(line, variable)
            if command is Command.WHY:
                self._explain_question()
            elif command is not None:
                return NO_ANSWERS.get(command, command)
            elif (value := parse(line)) is not None:
                return value

    def _parse_line(self, line: str, variable: Variable) -> Level | None:
        """Return the answer in a line; None if it is not valid, or not confirmed."""
        try:
            return self.interview.parse(variable.name, match_level(variable, line))
        except OutOfRangeError as error:
            question = f"The usual values are {describe_range(*error.ranges[variable.name])}."
            self.out.print(Text(f"   {question} Is {line} correct? (y/n)", "yellow"))
            if (self._read_line() or "").lower() not in ("y", "yes"):
                self.out.print(Text(f"   Type {describe_expected(variable)}.", "yellow"))
                return None
            return self.interview.parse(variable.name, line, confirm=True)
        except AnswerError:
            self._reject_line(line, variable)
            return None

    def _read_line(self) -> str | None:
        """Return the next line of input, or None at its end."""
        try:
            line = input("   > ").strip()
        except EOFError:
            self.out.print()
            return None
        except KeyboardInterrupt:
            self.out.print()
            raise
        if not self.out.is_terminal or not os.isatty(0):
            self.out.print(Text(line))  # a terminal echoes its input, a pipe does not
        return line

    def _reject_line(self, line: str, variable: Variable) -> None:
        problem = f"{line!r} is not a valid answer. " if line else ""
        hint = f"Type {describe_expected(variable)}, or {Command.UNKNOWN} if you don't know."
        self.out.print(Text(f"   {problem}{hint}", "yellow"))

    def _go_back(self) -> None:
        if not self.interview.record.answers:
            self.out.print(Text("   This is the first question.", "yellow"))
            return
        removed = self.interview.record.answers[-1]
        self.interview.undo()
        self.save(self.interview.record)
        message = f"   Removed {removed.question}: {self._format_answer(removed)}"
        self.out.print(Text(message, "yellow"))
        self._print_predictions()

    def _explain_question(self) -> None:
        self.out.print(Padding(Text(f"{self.interview.explain()}", "cyan"), (0, 0, 0, 3)))
        rewards = list(self.interview.rewards().items())[:MAX_REWARDS_SHOWN]
        table = Table(box=None, show_header=False, padding=(0, 0, 0, 3))
        highest = max((nats for _, nats in rewards), default=0.0)
        for name, nats in rewards:
            bar = terminal.draw_share(nats / highest if highest > 0 else 0.0, BAR_WIDTH)
            table.add_row(Text(name), bar, Text(format_bits(nats), "dim"))
        self.out.print(table)

    def _print_predictions(self, *, with_names: bool = False) -> None:
        with_names = with_names or len(self.interview.target) > 1
        for name, bars in zip(self.interview.target, self.bars, strict=True):
            bars.print(self.out, self.interview.predict(name), with_name=with_names)

    def _print_summary(self, *, is_complete: bool) -> None:
        asked_names = self.interview.record.answered_questions()
        count = "1 question" if len(asked_names) == 1 else f"{len(asked_names)} questions"
        total = sum(question.cost for question in self.schema.questions if question.name in asked_names)
        cost = f", total cost {total:g}" if self._has_different_costs else ""
        status = "Interview complete." if is_complete else "Interview stopped."
        self.out.print(Text.assemble((f"\n{status}", "bold"), f" {count}{cost}."))
        self._print_predictions(with_names=True)
        self._print_effects()

    @property
    def _has_different_costs(self) -> bool:
        return len(set(self.schema.costs)) > 1

    def _print_effects(self) -> None:
        """Print how the prediction of the first target would differ without each of the answers."""
        bars = self.bars[0]
        over_time = predictions_over_time(self.interview, self.interview.target[0])
        effects = measure_effects(self.interview, over_time)
        if not effects:
            return
        largest = max(abs(effects[0].shift), 1e-12)
        table = Table(box=None, show_header=False, padding=(0, 0, 0, 3))
        for effect in effects:
            bar = terminal.draw_share(abs(effect.shift) / largest, BAR_WIDTH)
            text = Text(self._format_answer(effect.answer))
            table.add_row(Text(effect.answer.question), text, bars.format_effect(effect.shift), bar)
        changed = bars.name_effect(over_time[-1])
        self.out.print(Text.assemble(("\nEffects", "bold"), f" of each answer on {changed}"))
        note = "Each is measured by leaving out that answer alone, so they do not add up."
        self.out.print(Text(note, "dim"))
        self.out.print(table)

    def _format_answer(self, answer: Answer) -> str:
        if (selected := selected_options(answer, self.schema)) is not None:
            return ", ".join(selected) or NONE
        values = (
            f"{value:g} {self.schema[name].unit}".strip() if isinstance(value, float) else f"{value}"
            for name, value in answer.values.items()
        )
        return ", ".join([*values, *(NO_ANSWER_TEXTS[reason] for reason in answer.without.values())])


def format_choices(variable: Variable) -> Text:
    """Return what a respondent may type: numbered levels, or a range and its unit."""
    if not variable.kind.has_levels:
        return Text(describe_expected(variable), "dim")
    has_numbers = _has_level_numbers(variable)
    levels = [
        f"{number} {label}" if has_numbers else f"{level} {label}" if variable.labels else f"{level}"
        for number, (level, label) in enumerate(_label_levels(variable), start=1)
    ]
    clashes = [command for command in Command if level_position(variable.levels, command) is not None]
    escapes = [f"type :{command} for {MEANINGS[command]}" for command in clashes]
    return Text("   ".join([*levels, *escapes]), "dim")


def describe_expected(variable: Variable) -> str:
    """Return what an answer must be, as the end of a sentence."""
    if variable.kind.has_levels:
        return f"one of {terminal.describe_values(variable)}"
    kind = "a whole number" if variable.kind is Kind.COUNT else "a number"
    is_bounded = variable.low is not None or variable.high is not None
    bounds = f", {terminal.describe_values(replace(variable, unit=''))}" if is_bounded else ""
    return f"{kind}{bounds}" + (f", in {variable.unit}" if variable.unit else "")


def parse_command(line: str, variable: Variable) -> Command | None:
    """Return the command in ``line``, or None.

    A level with the same letter takes precedence over a command, unless a colon precedes the letter.
    """
    letter = line.lower().removeprefix(":")
    if letter not in tuple(Command):
        return None
    is_level = not line.startswith(":") and level_position(variable.levels, line) is not None
    return None if is_level else Command(letter)


def select_options(line: str, choice: Variable) -> set[Level] | None:
    """Return the selected options, by name or number; None if the line is not valid."""
    parts = [line] if level_position(choice.levels, line) is not None else re.split("[,;]", line)
    positions = [level_position(choice.levels, match_level(choice, part.strip())) for part in parts]
    selected = {choice.levels[position] for position in positions if position is not None}
    if None in positions or (NONE in selected and len(selected) > 1):
        return None
    return selected - {NONE}


def match_level(variable: Variable, line: str) -> object:
    """Return the level with this number, label or unique prefix; otherwise return ``line`` unchanged."""
    if not line or not variable.levels or level_position(variable.levels, line) is not None:
        return line
    is_number = line.isdecimal() and _has_level_numbers(variable)
    if is_number and 1 <= int(line) <= variable.n_levels:
        return variable.levels[int(line) - 1]
    labels, start = _label_levels(variable), line.lower()
    exact = [level for level, label in labels if label.lower() == start]
    similar = [
        level
        for level, label in labels
        if str(level).lower().startswith(start) or label.lower().startswith(start)
    ]
    matches = exact or similar
    return matches[0] if len(matches) == 1 else line


def _label_levels(variable: Variable) -> list[tuple[Level, str]]:
    """Return the levels, each with what respondents read."""
    return list(zip(variable.levels, variable.labels or map(str, variable.levels), strict=True))


def _has_level_numbers(variable: Variable) -> bool:
    """Whether levels can be selected by number, that is, no level is itself one of the numbers."""
    numbers = range(1, variable.n_levels + 1)
    return all(level_position(variable.levels, number) is None for number in numbers)
