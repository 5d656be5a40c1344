"""The colour of a questionnaire as a style sheet, and the types of its logo."""

from eddi.service.interviews.questionnaire_settings import MIN_CONTRAST, contrast

DARK_CARD = "#1a2125"  # the background of cards in the dark scheme of pages.css
MIXING_STEP = 0.05  # towards white
MAX_LOGO_BYTES = 200_000
LOGO_TYPES = {  # by the first bytes of the file; no SVG, which may contain scripts
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}
STYLE = """\
:root {{ --accent: {accent}; --accent-deep: color-mix(in srgb, var(--accent) 80%, black);
  --wash: color-mix(in srgb, var(--accent) 10%, var(--card));
  --band: color-mix(in srgb, var(--accent) 30%, var(--card)); }}
@media (prefers-color-scheme: dark) {{
  :root {{ --accent: {light}; --accent-deep: color-mix(in srgb, var(--accent) 80%, white);
    --on-accent: #101416; }}
}}
"""


def make_style(colour: str) -> str:
    """Return a style sheet with this colour, and a lighter one for dark screens."""
    return STYLE.format(accent=colour, light=lighten(colour))


def lighten(colour: str) -> str:
    """Return the colour mixed with white until it can be read on dark cards."""
    share = 0.0
    mixed = colour
    while contrast(mixed, DARK_CARD) < MIN_CONTRAST:
        share += MIXING_STEP
        mixed = _mix_with_white(colour, share)
    return mixed


def find_logo_type(content: bytes) -> str | None:
    """Return the media type of a picture; None if it is not one that browsers show without risk."""
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in LOGO_TYPES.items() if content.startswith(start)), None)


def _mix_with_white(colour: str, share: float) -> str:
    parts = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return "#" + "".join(f"{round(part + min(1.0, share) * (255 - part)):02x}" for part in parts)
