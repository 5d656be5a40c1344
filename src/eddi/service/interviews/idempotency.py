"""Idempotent start of interviews: a repeated request returns the interview it started the first time.

The idempotency key is claimed in a stream of its own before the interview is written. If the server is
interrupted between the two, a retry continues with the interview key that was claimed.
"""

import hashlib
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from eddi.store.base import Store, StoreConflict


@dataclass(frozen=True)
class Claim:
    """The interview that belongs to an idempotency key.

    Args:
        stream: where the claim is stored.
        interview_key: key of the interview; "" if it was forgotten.
        parameters: the parameters of the first request with this idempotency key.
    """

    stream: str
    interview_key: str
    parameters: Mapping[str, Any]


def claim_interview_key(store: Store, idempotency_key: str, parameters: Mapping[str, Any]) -> Claim:
    """Return the claim of an idempotency key, and make it if the key is new.

    Raises:
        StreamForgottenError: the interview that the key started was forgotten.
    """
    # The key itself is secret: whoever repeats it receives the interview's key.
    stream = f"opening/{hashlib.sha256(idempotency_key.encode()).hexdigest()}"
    interview_key = secrets.token_hex(16)
    with suppress(StoreConflict):  # the idempotency key was claimed before
        facts = {"interview": interview_key, "wanted": dict(parameters)}
        store.append(stream, "claimed", facts, after=0)
        return Claim(stream, interview_key, parameters)
    stored = store.read(stream)[0].facts
    return Claim(stream, stored.get("interview", ""), stored.get("wanted", parameters))
