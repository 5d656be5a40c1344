"""Mutations of a model file: its bytes, metadata, weights, zip structure, and meaning."""

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from random import Random
from typing import Any

import torch
from safetensors.torch import load as read_weights
from safetensors.torch import save as write_weights
from torch import Tensor

from eddi_benchmarks.faults.bytes_damage import damage_bytes

Members = dict[str, bytes]
Mutation = tuple[bytes, str]
"""The bytes of a file, and what was changed."""

MANIFEST, METADATA, WEIGHTS = "manifest.json", "model.json", "weights.safetensors"
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 1.5, -0.0, 10**7, 10**30, 1e308, -1e308, 1e-300),
    *(float("nan"), float("inf"), float("-inf"), "", "x", "NaN", "é\x00\ud7ff", "x" * 100_000),
    *([], {}, [1], [None], {"": 1}, [[[]]], ["x"] * 1000),
)
NUMBERS = (float("nan"), float("inf"), float("-inf"), 3e38, -3e38, 1e13, 1e11, 1e6, 0.0, -1.0)
SIZES = (10**7, 10**9, 10**5, 10**4, 5000, 0, -1)


def read_members(content: bytes) -> Members:
    """Return the members of a model file."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def pack(members: Members, *, method: int = zipfile.ZIP_DEFLATED, checksums: bool = True) -> bytes:
    """Return a model file with these members, with checksums that match them."""
    if checksums:
        manifest = json.loads(members[MANIFEST])
        manifest["members"] = {
            name: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            for name, content in members.items()
            if name != MANIFEST
        }
        members = {**members, MANIFEST: json.dumps(manifest).encode()}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def mutate_bytes(content: bytes, random: Random) -> Mutation:
    """Damage the file, or a member under a valid checksum."""
    if random.random() < 0.5:
        return damage_bytes(content, random)
    members = read_members(content)
    name = random.choice([METADATA, WEIGHTS])
    damaged, detail = damage_bytes(members[name], random)
    return pack({**members, name: damaged}), f"{name}: {detail}"


def mutate_metadata(content: bytes, random: Random) -> Mutation:
    """Replace, delete or repeat one entry of the metadata."""
    members = read_members(content)
    metadata = json.loads(members[METADATA])
    owner, key, path = _choose_entry(metadata, random)
    action = random.choice(["replace", "replace", "replace", "delete", "repeat"])
    if action == "delete":
        del owner[key]
        detail = ""
    elif action == "repeat" and isinstance(owner, list):
        owner.insert(key, owner[key])
        detail = ""
    else:
        owner[key] = random.choice(VALUES)
        detail = repr(owner[key])[:40]
    return pack({**members, METADATA: json.dumps(metadata).encode()}), f"{action} {path} {detail}"


def _choose_entry(document: Any, random: Random) -> tuple[Any, Any, str]:
    """Return a random entry: its dictionary or list, its key, and its path."""
    owner, path = document, ""
    while True:
        keys: list[Any] = list(owner) if isinstance(owner, dict) else list(range(len(owner)))
        key = random.choice(keys)
        path += f"/{str(key)[:40]}"
        value = owner[key]
        if not isinstance(value, dict | list) or not value or random.random() < 0.15:
            return owner, key, path
        owner = value


def mutate_weights(content: bytes, random: Random) -> Mutation:
    """Change the values, shape, type or name of one tensor."""
    members = read_members(content)
    weights = read_weights(members[WEIGHTS])
    name = random.choice(sorted(weights))
    action = random.choice(
        ["value", "value", "value", "fill", "noise", "shape", "type", "name", "delete"]
    )
    _change_tensor(weights, name, action, random)
    return pack({**members, WEIGHTS: write_weights(weights)}), f"{action} {name}"


def _change_tensor(weights: dict[str, Tensor], name: str, action: str, random: Random) -> None:
    tensor = weights[name]
    match action:
        case "value" if tensor.numel():
            tensor.view(-1)[random.randrange(tensor.numel())] = random.choice(NUMBERS)
        case "fill":
            tensor.fill_(random.choice(NUMBERS))
        case "noise":
            generator = torch.Generator().manual_seed(random.randrange(2**31))
            weights[name] = torch.randn(tensor.shape, generator=generator) * 10.0 ** random.randint(
                -3, 30
            )
        case "shape":
            shapes = [
                tensor.reshape(-1),
                tensor[None],
                torch.cat([tensor, tensor]) if tensor.dim() else tensor,
            ]
            weights[name] = random.choice(shapes).contiguous().clone()
        case "type":
            weights[name] = tensor.to(
                random.choice([torch.float64, torch.float16, torch.int64, torch.bool])
            )
        case "name":
            weights[random.choice(["x", "x" * 100_000, f"{name}.x"])] = weights.pop(name)
        case _:
            del weights[name]


def mutate_structure(content: bytes, random: Random) -> Mutation:
    """Change the zip archive, the manifest, or the header of the weights."""
    members = read_members(content)
    name = random.choice(sorted(members))
    changes: dict[str, Callable[[], bytes]] = {
        "omit": lambda: pack({k: v for k, v in members.items() if k != name}, checksums=False),
        "bomb": lambda: pack({**members, random.choice([METADATA, WEIGHTS]): bytes(3 * 10**7)}),
        "many members": lambda: pack({**members, **{f"{n}": b"" for n in range(3000)}}),
        "method": lambda: pack(members, method=random.choice([zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])),
        "path": lambda: pack({**members, "../../x": b"x"}),
        "manifest": lambda: _mutate_manifest(members, random),
        "header": lambda: _mutate_header(members, random),
        "declared size": lambda: _mutate_directory(content, random),
        "swap": lambda: pack({**members, METADATA: members[WEIGHTS], WEIGHTS: members[METADATA]}),
    }
    action = random.choice([*changes, "manifest", "header", "declared size"])
    return changes[action](), action


def _mutate_manifest(members: Members, random: Random) -> bytes:
    manifest = json.loads(members[MANIFEST])
    owner, key, _ = _choose_entry(manifest, random)
    owner[key] = random.choice(VALUES)
    return pack({**members, MANIFEST: json.dumps(manifest).encode()}, checksums=False)


def _mutate_header(members: Members, random: Random) -> bytes:
    """Change the length of the header of the weights, or an entry of it."""
    weights = members[WEIGHTS]
    length = int.from_bytes(weights[:8], "little")
    header, rest = json.loads(weights[8 : 8 + length]), weights[8 + length :]
    if random.random() < 0.3:
        length = random.choice([0, 1, length - 1, length + 1, 2**31, 2**63 - 1])
        return pack({**members, WEIGHTS: length.to_bytes(8, "little") + weights[8:]})
    owner, key, _ = _choose_entry(header, random)
    owner[key] = random.choice([*VALUES, 2**63, [2**40, 2**40], "F64", "BOOL"])
    text = json.dumps(header).encode()
    return pack({**members, WEIGHTS: len(text).to_bytes(8, "little") + text + rest})


def _mutate_directory(content: bytes, random: Random) -> bytes:
    """Change the bytes of the central directory, where sizes and positions of members are."""
    start = content.rindex(b"PK\x05\x06")
    first = int.from_bytes(content[start + 16 : start + 20], "little")
    damaged = bytearray(content)
    place = random.randrange(first, len(content) - 4)
    damaged[place : place + 4] = random.choice([0, 1, 2**31 - 1, 2**32 - 1]).to_bytes(4, "little")
    return bytes(damaged)


def mutate_meaning(content: bytes, random: Random) -> Mutation:
    """Change sizes, lengths, kinds and names so that the file contradicts itself."""
    members = read_members(content)
    metadata = json.loads(members[METADATA])
    action = random.choice(
        ["size", "size", "coding", "coding length", "kind", "levels", "target", "columns"]
    )
    variables = metadata["schema"]["variables"]
    variable = variables[random.choice(sorted(variables))]
    recipe, coding = metadata["recipe"], metadata["coding"]
    match action:
        case "size":
            names = ["latent", "identity", "offset", "knots", "term", "factors", "hidden", "folds"]
            for name in random.sample(names, random.randint(1, 3)):
                size = random.choice(SIZES)
                recipe[name] = [size] * random.choice([1, 2, 50]) if name == "hidden" else size
        case "coding":
            values = coding[random.choice(sorted(coding))]
            values[random.randrange(len(values))] = random.choice([*NUMBERS, 1e200, 1e-200, 500, None])
        case "coding length":
            values = coding[random.choice(sorted(coding))]
            values[:] = random.choice([values[1:], values * 2, [], [list(values)]])
        case "kind":
            variable["kind"] = random.choice(["real", "count", "binary", "ordinal", "category", "x"])
        case "levels":
            variable["levels"] = random.choice([[], ["a"], ["a", "b"], list(range(5000)), ["a", "a"]])
        case "target":
            metadata["target"] = random.choice([[], ["nobody"], [1], [min(variables)] * 3, "x"])
        case _:
            metadata["columns"] = random.choice([[], [1], ["x"], metadata["columns"] * 2])
    return pack({**members, METADATA: json.dumps(metadata).encode()}), action


MUTATIONS: dict[str, Callable[[bytes, Random], Mutation]] = {
    "bytes": mutate_bytes,
    "metadata": mutate_metadata,
    "weights": mutate_weights,
    "structure": mutate_structure,
    "meaning": mutate_meaning,
}
