"""Which interview a named request began, so that the same request sent again begins no other.

The claim is made before the interview, in a stream of its own: whoever was cut off between the two goes
on with the same interview.
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
    """What a request asked for when it first came, and the interview that is its own."""

    stream: str
    interview: str  # its key; "" where it was forgotten
    wanted: Mapping[str, Any]


def claimed(store: Store, request: str, wanted: Mapping[str, Any]) -> Claim:
    """The claim of the request of this name, made now if it is new.

    Raises:
        StreamForgottenError: the interview it began was forgotten.
    """
    stream = f"opening/{hashlib.sha256(request.encode()).hexdigest()}"  # the name is a secret
    key = secrets.token_hex(16)
    with suppress(StoreConflict):  # then it was claimed before
        store.append(stream, "claimed", {"interview": key, "wanted": dict(wanted)}, after=0)
        return Claim(stream, key, wanted)
    facts = store.read(stream)[0].facts
    return Claim(stream, facts.get("interview", ""), facts.get("wanted", wanted))
