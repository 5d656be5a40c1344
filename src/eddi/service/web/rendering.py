"""Renders pages from templates and serves static files. All files are read when the service starts."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from fastapi import Response
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from eddi.service.web.languages.language import ENGLISH, LANGUAGES, Language

PACKAGE = "eddi.service.web"
MEDIA_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
PAGE_HEADERS = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex"}
CACHE_FOREVER = "public, max-age=31536000, immutable"  # the address changes with the content


@dataclass(frozen=True)
class StaticFile:
    """A static file of the pages.

    Args:
        content: its bytes.
        media_type: of the content.
        digest: short hash of the content, part of the file's address.
    """

    content: bytes
    media_type: str
    digest: str


class Renderer:
    """Renders pages and serves their static files."""

    def __init__(self) -> None:
        self.static_files = _read_static_files()
        # Imported macros see the globals of their environment only, so each language has its own.
        self.environments = {code: self._make_environment(code) for code in LANGUAGES}

    def _make_environment(self, code: str) -> Environment:
        environment = Environment(
            loader=PackageLoader(PACKAGE),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=["jinja2.ext.i18n"],
        )
        environment.policies["ext.i18n.trimmed"] = True
        catalogue = LANGUAGES[code].catalogue
        install = vars(environment)["install_gettext_translations"]  # the extension adds it
        install(catalogue, newstyle=True)
        environment.globals["static"] = self.static_url
        environment.globals["language"] = LANGUAGES[code]
        return environment

    def static_url(self, name: str) -> str:
        """Return the address of a static file."""
        return f"/static/{name}?{self.static_files[name].digest}"

    def render(
        self,
        template: str,
        context: Mapping[str, Any],
        *,
        status: int = 200,
        language: Language = ENGLISH,
    ) -> HTMLResponse:
        """Return a page as a response that is never cached, because it shows answers."""
        text = self.environments[language.code].get_template(template).render(context)
        return HTMLResponse(text, status, PAGE_HEADERS)

    def serve_static(self, name: str) -> Response:
        """Return a static file as a response."""
        if name not in self.static_files:
            return Response("There is no such file.", 404, media_type="text/plain")
        file = self.static_files[name]
        return Response(
            file.content, headers={"Cache-Control": CACHE_FOREVER}, media_type=file.media_type
        )


def _read_static_files() -> dict[str, StaticFile]:
    static_files = {}
    for file in files(PACKAGE).joinpath("static").iterdir():
        media_type = MEDIA_TYPES.get(file.name.rsplit(".", 1)[-1])
        if media_type is not None:
            content = file.read_bytes()
            digest = hashlib.sha256(content).hexdigest()[:12]
            static_files[file.name] = StaticFile(content, media_type, digest)
    return static_files
