"""Levels: the values of a binary, ordinal or category variable, and how their spellings are matched."""

Level = str | int | float | bool


def level_position(levels: tuple[Level, ...], raw: object) -> int | None:
    """Return the position of ``raw`` in ``levels``, or None if it is not one of them.

    Different spellings of a level match: True, 1, 1.0 and "1" are the same level.
    """
    text = str(raw).strip()
    spellings = [str(level) for level in levels]
    if text in spellings:  # an exact match comes first, so that "01" and "1" can both be levels
        return spellings.index(text)
    normalized = [_normalize(level) for level in levels]
    return normalized.index(_normalize(raw)) if _normalize(raw) in normalized else None


def _normalize(level: object) -> str:
    text = str(level).strip()
    try:
        return f"{float(text) + 0.0:.15g}"  # adding 0.0 turns -0.0 into 0.0
    except ValueError:
        return {"true": "1", "false": "0"}.get(text.lower(), text.lower())
