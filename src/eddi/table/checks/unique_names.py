"""Names must be unique within a schema."""

from collections.abc import Sequence

from eddi.errors import SchemaError


def check_unique(what: str, names: Sequence[str]) -> None:
    """Check that no name is used twice; ``what`` is said in the message.

    Raises:
        SchemaError: a name is used twice.
    """
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise SchemaError(f"the {what} name {name!r} is used twice. Names must be unique.")
        seen.add(name)
