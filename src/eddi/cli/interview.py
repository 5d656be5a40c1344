"""`eddi interview`: a conversation in the terminal."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from eddi.cli import terminal
from eddi.cli.belief_bars import Picture
from eddi.errors import AnswerError
from eddi.interview.interview import Interview
from eddi.interview.record import NoAnswer, Record
from eddi.model.files.archive import load
from eddi.strategy.stopping import StoppingRule
from eddi.table.question import Question
from eddi.table.variable import Kind, Level, Variable, level_position

if TYPE_CHECKING:
    from eddi.interview.record import Answer

N_REWARDS_SHOWN = 5
REWARD_WIDTH = 20


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
Heard = Level | NoAnswer | Command


def hold(model: Path, target: str | list[str] | None, stop: StoppingRule, record: Path | None) -> None:
    """Interview whoever sits at the terminal, and keep the record where one is wanted."""
    kept = None if record is None else read_record(record)
    if kept is not None:
        terminal.say(f"going on from {record}")
    interview = Interview(load(model), target, stop=stop, record=kept)

    def keep(answers: Record) -> None:
        if record is not None:
            keep_record(answers, record)

    keep(interview.record)
    try:
        Conversation(interview, terminal.console(stderr=False), keep).hold()
    finally:
        if record is not None:
            terminal.say(f"the answers are kept in {record}; the same command goes on from there.")


class Conversation:
    """Asks and listens until it is enough, and shows how sure we are after each answer.

    Args:
        interview: what is asked.
        out: where the conversation is shown.
        keep: called with the record whenever it changed.
    """

    def __init__(self, interview: Interview, out: Console, keep: Callable[[Record], None]) -> None:
        self.interview, self.out, self.keep = interview, out, keep
        self.schema = interview.model.schema_
        nothing = Interview(interview.model, interview.target)
        self.pictures = [Picture.of(nothing.predict(name)) for name in interview.target]

    def hold(self) -> None:
        """The whole conversation."""
        self._greet()
        while (question := self.interview.ask()) is not None:
            if not self._turn(question):
                break
        self._conclude(ended=question is None)

    def _greet(self) -> None:
        legend = Text("   ").join(
            Text.assemble((str(command), "bold"), f" {words}") for command, words in MEANINGS.items()
        )
        self.out.print(
            Text.assemble("\nWhat we want to know: ", (", ".join(self.interview.target), "bold"))
        )
        self.out.print(legend)
        for answer in self.interview.record.answers:
            self.out.print(Text(f"   {answer.question}: {self._said(answer)}", "dim"))
        self._show_belief()

    def _turn(self, question: Question) -> bool:
        """One question, answered or gone back from; False when the respondent has had enough."""
        self._put(question)
        wanted = [name for name in question.reveals if name not in self.interview.record.known()]
        said: dict[str, Level | NoAnswer] = {}
        while len(said) < len(wanted):
            variable = self.schema[wanted[len(said)]]
            heard = self._hear(variable, named=len(question.reveals) > 1)
            if heard is Command.STOP:
                return False
            if heard is Command.BACK and not said:
                return self._go_back()
            if heard is Command.BACK:
                said.popitem()
            else:
                said[variable.name] = heard
        self.interview.tell(question, said)
        self.keep(self.interview.record)
        self._show_belief()
        return True

    def _put(self, question: Question) -> None:
        number = len(self.interview.record.answers) + 1
        price = f"  costs {question.cost:g}" if self._priced else ""
        self.out.print(Text.assemble((f"\n{number}. {question.text}", "bold"), (price, "dim")))

    def _hear(self, variable: Variable, *, named: bool) -> Heard:
        """What was said of one variable, however often it takes."""
        self.out.print(Text(f"   {variable.name}: " if named else "   ").append_text(choices(variable)))
        while True:
            raw = self._read()
            if raw is None:
                return Command.STOP
            command = as_command(raw, variable)
            if command is Command.WHY:
                self._explain()
            elif command is not None:
                silences = {Command.UNKNOWN: NoAnswer.UNKNOWN, Command.DECLINED: NoAnswer.DECLINED}
                return silences.get(command, command)
            else:
                try:
                    return variable.answer(variable.number(picked(variable, raw)))
                except AnswerError:
                    self._correct(raw, variable)

    def _read(self) -> str | None:
        """A line typed or piped in; None where there are no more."""
        prompt = "   > "
        try:
            raw = input(prompt).strip()
        except EOFError:
            self.out.print()
            return None
        except KeyboardInterrupt:
            self.out.print()
            raise
        if not self.out.is_terminal or not os.isatty(0):
            self.out.print(Text(raw))  # a terminal shows what is typed, a pipe does not
        return raw

    def _correct(self, raw: str, variable: Variable) -> None:
        wrong = f"{raw!r} will not do. " if raw else ""
        words = f"{wrong}Type {expected(variable)}, or {Command.UNKNOWN} if you don't know."
        self.out.print(Text(f"   {words}", "yellow"))

    def _go_back(self) -> bool:
        if not self.interview.record.answers:
            self.out.print(Text("   This is the first question.", "yellow"))
            return True
        gone = self.interview.record.answers[-1]
        self.interview.undo()
        self.keep(self.interview.record)
        self.out.print(Text(f"   Took back {gone.question}: {self._said(gone)}", "yellow"))
        self._show_belief()
        return True

    def _explain(self) -> None:
        self.out.print(Padding(Text(f"{self.interview.explain()}", "cyan"), (0, 0, 0, 3)))
        rewards = list(self.interview.rewards().items())[:N_REWARDS_SHOWN]
        table = Table(box=None, show_header=False, padding=(0, 0, 0, 3))
        most = max((nats for _, nats in rewards), default=0.0)
        for name, nats in rewards:
            bar = terminal.share_bar(nats / most if most > 0 else 0.0, REWARD_WIDTH)
            table.add_row(Text(name), bar, Text(f"{round(nats, 2) + 0.0:.2f} nats", "dim"))
        self.out.print(table)

    def _show_belief(self, *, named: bool = False) -> None:
        several = len(self.interview.target) > 1
        for name, picture in zip(self.interview.target, self.pictures, strict=True):
            picture.show(self.out, self.interview.predict(name), named=named or several)

    def _conclude(self, *, ended: bool) -> None:
        told = self.interview.record.closed()
        asked = "1 question" if len(told) == 1 else f"{len(told)} questions"
        spent = sum(question.cost for question in self.schema.questions if question.name in told)
        price = f", at a cost of {spent:g}" if self._priced else ""
        words = "That is enough, thank you." if ended else "Stopped here."
        self.out.print(Text.assemble((f"\n{words}", "bold"), f" {asked}{price}."))
        self._show_belief(named=True)
        self._show_effects()

    @property
    def _priced(self) -> bool:
        return len(set(self.schema.costs)) > 1

    def _show_effects(self) -> None:
        """What each answer did: the prediction with it, less the prediction without it."""
        picture, record = self.pictures[0], self.interview.record
        now = self.interview.predict()
        effects = []
        for answer in record.answers:
            others = tuple(other for other in record.answers if other is not answer)
            without = Interview(self.interview.model, record=replace(record, answers=others))
            if answer.values:
                effects.append((picture.shift(now, without.predict()), answer))
        if not effects:
            return
        effects.sort(key=lambda one: -abs(one[0]))
        most = max(abs(effects[0][0]), 1e-12)
        table = Table(box=None, show_header=False, padding=(0, 0, 0, 3))
        for shift, answer in effects:
            bar = terminal.share_bar(abs(shift) / most, REWARD_WIDTH)
            said = Text(self._said(answer))
            table.add_row(Text(answer.question), said, picture.shift_words(shift), bar)
        self.out.print(
            Text.assemble(("\nWhat mattered", "bold"), f": how each answer moved {picture.what(now)}")
        )
        self.out.print(table)

    def _said(self, answer: "Answer") -> str:
        values = (
            f"{value:g} {self.schema[name].unit}".strip() if isinstance(value, float) else f"{value}"
            for name, value in answer.values.items()
        )
        silences = {NoAnswer.UNKNOWN: "not known", NoAnswer.DECLINED: "rather not said"}
        return ", ".join([*values, *(silences[why] for why in answer.without.values())])


def choices(variable: Variable) -> Text:
    """What may be typed: numbered levels, or a range and its unit."""
    if not variable.kind.has_levels:
        return Text(expected(variable), "dim")
    shown = [
        f"{place} {level}" if _numbered(variable) else f"{level}"
        for place, level in enumerate(variable.levels, start=1)
    ]
    clashes = [command for command in Command if level_position(variable.levels, command) is not None]
    escapes = [f"type :{command} for {MEANINGS[command]}" for command in clashes]
    return Text("   ".join([*shown, *escapes]), "dim")


def expected(variable: Variable) -> str:
    """What an answer must be, as the end of a sentence."""
    if variable.kind.has_levels:
        return f"one of {terminal.values(variable)}"
    kind = "a whole number" if variable.kind is Kind.COUNT else "a number"
    bounded = variable.low is not None or variable.high is not None
    bounds = f", {terminal.values(replace(variable, unit=''))}" if bounded else ""
    return f"{kind}{bounds}" + (f", in {variable.unit}" if variable.unit else "")


def as_command(raw: str, variable: Variable) -> Command | None:
    """The command someone typed; a level of the same letter goes first, and a colon before."""
    word = raw.lower().removeprefix(":")
    if word not in tuple(Command):
        return None
    is_level = not raw.startswith(":") and level_position(variable.levels, raw) is not None
    return None if is_level else Command(word)


def picked(variable: Variable, raw: str) -> object:
    """The level with this number in the list or this beginning of its name; else what was typed."""
    if not raw or not variable.levels or level_position(variable.levels, raw) is not None:
        return raw
    if raw.isdecimal() and _numbered(variable) and 1 <= int(raw) <= variable.n_levels:
        return variable.levels[int(raw) - 1]
    begun = [level for level in variable.levels if str(level).lower().startswith(raw.lower())]
    return begun[0] if len(begun) == 1 else raw


def _numbered(variable: Variable) -> bool:
    """Whether levels can be picked by number: not where numbers are their names."""
    places = range(1, variable.n_levels + 1)
    return all(level_position(variable.levels, place) is None for place in places)


def read_record(path: Path) -> Record | None:
    """The interview kept in ``path``, if there is one."""
    try:
        document: Any = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise AnswerError(
            f"{str(path)!r} is not the record of an interview ({error}). Name another file."
        ) from None
    return Record.from_document(document)


def keep_record(record: Record, path: Path) -> None:
    """Write the record; a kill leaves either the old file or the new one."""
    unfinished = path.with_name(path.name + ".unfinished")
    with unfinished.open("w", encoding="utf-8") as file:
        file.write(terminal.as_json(record.to_document()) + "\n")
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)
