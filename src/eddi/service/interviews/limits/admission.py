"""Who may begin an interview: the closing date, the number of respondents, and invitations."""

import threading
from contextlib import suppress
from datetime import UTC, date, datetime

from eddi.service.interviews.limits.invitations import Invitations
from eddi.service.interviews.questionnaire import Questionnaire, QuestionnaireClosedError
from eddi.store.base import Store, StoreConflict

MAX_ATTEMPTS = 100  # to take a place while others begin at the same time


class Admission:
    """Admits respondents to questionnaires within the limits of their settings.

    The places that were taken are the events of the stream ``respondents/<questionnaire>``. Only
    questionnaires with a maximum number of respondents have it. A place stays taken if an interview is
    forgotten.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self.invitations = Invitations(store)
        self._n_taken: dict[str, int] = {}  # places seen so far, by questionnaire
        self._lock = threading.Lock()

    def check(self, questionnaire: Questionnaire, *, invitation: str = "") -> None:
        """Check whether an interview could begin now.

        Raises:
            QuestionnaireClosedError: it is too late, or all places are taken.
            InvitationError: the invitation is missing, not valid, or was used.
        """
        self._check_limits(questionnaire)
        if questionnaire.settings.needs_invitation:
            self.invitations.check(questionnaire.stream_key, invitation)

    def admit(self, questionnaire: Questionnaire, *, invitation: str = "", request: str = "") -> None:
        """Admit one respondent: use the invitation and take a place.

        Args:
            questionnaire: the questionnaire.
            invitation: its token, if it needs one.
            request: names the request; a repetition may use the same invitation.

        Raises:
            QuestionnaireClosedError: it is too late, or all places are taken.
            InvitationError: the invitation is missing, not valid, or was used.
        """
        self._check_limits(questionnaire)
        key = questionnaire.stream_key
        if questionnaire.settings.needs_invitation:
            self.invitations.use(key, invitation, request=request)
        if questionnaire.settings.max_respondents:
            self._take_place(questionnaire)

    def count_taken(self, key: str) -> int:
        """Count the respondents of a questionnaire that has a maximum."""
        with self._lock:
            before = self._n_taken.get(key, 0)
            self._n_taken[key] = before + len(self.store.read(_stream(key), after=before))
            return self._n_taken[key]

    def _check_limits(self, questionnaire: Questionnaire) -> int:
        """Raise an error if a limit is reached; return the number of places that are taken."""
        settings = questionnaire.settings
        if settings.closes_on and datetime.now(UTC).date() > date.fromisoformat(settings.closes_on):
            raise QuestionnaireClosedError(f"{questionnaire.name!r} closed on {settings.closes_on}.")
        n_taken = self.count_taken(questionnaire.stream_key) if settings.max_respondents else 0
        if settings.max_respondents and n_taken >= settings.max_respondents:
            raise QuestionnaireClosedError(
                f"{questionnaire.name!r} has all of its {settings.max_respondents:,} respondents."
            )
        return n_taken

    def _take_place(self, questionnaire: Questionnaire) -> None:
        stream = _stream(questionnaire.stream_key)
        for _ in range(MAX_ATTEMPTS):
            n_taken = self._check_limits(questionnaire)
            with suppress(StoreConflict):
                self.store.append(stream, "admitted", {}, after=n_taken)
                return
        raise QuestionnaireClosedError("very many people are beginning at the same time. Try again.")


def _stream(key: str) -> str:
    return f"respondents/{key}"
