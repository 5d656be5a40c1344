"""Combine the schema that was inferred from a table with what a codebook says about its columns."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from eddi.table.codebooks.codebook import Codebook, Entry
from eddi.table.codebooks.entry_variables import EntryVariables, make_title, make_variables
from eddi.table.codebooks.prerequisites import KnownEntry, find_prerequisites, to_requires
from eddi.table.codebooks.table_columns import Match, TableColumns, match_entries
from eddi.table.languages.translations import QuestionTexts
from eddi.table.question import Question, Requirement
from eddi.table.schema import Note, Schema, SetAside
from eddi.table.text import format_list
from eddi.table.variable import Variable

ADDED = "added by the program that collected the answers"


def apply_codebook(schema: Schema, codebook: Codebook, columns: TableColumns) -> Schema:
    """Return the schema with the texts, levels, ranges and conditions of a codebook.

    Columns that the codebook does not describe stay as they are. The notes of the schema list what is
    uncertain, and everything that cannot be represented.

    Args:
        schema: inferred from the table.
        codebook: of the table.
        columns: the values of the table.
    """
    return _Combination(schema, codebook, columns).combine()


@dataclass
class _Combination:
    """The parts of the schema while the entries of the codebook are added."""

    schema: Schema
    codebook: Codebook
    columns: TableColumns
    variables: dict[str, list[Variable]] = field(default_factory=dict)  # by column
    questions: list[Question] = field(default_factory=list)
    set_aside: dict[str, SetAside] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    known: dict[str, KnownEntry] = field(default_factory=dict)

    def combine(self) -> Schema:
        for variable in self.schema.variables:
            self.variables.setdefault(variable.column, []).append(variable)
        self.set_aside = {column.name: column for column in self.schema.set_aside}
        matches = match_entries(self.codebook, list(self.columns.values))
        described = self._add_entries(matches)
        self._add_other_columns(described)
        self._add_questions(matches)
        self.notes += [Note(loss.name, loss.reason) for loss in self.codebook.losses]
        variables = [v for column in self.columns.values for v in self.variables.get(column, ())]
        return replace(
            self.schema,
            variables=tuple(variables),
            explicit_questions=(*self._keep_questions(described), *self.questions),
            set_aside=tuple(
                self.set_aside[name] for name in self.columns.values if name in self.set_aside
            ),
            notes=tuple(self.notes),
            language=self.schema.language or self.codebook.language,
        )

    def _add_entries(self, matches: Mapping[str, Match]) -> set[str]:
        """Add the variables of all entries, and return the columns that they describe."""
        described: set[str] = set()
        absent = []
        for entry in self.codebook.entries:
            match = matches[entry.name]
            names = [match.column] if match.column else list(match.options.values())
            if match.is_empty:
                absent += [] if entry.reason or entry.identifier else [entry.name]
                continue
            described.update(names)
            self._add_entry(entry, match, names)
        if absent:
            self.notes.append(Note("", f"the table has no column for: {format_list(absent)}."))
        return described

    def _add_entry(self, entry: Entry, match: Match, names: list[str]) -> None:
        is_target = any(
            v.name in self.schema.targets for name in names for v in self.variables.get(name, ())
        )
        if not is_target and (entry.identifier or entry.reason):
            for name in names:
                self.variables.pop(name, None)
                self.set_aside[name] = (
                    SetAside(name, entry.identifier, "identifier")
                    if entry.identifier
                    else SetAside(name, entry.reason)
                )
            return
        if any(self._is_constant(name) for name in names):
            return
        inferred = self.variables.get(match.column, [])
        found = make_variables(entry, match, self.columns, inferred[0] if len(inferred) == 1 else None)
        self.notes += found.notes
        if found.variables:
            self._use(found.variables)
        self._remember(entry, match, found)

    def _use(self, variables: tuple[Variable, ...]) -> None:
        for column in {variable.column for variable in variables}:
            self.variables[column] = []
            self.set_aside.pop(column, None)
        for variable in variables:
            self.variables[variable.column].append(variable)

    def _remember(self, entry: Entry, match: Match, found: EntryVariables) -> None:
        """Remember which variables an entry stands for, so that conditions can name it."""
        if found.options:
            self.known[entry.name] = KnownEntry(None, options=found.options)
            return
        variables = self.variables.get(match.column, [])
        if len(variables) != 1:
            return
        variable = variables[0]
        if not found.variables and not variable.title:
            variable = replace(variable, title=make_title(entry))
            self.variables[match.column] = [variable]
        own = {str(level): level for level in variable.levels}
        self.known[entry.name] = KnownEntry(variable, found.levels if found.variables else own)

    def _is_constant(self, name: str) -> bool:
        """Whether a column has less than two values, from which nothing can be learned."""
        return name in self.set_aside and len(self.columns.list_values(name)) < 2

    def _add_other_columns(self, described: set[str]) -> None:
        """Set aside columns that the program itself adds, and note those that the codebook lacks."""
        pattern = re.compile(self.codebook.own_columns) if self.codebook.own_columns else None
        repeated = self._find_repeated()
        others = []
        for name in self.columns.values:
            if name in described:
                continue
            is_own = pattern is not None and pattern.fullmatch(name) is not None
            if (is_own or name in repeated) and name not in self.schema.targets:
                self.variables.pop(name, None)
                reason = "repeats another column" if name in repeated else ADDED
                self.set_aside.setdefault(name, SetAside(name, reason))
            elif not is_own:
                others.append(name)
        if others:
            message = f"the codebook does not describe: {format_list(others)}."
            self.notes.append(Note("", message))

    def _find_repeated(self) -> set[str]:
        """Return columns of single choices whose list is a column, too."""
        names = {name.casefold(): name for name in self.columns.values}
        found = set()
        for entry in self.codebook.entries:
            known = self.known.get(entry.name)
            if known is None or not any(v.source and v.source.is_list for v in known.options.values()):
                continue
            columns = {next(iter(known.options.values())).column, entry.name}
            spelled = (spelling for group in entry.option_columns.values() for spelling in group)
            prefixes = [column.removesuffix(entry.name) for column in columns]
            found |= {
                names[key] for s in spelled for p in prefixes if (key := f"{p}{s}".casefold()) in names
            }
        return found

    def _keep_questions(self, described: set[str]) -> tuple[Question, ...]:
        """Return the inferred questions about columns that the codebook does not describe."""
        names = {
            v.name for column, group in self.variables.items() if column not in described for v in group
        }
        return tuple(q for q in self.schema.explicit_questions if set(q.reveals) <= names)

    def _add_questions(self, matches: Mapping[str, Match]) -> None:
        variables = {v.name: v for group in self.variables.values() for v in group}
        for entry in self.codebook.entries:
            known = self.known.get(entry.name)
            if known is None:
                continue
            reveals = [v.name for v in known.options.values()]
            if known.variable is not None:
                reveals = [known.variable.name]
            requires = self._find_requires(entry, variables, reveals)
            self.questions.append(self._make_question(entry, reveals, requires, matches[entry.name]))

    def _make_question(
        self, entry: Entry, reveals: list[str], requires: dict[str, Requirement], match: Match
    ) -> Question:
        name = reveals[0] if len(reveals) == 1 else match.column or entry.name
        is_never = entry.is_hidden or bool(entry.reason)
        text = entry.text or entry.name
        translations = {
            code: QuestionTexts(texts.text, texts.help) for code, texts in entry.translations.items()
        }
        return Question(
            name,
            tuple(reveals),
            text,
            requires=requires,
            never=is_never,
            help=entry.help,
            translations=translations,
            section=entry.section,
        )

    def _find_requires(
        self, entry: Entry, variables: Mapping[str, Variable], reveals: list[str]
    ) -> dict[str, Requirement]:
        if entry.condition is None:
            return {}
        found = find_prerequisites(entry.condition, self.known)
        allowed = {name: values for name, values in found.allowed.items() if name not in reveals}
        for loss in found.losses:
            message = f"a part of its condition is not represented: {loss}."
            self.notes.append(Note(reveals[0], message))
        return to_requires(allowed, variables)
