"""Who may change a questionnaire: its owner, the editors that the owner chose, and administrators.

Who publishes a questionnaire first owns it. Everybody in the workshop may see it. Owners and editors publish
versions, change settings, and see the answers. Only owners delete it and change who has access.
Administrators may do all of this with every questionnaire. One without an owner, such as the model that the
server was started with, belongs to all analysts. On a server that needs no keys, everybody may do everything.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import ClassVar

from eddi.errors import EddiError
from eddi.service.errors import N_
from eddi.service.web.api_keys import NAME_PATTERN, PUBLISHERS, Key, Keys, Role

MAX_EDITORS = 100


class AccessDeniedError(EddiError, PermissionError):
    """The questionnaire belongs to somebody else."""

    status: ClassVar[int] = 403
    title: ClassVar[str] = N_("This questionnaire belongs to somebody else")


class AccessError(EddiError, ValueError):
    """A questionnaire cannot be given to this key."""

    status: ClassVar[int] = 422
    title: ClassVar[str] = N_("Nobody has this key")


@dataclass(frozen=True)
class Access:
    """Who may change a questionnaire, as names of API keys.

    Args:
        owner: may do everything; if empty, all analysts may.
        editors: may publish versions, change settings, and see the answers.
    """

    owner: str = ""
    editors: tuple[str, ...] = ()

    @classmethod
    def of_author(cls, by: str) -> "Access":
        """The access to a questionnaire that was published by ``by``, the author of an event."""
        return cls(by if NAME_PATTERN.fullmatch(by) else "")


class Permissions:
    """Decides who may do what, by the name of the API key with which a request was sent."""

    def __init__(self, keys: Keys) -> None:
        self.keys = keys

    def may_edit(self, access: Access, by: str) -> bool:
        """Whether ``by`` may publish versions, change settings, and see the answers."""
        return by in access.editors or self.may_manage(access, by)

    def may_manage(self, access: Access, by: str) -> bool:
        """Whether ``by`` may also delete the questionnaire and change who has access."""
        if access.owner in ("", by) or not NAME_PATTERN.fullmatch(by):
            return True  # without a key: the server itself, or a server that needs none
        key = self.keys.find(by)
        return key is not None and key.role is Role.ADMINISTRATOR

    def check_edit(self, name: str, access: Access, by: str) -> None:
        """Raise an `AccessDeniedError` unless ``by`` may edit the questionnaire ``name``."""
        if not self.may_edit(access, by):
            raise AccessDeniedError(
                f"{name!r} belongs to {self.label(access.owner)}. Ask them or an administrator for access, "
                "or publish under another name."
            )

    def check_ownership(self, name: str, access: Access, by: str) -> None:
        """Raise an `AccessDeniedError` unless ``by`` owns the questionnaire ``name``."""
        if not self.may_manage(access, by):
            raise AccessDeniedError(
                f"{name!r} belongs to {self.label(access.owner)}. Only they and administrators may delete it "
                "or change who has access."
            )

    def check_holders(self, access: Access) -> None:
        """Raise an `AccessError` unless the owner and all editors are analysts with a valid key."""
        if len(access.editors) > MAX_EDITORS:
            raise AccessError(f"a questionnaire has up to {MAX_EDITORS} editors.")
        known = {key.name for key in self.holders()} | {""}
        for name in (access.owner, *access.editors):
            if name not in known:
                raise AccessError(
                    f"no analyst has a valid key {name[:40]!r}. Choose one of the accounts."
                )

    def holders(self) -> list[Key]:
        """The keys of all who may own or edit questionnaires, by the name of their holder."""
        now = datetime.now(UTC)
        valid = (key for key in self.keys.all() if key.role in PUBLISHERS and key.is_valid(now))
        return sorted(valid, key=lambda key: key.label)

    def label(self, name: str) -> str:
        """The name of the holder of a key; the name of the key if there is none."""
        key = self.keys.find(name) if NAME_PATTERN.fullmatch(name) else None
        return name if key is None else key.label
