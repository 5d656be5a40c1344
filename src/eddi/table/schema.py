"""The schema of a table: its variables, its questions, and the columns that are not modelled."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from eddi.errors import SchemaError, TargetError
from eddi.table.beliefs.statements import Belief, Relation, check_statements
from eddi.table.checks.unique_names import check_unique
from eddi.table.languages.translations import QuestionTexts, check_languages
from eddi.table.missingness.checks import check_indicators
from eddi.table.question import Question, check_requirement, parse_requires
from eddi.table.section import Section, check_exclusive, check_sections
from eddi.table.series.age_windows import add_windows
from eddi.table.series.time_section import TimeSection
from eddi.table.survival.in_schema import SurvivalColumns, add_survival, check_survival
from eddi.table.text import format_html_table, format_names, suggest_name
from eddi.table.variable import Level, Variable


@dataclass(frozen=True)
class SetAside:
    """A column that is not modelled, with the reason."""

    name: str
    reason: str
    role: Literal["identifier", "ignored"] = "ignored"


@dataclass(frozen=True)
class Note:
    """Something to check in an inferred schema.

    Args:
        column: the column that it is about.
        message: what was guessed, and what it may be instead.
        alternative: the variable to use in that case, if it can be named.
    """

    column: str
    message: str
    alternative: Variable | None = None


@dataclass(frozen=True)
class Schema:
    """The variables of a table in order, the questions that reveal them, and the targets.

    Args:
        variables: the modelled columns, in the order of the columns of `Evidence`.
        explicit_questions: questions with their own text, cost or set of variables. Every variable
            that none of them reveals has a question of the same name; see `questions`.
        targets: names of variables that one may want to predict.
        set_aside: the columns that are not modelled.
        missing: codes that mean "missing" in every column, such as -99.
        declined: codes that mean "declined to answer" in every column, such as "refused".
        stop: conditions of the stopping rule of interviews, such as ``{"after": 5}``; see `eddi.Stop`.
        sections: how many questions of each section are asked; a section without limits needs none.
        exclusive: groups of questions, by name, of which at most one is asked: once one of a group has
            a value, the others are closed.
        exploration: how much interviews explore, such as ``{"sharpness": 8.0}``; see
            `eddi.strategy.Exploration`. They do not if it is empty.
        beliefs: what is believed about the values of variables, for a start without data.
        relations: what is believed about relations of variables.
        notes: what to check in an inferred schema. They do not affect how a table is read.
        language: code of the language of the texts, such as "en"; empty if it is not known. Variables and
            questions have their texts in other languages.
        time: how repeated measurements become rows; None for a table with one row per person. Use
            `with_time` to set it.
    """

    variables: tuple[Variable, ...]
    explicit_questions: tuple[Question, ...] = ()
    targets: tuple[str, ...] = ()
    set_aside: tuple[SetAside, ...] = ()
    missing: tuple[Level, ...] = ()
    declined: tuple[Level, ...] = ()
    stop: Mapping[str, float] = field(default_factory=dict, hash=False)
    sections: tuple[Section, ...] = ()
    exclusive: tuple[tuple[str, ...], ...] = ()
    exploration: Mapping[str, float] = field(default_factory=dict, hash=False)
    beliefs: tuple[Belief, ...] = ()
    relations: tuple[Relation, ...] = ()
    notes: tuple[Note, ...] = field(default=(), compare=False)
    language: str = ""
    time: TimeSection | None = None

    def __post_init__(self) -> None:
        for item in fields(self):
            if item.name not in ("stop", "exploration", "language", "time"):
                object.__setattr__(self, item.name, tuple(getattr(self, item.name)))
        variables = tuple(v.with_codes(self.missing, self.declined) for v in self.variables)
        object.__setattr__(self, "variables", variables)
        # Identifiers come first, as in a schema file, so that reading a file gives an equal schema.
        set_aside = sorted(self.set_aside, key=lambda column: column.role != "identifier")
        object.__setattr__(self, "set_aside", tuple(set_aside))
        check_unique("variable", [*self.names, *(column.name for column in set_aside)])
        check_unique("question", [question.name for question in self.questions])
        for question in self.explicit_questions:
            for name in question.reveals:
                self._check_variable(name, f"question {question.name!r} reveals")
            for name, requirement in question.requires.items():
                self._check_variable(name, f"question {question.name!r} requires")
                for part in requirement:
                    check_requirement(question.name, self[name], part)
        for name in self.targets:
            self._check_variable(name, "targets contain")
        check_indicators(self.variables)
        check_languages("the schema", (self.language,) if self.language else ())
        check_survival(self)
        check_statements(self.beliefs, self.relations, self.__getitem__)
        object.__setattr__(self, "exclusive", tuple(map(tuple, self.exclusive)))
        check_sections(self.sections, [question.section for question in self.questions])
        check_exclusive(self.exclusive, [question.name for question in self.questions])

    @classmethod
    def infer(
        cls,
        table: Any,
        *,
        targets: Iterable[str] = (),
        missing: Iterable[Level] = (),
        declined: Iterable[Level] = (),
        codebook: str | PathLike[str] | None = None,
        survival: Mapping[str, SurvivalColumns] | None = None,
    ) -> "Schema":
        """Infer the kind, levels and range of every column from its name and its values.

        The schema's `notes` say which guesses are uncertain, and which values may be codes for missing
        values. Such codes are only proposed: name them here, or in the schema, to read them as missing.

        Args:
            table: a pandas, polars or Arrow table, a NumPy array, or the path of a CSV, TSV, Parquet or
                Excel file. A large Parquet file is read in one pass and never as a whole.
            targets: variables that one may want to predict. They are modelled even if they look like
                an identifier.
            missing: codes that mean "missing" in every column, such as -99.
            declined: codes that mean "declined to answer" in every column, such as "refused".
            codebook: a file that describes the columns: a REDCap data dictionary, an XLSForm, a FHIR
                Questionnaire, or a table of variables, labels and codes. Its texts, levels, ranges and
                conditions come before what is inferred. The notes list what cannot be represented.
            survival: targets that are the time until an event, by name: the columns of the time and of the
                event, such as ``{"death": ("days", "died")}``, or a `Survival`.
        """
        from eddi.table import infer, streaming

        rows = streaming.open_table(table)
        outcomes = survival or {}
        names = tuple(name for name in targets if name not in outcomes)
        missing, declined = tuple(missing), tuple(declined)
        if isinstance(rows, streaming.ParquetStream):
            batches = rows.iter_batches()
            schema = infer.infer_stream(
                rows.columns, batches, targets=names, missing=missing, declined=declined
            )
        else:
            schema = infer.infer(rows, targets=names, missing=missing, declined=declined)
        schema = schema if codebook is None else infer.add_codebook(schema, rows, codebook)
        return add_survival(schema, outcomes)

    @classmethod
    def from_toml(cls, source: str | PathLike[str]) -> "Schema":
        """Read a schema from a TOML file, or from TOML text with at least one line break."""
        from eddi.table import schema_file

        return schema_file.read(source)

    def to_toml(self, path: str | PathLike[str] | None = None) -> str:
        """Return the schema as TOML for editing by hand, and write it to ``path`` if one is given."""
        from eddi.table import schema_file

        return schema_file.write(self, path)

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> "Schema":
        """Return the schema that `to_document` describes."""
        from eddi.table import schema_file

        return schema_file.from_document(document)

    def to_document(self) -> dict[str, Any]:
        """Return the schema as plain dictionaries, lists and scalars, for JSON."""
        from eddi.table import schema_file

        return schema_file.to_document(self)

    def __repr__(self) -> str:
        parts = [f"{len(self.variables)} variables", f"{len(self.questions)} questions"]
        parts += [f"{len(self.set_aside)} columns set aside"] if self.set_aside else []
        parts += [f"targets: {', '.join(self.targets)}"] if self.targets else []
        return f"<Schema: {', '.join(parts)}>"

    def _repr_html_(self) -> str:
        rows = [
            (v.name, v.kind, v.describe_values(), question.text, f"{question.cost:g}")
            for question in self.questions
            for v in map(self.__getitem__, question.reveals)
        ]
        return format_html_table(repr(self), ("variable", "kind", "values", "question", "cost"), rows)

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """The codes of the languages in which it has texts: its own if it is known, then the others."""
        items: tuple[Variable | Question, ...] = (*self.variables, *self.explicit_questions)
        codes = (code for item in items for code in item.translations)
        return tuple(dict.fromkeys((self.language, *codes) if self.language else codes))

    def in_language(self, code: str) -> "Schema":
        """Return a copy with the texts in a language; those without a translation stay."""
        if code not in self.languages or code == self.language:
            return self
        return replace(
            self,
            variables=tuple(variable.in_language(code) for variable in self.variables),
            explicit_questions=tuple(q.in_language(code) for q in self.explicit_questions),
        )

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the variables, in order."""
        return tuple(variable.name for variable in self.variables)

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        """All questions: the explicit ones, then one for each other variable, except survival variables."""
        revealed = {name for question in self.explicit_questions for name in question.reveals}
        implicit = (
            Question(variable.name, (variable.name,), never=bool(variable.indicates))
            for variable in self.variables
            if variable.survival is None and variable.name not in revealed
        )
        return (*self.explicit_questions, *implicit)

    @cached_property
    def costs(self) -> NDArray[np.float64]:
        """The cost of each question, in the order of `questions`."""
        return np.array([question.cost for question in self.questions])  # [questions]

    @cached_property
    def reveals_mask(self) -> NDArray[np.bool_]:
        """Which question reveals which variable, as a read-only mask [questions, variables]."""
        mask = np.zeros((len(self.questions), len(self.variables)), dtype=np.bool_)
        for row, question in zip(mask, self.questions, strict=True):
            known = (self.indicators[name] for name in question.reveals if name in self.indicators)
            row[self.positions((*question.reveals, *known))] = True
        mask.setflags(write=False)
        return mask

    @cached_property
    def indicators(self) -> dict[str, str]:
        """The names of the indicators, by the variable whose presence they tell."""
        return {v.indicates: v.name for v in self.variables if v.indicates}

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name: position for position, name in enumerate(self.names)}

    def __getitem__(self, name: str) -> Variable:
        return self.variables[self.position(name)]

    def position(self, name: str) -> int:
        """Return the position of the variable ``name`` among the columns of `Evidence`."""
        self._check_variable(name)
        return self._positions[name]

    def positions(self, names: Iterable[str]) -> list[int]:
        """Return the position of each of these variables."""
        return [self.position(name) for name in names]

    def question(self, name: str) -> Question:
        """Return the question called ``name``."""
        for question in self.questions:
            if question.name == name:
                return question
        names = [question.name for question in self.questions]
        hint = suggest_name(name, names)
        raise SchemaError(f"there is no question {name!r}.{hint} Questions are: {format_names(names)}.")

    def options(self, question: Question) -> dict[str, str]:
        """Return the option that each variable of a multi-select question stands for.

        It is empty for other questions. The variables of a multi-select question come from one column,
        whose cells list options, or each has a column of its own.
        """
        sources = {name: source for name in question.reveals if (source := self[name].source)}
        columns = {source.column if source.is_list else "" for source in sources.values()}
        if len(columns) != 1 or len(sources) == 1 or len(sources) < len(question.reveals):
            return {}
        return {name: source.option for name, source in sources.items()}

    def target_names(self, target: str | Sequence[str] | None) -> tuple[str, ...]:
        """Return ``target`` as a tuple of existing names. None means the targets of the schema."""
        if target is None:
            return self.targets
        names = (target,) if isinstance(target, str) else tuple(target)
        for name in names:
            if name not in self._positions:
                raise TargetError(f"the target {name!r} is {self._explain_absence(name)}")
        return names

    def with_question(
        self,
        name: str,
        *,
        reveals: Sequence[str] | str | None = None,
        text: str = "",
        cost: float = 1.0,
        always: bool = False,
        requires: Mapping[str, Level | tuple[Level, ...]] | str | Sequence[str] | None = None,
        never: bool = False,
        help: str = "",
        translations: Mapping[str, QuestionTexts] | None = None,
        section: str = "",
    ) -> "Schema":
        """Return a copy with this question. It replaces an explicit question of the same name.

        ``reveals=None`` means the variable of the same name. See `Question` for the other arguments.
        """
        revealed = name if reveals is None else reveals
        names = (revealed,) if isinstance(revealed, str) else tuple(revealed)
        conditions, texts = parse_requires(requires or {}), translations or {}
        question = Question(name, names, text, cost, always, conditions, never, help, texts, section)
        other_questions = [other for other in self.explicit_questions if other.name != name]
        return replace(self, explicit_questions=(*other_questions, question))

    def with_variable(self, variable: Variable) -> "Schema":
        """Return a copy in which ``variable`` replaces the variable or set-aside column of its name."""
        set_aside = tuple(column for column in self.set_aside if column.name != variable.name)
        if variable.name in self._positions:
            variables = tuple(variable if v.name == variable.name else v for v in self.variables)
        else:
            variables = (*self.variables, variable)
        notes = tuple(note for note in self.notes if note.column != variable.column)
        schema = replace(self, variables=variables, set_aside=set_aside, notes=notes)
        return schema if self.time is None else schema.with_time(self.time)

    def with_time(self, time: TimeSection) -> "Schema":
        """Return a copy whose repeated variables have one variable per window of age."""
        variables, questions = add_windows(time, self.variables, self.explicit_questions)
        return replace(self, variables=variables, explicit_questions=questions, time=time)

    def without(
        self,
        *names: str,
        reason: str = "set aside by hand",
        role: Literal["identifier", "ignored"] = "ignored",
    ) -> "Schema":
        """Return a copy in which these variables are set aside, that is, not modelled."""
        for name in names:
            self._check_variable(name, "cannot set aside")
        names = (*names, *(self.indicators[name] for name in names if name in self.indicators))
        if self.time is not None:
            names = (*names, *(derived for name in names for derived in self.time.family(name)))
        questions = tuple(
            replace(q, reveals=remaining)
            for q in self.explicit_questions
            if (remaining := tuple(name for name in q.reveals if name not in names))
        )
        removed = {q.name for q in self.explicit_questions} - {q.name for q in questions} | set(names)
        groups = (tuple(name for name in group if name not in removed) for group in self.exclusive)
        used = {question.section for question in questions}
        return Schema(
            variables=tuple(v for v in self.variables if v.name not in names),
            explicit_questions=questions,
            targets=tuple(name for name in self.targets if name not in names),
            set_aside=(*self.set_aside, *(SetAside(name, reason, role) for name in names)),
            missing=self.missing,
            declined=self.declined,
            stop=self.stop,
            sections=tuple(section for section in self.sections if section.name in used),
            exclusive=tuple(group for group in groups if len(group) > 1),
            exploration=self.exploration,
            beliefs=tuple(belief for belief in self.beliefs if belief.variable not in names),
            relations=tuple(r for r in self.relations if not {r.of, r.to} & set(names)),
            notes=tuple(note for note in self.notes if note.column not in names),
            language=self.language,
            time=None if self.time is None else self.time.without(names),
        )

    def _check_variable(self, name: str, context: str = "") -> None:
        if name not in self._positions:
            subject = f"{context} {name!r}, which" if context else repr(name)
            raise SchemaError(f"{subject} is {self._explain_absence(name)}")

    def _explain_absence(self, name: str) -> str:
        for column in self.set_aside:
            if column.name == name:
                return (
                    f"set aside and not modelled ({column.reason}). "
                    "Give it a kind in the schema to model it."
                )
        hint = suggest_name(name, self.names)
        return f"not a variable of this schema.{hint} Variables are: {format_names(self.names)}."
