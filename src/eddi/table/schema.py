"""What the data is: ordered variables, the questions that reveal them, and what was set aside."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from eddi.errors import SchemaError, TargetError
from eddi.table.question import Question
from eddi.table.variable import Level, Variable, level_position


@dataclass(frozen=True)
class SetAside:
    """A column that is not modelled, and why."""

    name: str
    reason: str
    role: Literal["identifier", "ignored"] = "ignored"


@dataclass(frozen=True)
class Schema:
    """Ordered variables, the questions that reveal them, target candidates, and what is set aside.

    A variable that no explicit question reveals is asked by a question of its own name.
    """

    variables: tuple[Variable, ...]
    explicit_questions: tuple[Question, ...] = ()
    targets: tuple[str, ...] = ()
    set_aside: tuple[SetAside, ...] = ()

    def __post_init__(self) -> None:
        for field in ("variables", "explicit_questions", "targets", "set_aside"):
            object.__setattr__(self, field, tuple(getattr(self, field)))
        # Identifiers first, as a schema file lists them, so that a file gives back an equal schema.
        aside = sorted(self.set_aside, key=lambda one: one.role != "identifier")
        object.__setattr__(self, "set_aside", tuple(aside))
        _refuse_twice("variable", [*self.names, *(aside.name for aside in self.set_aside)])
        _refuse_twice("question", [question.name for question in self.questions])
        for question in self.explicit_questions:
            for name in question.reveals:
                self._require(name, f"question {question.name!r} reveals")
            for name, levels in question.requires.items():
                self._require(name, f"question {question.name!r} requires")
                for level in levels:
                    _check_required(question.name, self[name], level)
        for name in self.targets:
            self._require(name, "targets name")

    @classmethod
    def infer(cls, table: Any, *, targets: Iterable[str] = ()) -> "Schema":
        """The schema a careful person would write for ``table``.

        Args:
            table: pandas, polars or pyarrow; a NumPy array; or the path of a CSV, TSV, Parquet or
                Excel file; a large Parquet file is read in one pass and never held whole.
            targets: variables one may want to know; kept even where they look like an identifier.
        """
        from eddi.table import infer, streaming

        rows = streaming.opened(table)
        if isinstance(rows, streaming.Stream):
            return infer.infer_stream(rows.columns, rows.batches(), targets=tuple(targets))
        return infer.infer(rows, targets=tuple(targets))

    @classmethod
    def from_toml(cls, source: str | PathLike[str]) -> "Schema":
        """Read a schema from a TOML file, or from TOML text."""
        from eddi.table import schema_file

        return schema_file.read(source)

    def to_toml(self, path: str | PathLike[str] | None = None) -> str:
        """The schema as TOML, made for editing by hand; written to ``path`` if one is given."""
        from eddi.table import schema_file

        return schema_file.write(self, path)

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> "Schema":
        """The schema that `to_document` described."""
        from eddi.table import schema_file

        return schema_file.from_document(document)

    def to_document(self) -> dict[str, Any]:
        """The schema as plain dictionaries, lists and scalars, for JSON."""
        from eddi.table import schema_file

        return schema_file.to_document(self)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The variables' names, in order."""
        return tuple(variable.name for variable in self.variables)

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        """Every question: the explicit ones, then one for each variable they leave out."""
        covered = {name for question in self.explicit_questions for name in question.reveals}
        rest = (Question(name, (name,)) for name in self.names if name not in covered)
        return (*self.explicit_questions, *rest)

    @cached_property
    def costs(self) -> NDArray[np.float64]:
        """What each question costs, in the order of `questions`."""
        return np.array([question.cost for question in self.questions])  # [questions]

    @cached_property
    def reveals_matrix(self) -> NDArray[np.bool_]:
        """Which question reveals which variable [questions, variables]; read-only."""
        matrix = np.zeros((len(self.questions), len(self.variables)), dtype=bool)
        for place, question in enumerate(self.questions):
            matrix[place, self.positions(question.reveals)] = True
        matrix.flags.writeable = False
        return matrix

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name: position for position, name in enumerate(self.names)}

    def __getitem__(self, name: str) -> Variable:
        return self.variables[self.position(name)]

    def position(self, name: str) -> int:
        """Where the variable ``name`` stands among the columns of evidence."""
        self._require(name, "asked for")
        return self._positions[name]

    def positions(self, names: Iterable[str]) -> list[int]:
        return [self.position(name) for name in names]

    def question(self, name: str) -> Question:
        """The question called ``name``."""
        for question in self.questions:
            if question.name == name:
                return question
        raise SchemaError(f"there is no question {name!r}. Questions are: {_listing(self.questions)}.")

    def target_names(self, target: str | Sequence[str] | None) -> tuple[str, ...]:
        """``target`` as a tuple of names, checked; None means the schema's own targets."""
        if target is None:
            return self.targets
        names = (target,) if isinstance(target, str) else tuple(target)
        for name in names:
            if name not in self._positions:
                raise TargetError(f"the target {name!r} is {self._absence(name)}")
        return names

    def with_question(
        self,
        name: str,
        *,
        reveals: Sequence[str] | str | None = None,
        text: str = "",
        cost: float = 1.0,
        always: bool = False,
        requires: Mapping[str, Level | tuple[Level, ...]] | None = None,
    ) -> "Schema":
        """A copy in which the question ``name`` reveals these variables (its namesake if left out).

        See `Question` for what the others mean.
        """
        revealed = name if reveals is None else reveals
        names = (revealed,) if isinstance(revealed, str) else tuple(revealed)
        question = Question(name, names, text, cost, always, dict(requires or {}))  # type: ignore[arg-type]
        kept = [other for other in self.explicit_questions if other.name != name]
        return replace(self, explicit_questions=(*kept, question))

    def with_variable(self, variable: Variable) -> "Schema":
        """A copy in which ``variable`` replaces the variable or set-aside column of its name."""
        aside = tuple(one for one in self.set_aside if one.name != variable.name)
        if variable.name in self._positions:
            swapped = tuple(variable if v.name == variable.name else v for v in self.variables)
        else:
            swapped = (*self.variables, variable)
        return replace(self, variables=swapped, set_aside=aside)

    def without(
        self,
        *names: str,
        reason: str = "set aside by hand",
        role: Literal["identifier", "ignored"] = "ignored",
    ) -> "Schema":
        """A copy in which these variables are set aside and never modelled."""
        for name in names:
            self._require(name, "set aside")
        return Schema(
            variables=tuple(v for v in self.variables if v.name not in names),
            explicit_questions=tuple(
                replace(q, reveals=kept)
                for q in self.explicit_questions
                if (kept := tuple(name for name in q.reveals if name not in names))
            ),
            targets=tuple(name for name in self.targets if name not in names),
            set_aside=(*self.set_aside, *(SetAside(name, reason, role) for name in names)),
        )

    def _require(self, name: str, context: str) -> None:
        if name not in self._positions:
            raise SchemaError(f"{context} {name!r}, which is {self._absence(name)}")

    def _absence(self, name: str) -> str:
        for aside in self.set_aside:
            if aside.name == name:
                return (
                    f"set aside and not modelled ({aside.reason}). "
                    "Give it a kind in the schema to model it."
                )
        return f"not a variable of this schema. Variables are: {_listing(self.variables)}."


def _check_required(question: str, variable: Variable, level: Level) -> None:
    if not variable.kind.has_levels or level_position(variable.levels, level) is None:
        known = ", ".join(map(str, variable.levels)) or f"it is {variable.kind} and has none"
        raise SchemaError(
            f"question {question!r} requires {variable.name!r} to be {level!r}, "
            f"which is not one of its levels ({known})."
        )


def _listing(named: Sequence[Variable] | Sequence[Question]) -> str:
    shown = [repr(one.name) for one in named[:12]]
    more = f" and {len(named) - 12} more" if len(named) > 12 else ""
    return (", ".join(shown) or "none") + more


def _refuse_twice(what: str, names: Sequence[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise SchemaError(f"the {what} {name!r} is named twice. Give each its own name.")
        seen.add(name)
