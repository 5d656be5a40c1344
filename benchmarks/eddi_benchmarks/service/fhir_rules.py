"""The rules of SDC 4.0.0 for adaptive forms, written from its profiles, as checks of JSON."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

SDC = "http://hl7.org/fhir/uv/sdc/StructureDefinition"
ADAPTIVE = f"{SDC}/sdc-questionnaire-questionnaireAdaptive"
VERSION_ALGORITHM = "http://hl7.org/fhir/StructureDefinition/artifact-versionAlgorithm"
STATUSES = ("in-progress", "completed", "amended", "entered-in-error", "stopped")
ITEM_TYPES = ("group", "display", "boolean", "decimal", "integer", "choice")  # those that EDDI uses
VALUES = {
    "boolean": "valueBoolean",
    "decimal": "valueDecimal",
    "integer": "valueInteger",
    "choice": "valueCoding",
}

Resource = dict[str, Any]


def check_response(response: Resource) -> list[str]:
    """Return the rules that a response breaks (profile `sdc-questionnaireresponse-adapt`)."""
    forms = [item for item in response.get("contained", ()) if item["resourceType"] == "Questionnaire"]
    rules = {
        "contained 1..*": bool(forms),
        "sdc-adapt-1": [response.get("questionnaire")] == [f"#{form.get('id')}" for form in forms],
        "status": response.get("status") in STATUSES,
        "authored 1..1": isinstance(response.get("authored"), str),
        "profile": f"{SDC}/sdc-questionnaireresponse-adapt" in response["meta"]["profile"],
        "no empty list or object": not _has_empty_list(response),
    }
    broken = [name for name, is_kept in rules.items() if not is_kept]
    for form in forms:
        broken += check_contained(form)
        broken += _check_items(response.get("item", []), form.get("item", []))
    return broken


def check_contained(form: Resource) -> list[str]:
    """Return the rules that a contained questionnaire breaks (profile `sdc-questionnaire-adapt`)."""
    items = list(_walk(form.get("item", [])))
    link_ids = Counter(item["linkId"] for item in items)
    rules = {
        "url 0..0": "url" not in form,
        "version 0..0": "version" not in form,
        "derivedFrom 1..1": len(form.get("derivedFrom", ())) == 1,
        "title 0..1": isinstance(form.get("title", ""), str),
        "status": form.get("status") in ("draft", "active", "retired", "unknown"),
        "sdc-adaptive-1": _are_adaptive(form),
        "que-2": all(count == 1 for count in link_ids.values()),
        "que-15": all(len(link_id) <= 255 for link_id in link_ids),
        "item.text 1..1": all(isinstance(item.get("text"), str) and item["text"] for item in items),
        "item.type": all(item.get("type") in ITEM_TYPES for item in items),
        "que-1b": all(item.get("item") for item in items if item["type"] == "group"),
        "que-1c": not any(item.get("item") for item in items if item["type"] == "display"),
        "que-5": all(("answerOption" in item) == (item["type"] == "choice") for item in items),
        "que-9": not any("readOnly" in item for item in items if item["type"] == "display"),
    }
    return [name for name, is_kept in rules.items() if not is_kept]


def check_search_result(resource: Resource) -> list[str]:
    """Return the rules that a questionnaire breaks (profile `sdc-questionnaire-adapt-srch`)."""
    algorithms = [item for item in resource["extension"] if item["url"] == VERSION_ALGORITHM]
    rules = {
        "questionnaireAdaptive 1..*": any(item["url"] == ADAPTIVE for item in resource["extension"]),
        "sdc-adaptive-1": _are_adaptive(resource),
        "title 1..1": bool(resource.get("title")),
        "date 1..1": bool(resource.get("date")),
        "item 0..0": "item" not in resource,
        "sdc-2": "version" not in resource or bool(algorithms),
        "sdc-3": all(item["valueCoding"]["code"] == "semver" for item in algorithms),
        "semver": re.fullmatch(r"\d+\.\d+\.\d+", resource.get("version", "0.0.0")) is not None,
        "cnl-0": re.fullmatch(r"[A-Z][A-Za-z0-9_]{1,254}", resource.get("name", "Aa")) is not None,
        "cnl-1": re.fullmatch(r"[^|# ]+", resource.get("url", "x")) is not None,
    }
    return [name for name, is_kept in rules.items() if not is_kept]


def _are_adaptive(resource: Resource) -> bool:
    marks = [item for item in resource.get("extension", ()) if item["url"] == ADAPTIVE]
    return len(marks) <= 1 or all("valueUrl" in mark for mark in marks)


def _check_items(answered: list[Resource], asked: list[Resource]) -> list[str]:
    """The rules of items that answer the items of a questionnaire."""
    by_link_id = {item["linkId"]: item for item in asked}
    link_ids = [item["linkId"] for item in answered]
    broken = [] if len(set(link_ids)) == len(link_ids) else ["sdcqr-2"]
    for item in answered:
        question = by_link_id.get(item["linkId"])
        if question is None:
            broken.append(f"{item['linkId']!r} is not in the questionnaire")
            continue
        expected = VALUES.get(question["type"])
        for answer in item.get("answer", ()):
            values = [name for name in answer if name.startswith("value")]
            if values not in ([], [expected]):
                broken.append(f"{item['linkId']!r} has {values}, not {expected}")
        broken += _check_items(item.get("item", []), question.get("item", []))
    return broken


def _walk(items: list[Resource]) -> Iterator[Resource]:
    for item in items:
        yield item
        yield from _walk(item.get("item", []))


def _has_empty_list(value: Any) -> bool:
    if not isinstance(value, dict | list):
        return False
    parts = value.values() if isinstance(value, dict) else value
    return not value or any(_has_empty_list(part) for part in parts)
