"""Templates and static files of the pages, read once when the service starts."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from fastapi import Response
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

CONTENT_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
PRIVATE = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex"}
A_YEAR = "public, max-age=31536000, immutable"  # the address changes with the content


@dataclass(frozen=True)
class Static:
    """One file the pages need: its bytes, what they are, and a seal that changes with them."""

    content: bytes
    kind: str
    seal: str


class Rendering:
    """InterviewRules facts into pages."""

    def __init__(self) -> None:
        self.static = _statics()
        self.environment = Environment(
            loader=PackageLoader("eddi.service.web"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self.environment.globals["static"] = self.address

    def address(self, name: str) -> str:
        """Where a static file is served."""
        return f"/static/{name}?{self.static[name].seal}"

    def page(self, template: str, facts: Mapping[str, Any], *, status: int = 200) -> HTMLResponse:
        """A page, kept by nobody on the way: it shows answers."""
        text = self.environment.get_template(template).render(facts)
        return HTMLResponse(text, status, PRIVATE)

    def file(self, name: str) -> Response:
        """A static file."""
        if name not in self.static:
            return Response("There is no such file.", 404, media_type="text/plain")
        found = self.static[name]
        return Response(found.content, headers={"Cache-Control": A_YEAR}, media_type=found.kind)


def _statics() -> dict[str, Static]:
    found = {}
    for file in files("eddi.service.web").joinpath("static").iterdir():
        kind = CONTENT_TYPES.get(file.name.rsplit(".", 1)[-1])
        if kind is not None:
            content = file.read_bytes()
            found[file.name] = Static(content, kind, hashlib.sha256(content).hexdigest()[:12])
    return found
