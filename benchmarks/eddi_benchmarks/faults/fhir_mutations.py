"""FHIR responses that break a rule: the server refuses each with an OperationOutcome and a status 4xx."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from eddi_benchmarks.faults import model_files
from eddi_benchmarks.faults.limited_process import Ending
from eddi_benchmarks.faults.outcomes import REJECTED, USED, Outcomes
from eddi_benchmarks.service.fhir_client import ADDRESS, Resource, fill, reply
from eddi_benchmarks.service.server import run_server

MEDIA_TYPE = "application/fhir+json"
N_ANSWERS = 3  # of the valid response that is changed
JUNK: tuple[Any, ...] = (
    -1,
    10**30,
    1.5,
    True,
    "",
    " ",
    "x" * 300,
    "\u0000",
    [],
    [[]],
    {},
    {"a": {}},
    "\U0001f600",
)
Mutation = Callable[[Resource, Random], None]


def run(count: int, seed: int) -> Outcomes:
    """Send ``count`` changed responses to a server of a small model."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "people.eddi"
        path.write_bytes(model_files.train_models(Path(folder))[0])
        options = ["--target", "ill", "--port", "0"]
        with run_server(path, store=f"sqlite:///{folder}/answers.db", options=options) as server:
            address = f"http://127.0.0.1:{server.port}"
            with httpx.Client(base_url=address, timeout=30) as client:
                return send_mutations(client, "Questionnaire/people", count, seed)


def send_mutations(client: httpx.Client, canonical: str, count: int, seed: int) -> Outcomes:
    """Send ``count`` changed responses of a questionnaire to a server, and count what happens."""
    responses = fill(client, canonical, n_answers=N_ANSWERS)
    valid = [reply(response) for response in responses[1:] if response["status"] == "in-progress"]
    outcomes, kinds = Outcomes(), [*MUTATIONS, "bytes"]
    for index in range(count):
        random = Random(f"fhir {seed} {index}")  # noqa: S311  # reproducible, not secret
        kind = kinds[index % len(kinds)]
        body = _mutate(kind, copy.deepcopy(random.choice(valid)), random)
        response = client.post(ADDRESS, content=body, headers={"Content-Type": MEDIA_TYPE})
        result = {"outcome": _classify(kind, response), "reason": response.text[:200]}
        outcomes.add(kind, index, body.decode(errors="replace"), Ending(result, 0, 0.0))
    return outcomes


def _mutate(kind: str, resource: Resource, random: Random) -> bytes:
    if kind == "bytes":
        return _damage(json.dumps(resource).encode(), random)
    MUTATIONS[kind](resource, random)
    is_wrapped = random.random() < 0.3
    parameter = {"name": "questionnaire-response", "resource": resource}
    wrapped = {"resourceType": "Parameters", "parameter": [parameter]}
    return json.dumps(wrapped if is_wrapped else resource).encode()


def _classify(kind: str, response: httpx.Response) -> str:
    if response.status_code == 200:
        return USED if kind == "bytes" else "accepted"
    is_outcome = response.headers.get("content-type") == MEDIA_TYPE
    is_outcome = is_outcome and response.json()["resourceType"] == "OperationOutcome"
    return REJECTED if 400 <= response.status_code < 500 and is_outcome else f"{response.status_code}"


def _damage(body: bytes, random: Random) -> bytes:
    damaged = bytearray(body)
    for _ in range(random.randrange(1, 6)):
        damaged[random.randrange(len(damaged))] = random.randrange(256)
    return bytes(damaged[: random.choice((len(damaged), random.randrange(len(damaged))))])


def _remove(resource: Resource, random: Random) -> None:
    """Remove an element that is required."""
    form, item = resource["contained"][0], random.choice(resource["item"])
    owners: list[tuple[Any, Any]] = [
        *((resource, name) for name in ("resourceType", "questionnaire", "status", "contained", "item")),
        *((form, name) for name in ("resourceType", "id", "status", "derivedFrom", "item")),
        *((item, name) for name in ("linkId", "answer")),
        (resource["item"], random.randrange(len(resource["item"]))),
        (form["item"], random.randrange(len(form["item"]))),
        (random.choice(form["item"]), "linkId"),
    ]
    owner, name = random.choice(owners)
    del owner[name]


