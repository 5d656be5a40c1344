"""Read a codebook of any format. The content of the file determines the format, not its name."""

import json
import zipfile
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from eddi.errors import TableError
from eddi.table.codebooks import fhir_questionnaire, plain, redcap, xlsform
from eddi.table.codebooks.codebook import Codebook, CodebookError
from eddi.table.codebooks.rows import MAX_BYTES, MAX_CELLS, format_cell, read_bytes, read_lines
from eddi.table.files import spreadsheet
from eddi.table.files.limits import ReadLimits
from eddi.table.files.xls_extent import SIGNATURE

FORMATS = (
    "a REDCap data dictionary (CSV), an XLSForm (Excel), a FHIR Questionnaire (JSON), or a table with the "
    "columns variable, label and codes (CSV or Excel)"
)
LIMITS = ReadLimits(max_columns=2_000, max_cells=MAX_CELLS, max_bytes=10 * MAX_BYTES)
MAX_HEADER_LINE = 5  # a title may come before the header

Lines = Sequence[Sequence[object]]


def read_codebook(path: str | PathLike[str]) -> Codebook:
    """Read a codebook: a REDCap data dictionary, an XLSForm, a FHIR Questionnaire, or a plain table.

    Raises:
        CodebookError: the file cannot be read, or it is none of these.
        MissingExtraError: the library that reads Excel files is not installed.
    """
    file = Path(path)
    content = read_bytes(file)
    if content.startswith(SIGNATURE) or zipfile.is_zipfile(file):
        return _read_workbook(file)
    if content.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"["):
        return _read_json(content, file.name)
    lines = read_lines(content, file.name)
    return _read_stacked_form(lines) or _read_table(lines, file.name)


def _read_workbook(path: Path) -> Codebook:
    try:
        sheets = spreadsheet.read_sheets(path, LIMITS)
    except TableError as error:
        raise CodebookError(str(error)) from None
    except (OSError, zipfile.BadZipFile) as error:
        raise CodebookError(f"{path.name!r} is damaged: {error}. Save it again.") from None
    form = xlsform.find_sheets(sheets)
    if form is not None:
        return xlsform.read(form)
    for rows in sheets.values():
        lines = [row for row in rows if any(cell is not None for cell in row)]
        if (codebook := _find_table(lines)) is not None:
            return codebook
    raise _make_error(path.name)


def _read_json(content: bytes, name: str) -> Codebook:
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise CodebookError(f"{name!r} is not valid JSON: {error}.") from None
    if fhir_questionnaire.is_questionnaire(document):
        return fhir_questionnaire.read(document)
    if isinstance(document, list) and document and all(isinstance(row, Mapping) for row in document):
        lines = _documents_to_lines(document)  # the metadata of REDCap's API
        return _read_table(lines, name)
    raise _make_error(name)


def _documents_to_lines(documents: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    header = list(dict.fromkeys(str(key) for document in documents for key in document))
    rows = [[format_cell(document.get(key)) for key in header] for document in documents]
    return [header, *rows]


def _read_stacked_form(lines: Lines) -> Codebook | None:
    """Return the codebook of an XLSForm as CSV, where the first cell of a line names a sheet."""
    sheets: dict[str, list[list[str | None]]] = {}
    name = ""
    for line in lines:
        name = str(line[0]).strip().lower() or name
        sheets.setdefault(name, []).append([str(cell) or None for cell in line[1:]])
    form = xlsform.find_sheets(sheets) if len(sheets) < len(lines) else None
    return None if form is None else xlsform.read(form)


def _read_table(lines: Lines, name: str) -> Codebook:
    codebook = _find_table(lines)
    if codebook is None:
        raise _make_error(name)
    return codebook


def _find_table(lines: Lines) -> Codebook | None:
    """Return the codebook of a table whose header is one of the first lines; None if there is none."""
    for find_columns, read in ((redcap.find_columns, redcap.read), (plain.find_columns, plain.read)):
        for place, line in enumerate(lines[:MAX_HEADER_LINE]):
            header = [format_cell(cell) for cell in line]
            if find_columns(header) is not None:
                return read(header, lines[place + 1 :])
    return None


def _make_error(name: str) -> CodebookError:
    return CodebookError(f"{name!r} is not a codebook that can be read. Expected {FORMATS}.")
