"""The keys of a survival variable in a schema file."""

from typing import Any

from eddi.errors import SchemaError
from eddi.table.survival.survival import Survival
from eddi.table.toml_values import check_type, parse_number, parse_text, to_int_if_whole

KEYS = ("time", "event", "occurred", "entry", "horizons", "edges")


def parse_survival(where: str, entry: dict[str, Any]) -> Survival | None:
    """Return the columns and bins of a survival variable; None if no key of them is given."""
    given = [key for key in KEYS if key in entry]
    if not given:
        return None
    if absent := [key for key in ("time", "event") if key not in entry]:
        raise SchemaError(
            f"{where} has {', '.join(given)}, but no {' and no '.join(absent)}. A survival variable names "
            'two columns, such as time = "days", event = "died".'
        )
    occurred = entry.get("occurred")
    if occurred is not None:
        check_type(f"{where}: occurred", occurred, str | int | float, 'a value such as "dead"')
    return Survival(
        parse_text(f"{where}: time", entry["time"]),
        parse_text(f"{where}: event", entry["event"]),
        occurred=occurred,
        entry=parse_text(f"{where}: entry", entry.get("entry", "")),
        horizons=_parse_times(f"{where}: horizons", entry.get("horizons", [])),
        edges=_parse_times(f"{where}: edges", entry.get("edges", [])),
    )


def survival_to_values(survival: Survival | None) -> dict[str, Any]:
    """Return the keys of a survival variable with their values; those without a value are left out."""
    if survival is None:
        return {}
    values = {key: getattr(survival, key) for key in KEYS}
    for key in ("horizons", "edges"):
        values[key] = tuple(map(to_int_if_whole, values[key]))
    return {key: value for key, value in values.items() if value not in (None, "", ())}


def _parse_times(where: str, value: Any) -> tuple[float, ...]:
    check_type(where, value, list, "a list of times such as [365, 730]")
    return tuple(parse_number(where, time) for time in value)
