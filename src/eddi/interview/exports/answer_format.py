"""The formats in which answers are exported."""

from enum import StrEnum


class AnswerFormat(StrEnum):
    """A format of exported answers."""

    REDCAP = "redcap"
    XLSFORM = "xlsform"
    FHIR = "fhir"

    @property
    def extension(self) -> str:
        """The end of the name of a file."""
        return "json" if self is AnswerFormat.FHIR else "csv"
