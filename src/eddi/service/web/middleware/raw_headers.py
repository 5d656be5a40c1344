"""Reads and adds headers of ASGI messages without an object for each of them."""

from collections.abc import Iterable, Mapping

from starlette.types import Message, Scope

RawHeader = tuple[bytes, bytes]


def get_header(scope: Scope, name: bytes) -> str | None:
    """Return the first header of a request with this name, which is in lower case."""
    for key, value in scope["headers"]:
        if key == name:
            return bytes(value).decode("latin-1")
    return None


def add_missing_headers(message: Message, headers: Iterable[RawHeader]) -> None:
    """Add those headers to the start of a response that it does not have yet."""
    own = list(message.get("headers", ()))
    names = {key.lower() for key, _ in own}
    message["headers"] = [*own, *(header for header in headers if header[0] not in names)]


def to_raw(headers: Mapping[str, str]) -> list[RawHeader]:
    """Return headers as ASGI messages have them."""
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
