"""Outcomes in a CSV file: a column with the interviews, and one with the values.

The file of exported answers can be completed and imported: its columns are called "person" and "outcome".
Each line is independent. Lines that cannot be used are reported with their number, and all others are
stored. Importing a file again changes nothing.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from eddi.errors import EddiError
from eddi.service.interviews.outcomes.recording import OutcomeRecorder, OutcomeRequest
from eddi.table.cells.formulas import restore
from eddi.table.files.delimited import DELIMITERS, decode

PERSON_COLUMNS = ("interview", "person")
VALUE_COLUMNS = ("value", "outcome")
TARGET_PREFIX = "outcome "  # of the column of one of several targets
MAX_MESSAGE = 300  # characters about one line
EXPECTED = (
    "Expected a column 'interview' (or 'person') with the names of the exported answers, and a column "
    "'value' (or 'outcome')."
)


class OutcomeFileError(EddiError, ValueError):
    """A file of outcomes cannot be read."""

    status = 422
    title = "These outcomes cannot be read"


@dataclass(frozen=True)
class LineError:
    """Why a line of a file was not stored."""

    line: int
    message: str


@dataclass(frozen=True)
class ImportReport:
    """What became of the lines of a file.

    Args:
        n_stored: outcomes that are new or were corrected.
        n_unchanged: outcomes that were known already.
        n_empty: lines without a value.
        errors: all other lines.
    """

    n_stored: int
    n_unchanged: int
    n_empty: int
    errors: tuple[LineError, ...]


@dataclass(frozen=True)
class _Line:
    number: int
    person: str = ""
    values: object = None
    error: str = ""


def import_outcomes(
    recorder: OutcomeRecorder, questionnaire: str, content: bytes, *, by: str, confirm: bool = False
) -> ImportReport:
    """Store the outcomes of a file.

    Args:
        recorder: stores the outcomes.
        questionnaire: the key of the questionnaire that the interviews belong to.
        content: the file.
        by: who imports it.
        confirm: whether values outside their range are known to be correct.

    Raises:
        OutcomeFileError: the file is no table, or has not the columns.
    """
    lines = list(_read_lines(content))
    filled = [line for line in lines if not line.error and line.values is not None]
    requests = [OutcomeRequest(line.person, line.values) for line in filled]
    recorder.record_all(questionnaire, requests, by=by, confirm=confirm)
    errors = [LineError(line.number, line.error) for line in lines if line.error]
    for line, request in zip(filled, requests, strict=True):
        if request.error is not None:
            errors.append(LineError(line.number, str(request.error)[:MAX_MESSAGE]))
    n_stored = sum(request.is_stored for request in requests)
    n_failed = sum(request.error is not None for request in requests)
    return ImportReport(
        n_stored=n_stored,
        n_unchanged=len(requests) - n_stored - n_failed,
        n_empty=sum(not line.error and line.values is None for line in lines),
        errors=tuple(sorted(errors, key=lambda error: error.line)),
    )


def _read_lines(content: bytes) -> Iterator[_Line]:
    text = _decode(content)
    header, _, _ = text.partition("\n")
    delimiter = max(DELIMITERS, key=header.count)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        columns = _Columns.find(next(rows, []))
        for row in rows:
            if any(map(str.strip, row)):
                yield columns.parse(rows.line_num, row)
    except csv.Error as error:
        yield _Line(rows.line_num, error=f"the rest of the file cannot be read: {error}.")


def _decode(content: bytes) -> str:
    try:
        text, _ = decode(content)
    except UnicodeError:
        raise OutcomeFileError(f"the file is not text. {EXPECTED}") from None
    return text


@dataclass(frozen=True)
class _Columns:
    """The places of the columns; the targets have names if there are several."""

    person: int
    values: dict[str, int]
    n_columns: int

    @classmethod
    def find(cls, header: Sequence[str]) -> "_Columns":
        names = [restore(name).strip() for name in header]
        places = {name.casefold(): place for place, name in enumerate(names)}
        person = next((places[name] for name in PERSON_COLUMNS if name in places), None)
        if person is None:
            raise OutcomeFileError(f"there is no column with the interviews. {EXPECTED}")
        if (single := next((places[n] for n in VALUE_COLUMNS if n in places), None)) is not None:
            return cls(person, {"": single}, len(names))
        values = {
            name[len(TARGET_PREFIX) :]: place
            for place, name in enumerate(names)
            if name.casefold().startswith(TARGET_PREFIX)
        }
        if not values:
            raise OutcomeFileError(f"there is no column with the values. {EXPECTED}")
        return cls(person, values, len(names))

    def parse(self, number: int, row: Sequence[str]) -> _Line:
        if len(row) != self.n_columns:
            message = f"the line has {len(row)} cells, and the header has {self.n_columns}."
            return _Line(number, error=message)
        cells = {name: restore(row[place]).strip() for name, place in self.values.items()}
        given: dict[str, object] = {name: cell for name, cell in cells.items() if cell}
        values = given.get("") if "" in self.values else given or None
        return _Line(number, row[self.person].strip(), values)