def _replace(resource: Resource, random: Random) -> None:
    """Replace an element by a value of another type."""
    form, item = resource["contained"][0], random.choice(resource["item"])
    owners = [
        *((resource, name) for name in ("resourceType", "questionnaire", "status", "contained", "item")),
        *((resource, name) for name in ("subject", "authored", "id", "language", "author", "basedOn")),
        *((form, name) for name in ("resourceType", "id", "status", "derivedFrom", "item")),
        *((item, name) for name in ("linkId", "answer", "item")),
    ]
    owner, name = random.choice(owners)
    is_text = name in ("resourceType", "questionnaire", "status", "authored", "id", "language", "linkId")
    is_unbounded = name == "language"
    # Any object is a valid reference, and some texts are valid languages.
    wrong = [
        junk
        for junk in JUNK
        if not (isinstance(junk, str) and is_text and is_unbounded and junk)
        and not (name in ("subject", "author") and junk == {})
    ]
    owner[name] = random.choice(wrong)


def _value(resource: Resource, random: Random) -> None:
    """Give an answer that its question cannot have."""
    item = random.choice(resource["item"])
    coding = {"system": "http://example.org", "code": "x"}
    reason = "http://hl7.org/fhir/StructureDefinition/data-absent-reason"
    answers: list[Any] = [
        [{"valueString": "x"}],
        [{"valueCoding": coding}],
        [{"valueCoding": {"code": "no such level"}}],
        [{"valueCoding": {}}],
        [{"valueDecimal": 10**12}],
        [{"valueDecimal": "61"}],
        [{"valueInteger": -5}],
        [{"valueInteger": 1.5}],
        [{"valueBoolean": "true"}],
        [{"valueQuantity": {"value": 10**12, "unit": "furlong"}}],
        [{"valueBoolean": True, "valueInteger": 1}],
        [{}],
        [{"extension": [{"url": reason, "valueCode": "no such reason"}]}],
        [{"extension": [{"url": "http://example.org/other", "valueCode": "asked-unknown"}]}],
        [*item["answer"], *item["answer"]],
        [],
        [None],
        None,
    ]
    item["answer"] = random.choice(answers)


def _reference(resource: Resource, random: Random) -> None:
    """Name a questionnaire that does not exist, or in the wrong way."""
    form = resource["contained"][0]
    canonicals = [
        "http://example.org/fhir/Questionnaire/nobody",
        "http://example.org/Patient/1",
        "urn:uuid:4fd2",
        form["derivedFrom"][0].replace("|", "|9"),
        form["derivedFrom"][0] + ".1",
        "#form",
    ]
    changes: list[tuple[Resource, str, Any]] = [
        *((form, "derivedFrom", [canonical]) for canonical in canonicals),
        (form, "derivedFrom", form["derivedFrom"] * 2),
        (form, "derivedFrom", []),
        (form, "url", "http://example.org/fhir/Questionnaire/mine"),
        (form, "version", "1.0.0"),
        *((resource, "questionnaire", name) for name in ("#other", "form", "#", form["derivedFrom"][0])),
        *((resource, "status", name) for name in ("completed", "amended", "stopped", "done")),
    ]
    owner, name, value = random.choice(changes)
    owner[name] = value


def _structure(resource: Resource, random: Random) -> None:
    """Repeat, rename or nest items, or add elements that are not allowed."""
    form, items = resource["contained"][0], resource["item"]
    item, asked = random.choice(items), random.choice(form["item"])
    extension = [{"url": "http://example.org/negate", "valueBoolean": True}]
    deep: Resource = {"linkId": "deep"}
    for _ in range(200):
        deep = {"linkId": "deep", "item": [deep]}
    changes: list[Callable[[], Any]] = [
        lambda: items.append(copy.deepcopy(item)),
        lambda: items.append({"linkId": "nobody", "answer": [{"valueInteger": 1}]}),
        lambda: form["item"].append(copy.deepcopy(asked)),
        lambda: form["item"].append({"linkId": "nobody", "text": "?", "type": "string"}),
        lambda: item.update(linkId=item["linkId"] + "?"),
        lambda: asked.update(linkId=asked["linkId"].upper() + "?"),
        lambda: item.update(item=[{"linkId": "nested"}]),
        lambda: items.append(deep),
        lambda: resource.update(modifierExtension=extension),
        lambda: item.update(modifierExtension=extension),
        lambda: resource.update(implicitRules="http://example.org/rules"),
        lambda: resource.update(surprise=1),
        lambda: item.update(surprise=1),
        lambda: resource.update(contained=resource["contained"] * 30),
    ]
    random.choice(changes)()


MUTATIONS: dict[str, Mutation] = {
    "removed": _remove,
    "replaced": _replace,
    "values": _value,
    "references": _reference,
    "structure": _structure,
}
