"""Outcomes that analysts record for questionnaires that they may edit, noted in the activity log."""

from eddi.service.analyst.models.published_questionnaire import PublishedQuestionnaire
from eddi.service.analyst.workshop import Workshop
from eddi.service.interviews.outcomes.outcome import Outcome
from eddi.service.interviews.outcomes.outcome_file import ImportReport, import_outcomes
from eddi.service.interviews.outcomes.recording import OutcomeRecorder


class OutcomeRecords:
    """Records and imports outcomes of the questionnaires of a workshop.

    An ``AccessDeniedError`` is raised if the questionnaire belongs to somebody else.
    """

    def __init__(self, workshop: Workshop) -> None:
        self.workshop = workshop
        self.recorder = OutcomeRecorder(workshop.publisher.store, workshop.catalogue)

    def record(
        self, name: str, person: str, values: object, *, by: str, confirm: bool = False
    ) -> Outcome | None:
        """Record the outcome of one interview, or withdraw it if ``values`` is None.

        Raises:
            PersonNotFoundError: nobody of this name has answered.
            AnswerError: the target cannot take this value.
        """
        item = self.workshop.publisher.get_for_editor(name, by)
        request = self.recorder.record(item.key, person, values, by=by, confirm=confirm)
        self._log(item, int(request.is_stored), by=by)
        return request.outcome

    def import_file(self, name: str, content: bytes, *, by: str, confirm: bool = False) -> ImportReport:
        """Store the outcomes of a CSV file.

        Raises:
            OutcomeFileError: the file cannot be read.
        """
        item = self.workshop.publisher.get_for_editor(name, by)
        report = import_outcomes(self.recorder, item.key, content, by=by, confirm=confirm)
        self._log(item, report.n_stored, by=by)
        return report

    def _log(self, item: PublishedQuestionnaire, n_people: int, *, by: str) -> None:
        if n_people:
            self.workshop.activity.record(item.key, "outcomes-recorded", {"people": n_people}, by=by)
