"""Parse the conditions of REDCap (branching logic) and XLSForm (XPath). Nothing is evaluated.

Both have the same structure: comparisons of entries with constants, joined by "and" and "or". Other parts,
such as arithmetic and most functions, are kept as text that cannot be represented.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from eddi.table.codebooks.condition import (
    All,
    AnyOf,
    Condition,
    Constant,
    Opaque,
    Test,
    negate,
)

Result = TypeVar("Result")

MAX_CHARS = 20_000
MAX_DEPTH = 40
OPERATORS = {"=": "=", "==": "=", "<>": "!=", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
MIRRORED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
QUOTES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u00a0": " "})
NOT_SUPPORTED = "it uses arithmetic or a function that a schema does not have"

_COMMON_TOKENS = (
    r"(?P<text>'[^']*'|\"[^\"]*\")"
    r"|(?P<number>\d+(?:\.\d*)?|\.\d+)"
    r"|(?P<operator><>|!=|<=|>=|==|=|<|>)"
    r"|(?P<symbol>[(),])"
    r"|(?P<word>[A-Za-z_][\w:.-]*)"
    r"|(?P<arithmetic>[-+*/^&|%])"
)
REDCAP_TOKENS = re.compile(
    r"\s*(?:(?P<field>(?:\[[^\[\]]*\])+)|" + _COMMON_TOKENS + r"|(?P<other>\S))", re.DOTALL
)
XPATH_TOKENS = re.compile(
    r"\s*(?:(?P<field>\$\{[^{}]*\}|(?:\.\.?|/[\w:-]+)(?:/[\w:.-]+)+|\.(?![\d.]))|"
    + _COMMON_TOKENS
    + r"|(?P<other>\S))",
    re.DOTALL,
)


class ExpressionError(ValueError):
    """A text is not a condition. Readers of codebooks report it as a loss."""


@dataclass(frozen=True)
class Reference:
    """The value of an entry, or whether one of its choices is selected."""

    name: str
    code: str = ""


@dataclass(frozen=True)
class Literal:
    """A constant."""

    value: str


@dataclass(frozen=True)
class Unknown:
    """A value that cannot be computed from a schema."""

    reason: str = NOT_SUPPORTED


@dataclass(frozen=True)
class Length:
    """The length of a text, or the number of selected choices."""

    name: str


Operand = Reference | Literal | Length | Unknown
Value = Operand | Condition


@dataclass(frozen=True)
class Token:
    """A part of an expression: its kind, its text, and where it is."""

    kind: str
    text: str
    start: int
    end: int


@dataclass
class Parser:
    """Parses one condition.

    Args:
        text: the condition.
        pattern: the tokens of the language.
        read_field: the operand that a token of the kind "field" stands for.
    """

    text: str
    pattern: re.Pattern[str]
    read_field: Callable[[str], Operand]
    tokens: list[Token] = field(default_factory=list)
    place: int = 0
    depth: int = 0

    def parse(self) -> Condition:
        """Return the condition.

        Raises:
            ExpressionError: the text is not a condition, or it is too long or too deep.
        """
        if len(self.text) > MAX_CHARS:
            raise ExpressionError(f"it has more than {MAX_CHARS:,} characters")
        self.text = self.text.translate(QUOTES)
        self.tokens = list(_split(self.pattern, self.text))
        condition = self._read_any()
        if self.place < len(self.tokens):
            raise ExpressionError(f"{self.tokens[self.place].text!r} is not expected there")
        return condition

    def _read_any(self) -> Condition:
        parts = [self._read_all()]
        while self._takes_word("or"):
            parts.append(self._read_all())
        return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))

    def _read_all(self) -> Condition:
        parts = [self._read_comparison()]
        while self._takes_word("and"):
            parts.append(self._read_comparison())
        return parts[0] if len(parts) == 1 else All(tuple(parts))

    def _read_comparison(self) -> Condition:
        start = self.place
        left = self._read_sum()
        token = self._peek()
        if token is None or token.kind != "operator":
            return self._as_condition(left, start)
        self.place += 1
        right = self._read_sum()
        return self._compare(left, OPERATORS[token.text], right, start)

    def _read_sum(self) -> Value:
        """Return an operand; one that has arithmetic is unknown."""
        value = self._read_operand()
        while (token := self._peek()) is not None and (
            token.kind == "arithmetic" or token.text in ("div", "mod")
        ):
            self.place += 1
            self._read_operand()
            value = Unknown()
        return value

    def _read_operand(self) -> Value:
        token = self._peek()
        if token is None:
            raise ExpressionError("it ends too early")
        self.place += 1
        if token.kind == "field":
            return self.read_field(token.text)
        if token.kind == "text":
            return Literal(token.text[1:-1].strip())
        if token.kind == "number":
            return Literal(token.text)
        if token.text in ("-", "+"):
            return self._read_signed(token.text)
        if token.text == "(":
            return self._read_group()
        if token.kind == "word":
            return self._read_word(token)
        raise ExpressionError(f"{token.text!r} is not expected there")

    def _read_signed(self, sign: str) -> Operand:
        value = self._nest(self._read_operand)
        if isinstance(value, Literal) and sign == "-":
            return Literal(f"-{value.value}")
        return value if isinstance(value, Literal) else Unknown()

    def _read_group(self) -> Value:
        """Return what is in parentheses: a condition, or an operand."""
        start = self.place
        value: Value = self._nest(self._read_any)
        self._expect(")")
        inner = self.tokens[start : self.place - 1]
        is_operand = len(inner) == 1 and inner[0].kind in ("field", "text", "number")
        if is_operand:
            self.place, end = start, self.place
            value = self._read_operand()
            self.place = end
        return value

    def _read_word(self, token: Token) -> Value:
        following = self._peek()
        if following is None or following.text != "(":
            return Literal(token.text)  # a value without quotes
        self.place += 1
        arguments = self._nest(self._read_arguments)
        return self._call(token.text.lower(), arguments)

    def _read_arguments(self) -> list[Value]:
        arguments: list[Value] = []
        if self._takes(")"):
            return arguments
        while True:
            start = self.place
            value = self._read_sum()
            token = self._peek()
            if token is None or token.text not in (",", ")"):
                self.place = start
                value = self._read_any()
            arguments.append(value)
            if self._takes(")"):
                return arguments
            self._expect(",")

    def _call(self, name: str, arguments: list[Value]) -> Value:
        match name, arguments:
            case ("true", []) | ("false", []):
                return Constant(name == "true")
            case ("not", [value]) if not isinstance(value, Literal | Unknown):
                start = self.place - 2
                return negate(self._as_condition(value, start))
            case ("selected", [Reference(name=entry), Literal(value=code)]):
                return Test(entry, "=", "1", code)
            case ("string-length" | "length" | "count-selected", [Reference(name=entry)]):
                return Length(entry)
            case ("number" | "int" | "string" | "normalize-space", [Reference() | Literal() as value]):
                return value
            case _:
                return Unknown(f"it uses {name}(), which a schema does not have")

    def _compare(self, left: Value, operator: str, right: Value, start: int) -> Condition:
        if isinstance(left, Literal) and isinstance(right, Reference):
            left, operator, right = right, MIRRORED[operator], left
        if isinstance(left, Constant | Test) and isinstance(right, Constant | Literal):
            return self._compare_truth(left, operator, right, start)
        if isinstance(left, Reference) and isinstance(right, Literal):
            return Test(left.name, operator, right.value, left.code)
        if isinstance(left, Length) and isinstance(right, Literal):
            return self._compare_length(left.name, operator, right.value, start)
        if isinstance(left, Literal) and isinstance(right, Literal) and operator in ("=", "!="):
            return Constant((left.value == right.value) == (operator == "="))
        if isinstance(left, Reference) and isinstance(right, Reference):
            return self._opaque(start, "it compares two answers")
        unknown = next((value for value in (left, right) if isinstance(value, Unknown)), Unknown())
        return self._opaque(start, unknown.reason)

    def _compare_truth(
        self, condition: Constant | Test, operator: str, value: Constant | Literal, start: int
    ) -> Condition:
        """Return the condition that another one is true or false, as in "selected(...) = true()"."""
        text = str(value) if isinstance(value, Constant) else value.value
        truth = {"true": True, "1": True, "false": False, "0": False}.get(text.lower())
        if truth is None or operator not in ("=", "!="):
            return self._opaque(start, NOT_SUPPORTED)
        return condition if truth == (operator == "=") else negate(condition)

    def _compare_length(self, name: str, operator: str, number: str, start: int) -> Condition:
        """Return whether there is an answer, which is what a length above 0 means."""
        if (operator, number) in ((">", "0"), (">=", "1"), ("!=", "0")):
            return Test(name, "!=", "")
        if (operator, number) in (("=", "0"), ("<", "1"), ("<=", "0")):
            return Test(name, "=", "")
        return self._opaque(start, "it depends on the length of a text or list")

    def _as_condition(self, value: Value, start: int) -> Condition:
        """Return a value that stands alone as a condition."""
        if isinstance(value, Reference):
            return Test(value.name, "=", "1", value.code) if value.code else Test(value.name, "!=", "")
        if isinstance(value, Literal):
            return Constant(value.value not in ("", "0"))
        if isinstance(value, Length):
            return Test(value.name, "!=", "")
        return self._opaque(start, value.reason) if isinstance(value, Unknown) else value

    def _opaque(self, start: int, reason: str) -> Opaque:
        first, last = self.tokens[max(start, 0)], self.tokens[self.place - 1]
        return Opaque(self.text[first.start : last.end], reason)

    def _nest(self, read: Callable[[], Result]) -> Result:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ExpressionError(f"it has more than {MAX_DEPTH} nested parentheses")
        result = read()
        self.depth -= 1
        return result

    def _peek(self) -> Token | None:
        return self.tokens[self.place] if self.place < len(self.tokens) else None

    def _takes(self, text: str) -> bool:
        token = self._peek()
        is_next = token is not None and token.text == text and token.kind != "text"
        self.place += is_next
        return is_next

    def _takes_word(self, word: str) -> bool:
        token = self._peek()
        is_next = token is not None and token.kind == "word" and token.text.lower() == word
        self.place += is_next
        return is_next

    def _expect(self, symbol: str) -> None:
        if not self._takes(symbol):
            raise ExpressionError(f"{symbol!r} is missing")


def parse_redcap(text: str) -> Condition:
    """Return the condition of a REDCap branching logic.

    Raises:
        ExpressionError: the text is not a condition.
    """
    return Parser(text, REDCAP_TOKENS, _read_redcap_field).parse()


def parse_xpath(text: str, *, current: str = ".") -> Condition:
    """Return the condition of an XPath expression of an XLSForm.

    Args:
        text: the expression.
        current: the name that "." stands for.

    Raises:
        ExpressionError: the text is not a condition.
    """
    return Parser(text, XPATH_TOKENS, lambda token: _read_xpath_field(token, current)).parse()


def _split(pattern: re.Pattern[str], text: str) -> "list[Token]":
    tokens = []
    for match in pattern.finditer(text):
        kind = match.lastgroup or "other"
        if kind == "other":
            raise ExpressionError(f"{match[kind]!r} is not part of a condition")
        tokens.append(Token(kind, match[kind], match.start(kind), match.end(kind)))
    return tokens


_REDCAP_NAME = re.compile(r"(?P<name>[a-z][a-z0-9_]*)(?:\((?P<code>[^()]*)\))?", re.IGNORECASE)


def _read_redcap_field(text: str) -> Operand:
    """Return the entry of [name], [name(code)] or [event][name]."""
    parts = text[1:-1].split("][")
    match = _REDCAP_NAME.fullmatch(parts[0].strip())
    if len(parts) > 1:
        return Unknown(f"{text} is an answer at another event")
    if match is None:
        return Unknown(f"{text} is not an answer but a smart variable")
    return Reference(match["name"].lower(), (match["code"] or "").strip())


def _read_xpath_field(text: str, current: str) -> Operand:
    """Return the entry of ${name}, ../name, /data/group/name or "."."""
    if text == ".":
        return Reference(current)
    name = text[2:-1].strip() if text.startswith("$") else text.rsplit("/", 1)[-1]
    return Reference(name.removeprefix("last-saved#")) if name else Unknown("a name is missing")
