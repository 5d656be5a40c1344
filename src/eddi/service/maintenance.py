"""Maintenance of the store, on a thread of the server.

Interviews are erased some days after their last change, if the operator wants that (EDDI_KEEP_DAYS). What
was erased while somebody read the store is removed from its files as soon as possible.
"""

import logging
import threading
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from eddi.service import logs
from eddi.service.errors import InterviewNotFoundError
from eddi.service.interviews.interview_service import InterviewService
from eddi.store.base import StreamForgottenError

_log = logging.getLogger(__name__)

PERIOD_S = 10.0  # between attempts to scrub the files of the store
RETENTION = "EDDI_KEEP_DAYS"  # recorded as the reason of the erasure
RETENTION_PERIOD_S = 3600.0  # between searches for interviews that are too old


class Maintenance:
    """Erases old interviews, and scrubs the files of the store.

    Args:
        service: the interviews.
        keep_days: days after the last change until an interview is erased; 0 keeps all interviews.
    """

    def __init__(self, service: InterviewService, *, keep_days: float) -> None:
        self.service, self.keep_days = service, keep_days
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="maintenance", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread, if it was started."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def erase_old_interviews(self) -> int:
        """Erase the interviews that were not changed for `keep_days`; return their number."""
        if not self.keep_days:
            return 0
        before = (datetime.now(UTC) - timedelta(days=self.keep_days)).isoformat(timespec="microseconds")
        store, n_erased = self.service.store, 0
        for stream in store.idle_streams("interview/", before):
            if self._stop.is_set():
                break
            with suppress(InterviewNotFoundError, StreamForgottenError):  # another server was first
                self.service.forget(stream.removeprefix("interview/"), by=RETENTION)
                n_erased += 1
        for stream in store.idle_streams("opening/", before):
            store.forget(stream, by=RETENTION)
        return n_erased

    def _run(self) -> None:
        n_periods = 0
        while not self._stop.is_set():
            try:
                self.service.store.scrub()
                if n_periods % round(RETENTION_PERIOD_S / PERIOD_S) == 0:
                    self._apply_retention()
            except Exception as error:  # the database may be available again next time
                _log.error("maintenance", extra={logs.FIELDS: {"error": logs.describe_error(error)}})
            n_periods += 1
            self._stop.wait(PERIOD_S)

    def _apply_retention(self) -> None:
        n_erased = self.erase_old_interviews()
        if n_erased:
            fields = {"interviews": n_erased, "keep_days": self.keep_days}
            _log.info("old interviews erased", extra={logs.FIELDS: fields})
