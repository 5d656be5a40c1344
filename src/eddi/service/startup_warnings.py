"""Warnings at start-up about settings that are not safe once others can reach the server."""

from collections.abc import Iterator

from eddi.service.settings import KeyRule, Settings

DEFAULT_PROXIES = Settings.model_fields["proxies"].default


def find_warnings(settings: Settings) -> list[str]:
    """Return a sentence for each setting that is not safe; none for a server of this machine only."""
    return list(_find_warnings(settings)) if settings.is_public else []


def _find_warnings(settings: Settings) -> Iterator[str]:
    if not settings.is_local and settings.proxies == DEFAULT_PROXIES:
        yield (
            f"the server listens on {settings.host} with plain HTTP, so others can read answers and keys on "
            "the network. Put a proxy with HTTPS in front of it, and name the proxy in EDDI_PROXIES."
        )
    if not settings.secret:
        yield (
            "EDDI_SECRET is not set. Sign-ins and open forms end when the server restarts, and other "
            "servers do not accept them. Set it to a long random text."
        )
    if not settings.host_names:
        yield ("requests for any host name are accepted. Set EDDI_HOSTS to the names of this server.")
    if settings.keys == KeyRule.OPEN:
        yield (
            "EDDI_KEYS is open: everybody who reaches the server can use the API and the workshop "
            "without a key."
        )
