"""`eddi keys`: manage the keys of the HTTP API, which are also the accounts of analysts."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from eddi.cli import terminal
from eddi.cli.errors import register_command
from eddi.cli.options import StoreOption
from eddi.cli.serve import read_settings
from eddi.errors import EddiError

if TYPE_CHECKING:
    from eddi.service.web.api_keys import Keys

app = typer.Typer(
    name="keys", help="Create, list, rotate and revoke keys of the HTTP API.", no_args_is_help=True
)


@register_command(app, "issue")
def issue_key(
    role: Annotated[str, typer.Argument(help="respondent, analyst, administrator or operator.")],
    holder: Annotated[
        str, typer.Option(metavar="NAME", help="Who holds the key, such as 'Ada Lovelace'.")
    ] = "",
    days: Annotated[float, typer.Option(metavar="N", min=0, help="Days until the key expires.")] = 90,
    store: StoreOption = None,
) -> None:
    """Create a key and print it. It cannot be shown again.

    For example: eddi keys issue analyst --holder "Ada Lovelace" --store sqlite:///answers.db
    """
    from eddi.service.web.api_keys import Role

    if role not in tuple(Role):
        raise EddiError(f"there is no role {role!r}. Roles are: {', '.join(Role)}.")
    terminal.print_data(_open_keys(store).issue(Role(role), days=days, holder=holder))


@register_command(app, "list")
def list_keys(store: StoreOption = None) -> None:
    """List the names and holders of all keys, without the secrets."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for heading in ("name", "holder", "role", "expires", "revoked", "last sign-in"):
        table.add_column(heading)
    keys = _open_keys(store)
    for key in keys.all():
        revoked = "yes" if key.is_revoked else ""
        expires, last = f"{key.expires:%Y-%m-%d %H:%M} UTC", next(iter(keys.sign_ins(key.name)), "")
        table.add_row(key.name, escape(key.holder), key.role, expires, revoked, last[:16])
    terminal.open_console(stderr=False).print(table)


@register_command(app, "rotate")
def rotate_key(
    name: Annotated[str, typer.Argument(help="The name of a key, from `eddi keys list`.")],
    days: Annotated[
        float | None,
        typer.Option(metavar="N", min=0, help="Days until the key expires; by default as before."),
    ] = None,
    store: StoreOption = None,
) -> None:
    """Replace the secret of a key and print the new key. The old one is invalid at once.

    The name stays the same, and so do the questionnaires that its holder owns.
    """
    terminal.print_data(_open_keys(store).rotate(name, days=days))


@register_command(app, "revoke")
def revoke_key(
    name: Annotated[str, typer.Argument(help="The name of a key, from `eddi keys list`.")],
    store: StoreOption = None,
) -> None:
    """Revoke a key immediately. Its holder is signed out everywhere."""
    _open_keys(store).revoke(name)
    terminal.print_message(f"the key {name} is revoked.")


def _open_keys(store: str | None) -> "Keys":
    from eddi.service.web.api_keys import Keys
    from eddi.store.factory import open_store

    return Keys(open_store(store or read_settings().store))
