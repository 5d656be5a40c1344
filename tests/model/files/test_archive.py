"""Model files: complete, protected by checksums, and unable to run code."""

import ast
import dataclasses
import hashlib
import io
import json
import pickle
import struct
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load as read_weights
from safetensors.torch import save as write_weights

import eddi
from eddi.errors import ModelFileError, TrainingError
from eddi.model import container
from eddi.model.files import archive

MEMBERS = ("manifest.json", "model.json", "weights.safetensors", "CARD.md")


@pytest.fixture(scope="module")
def saved(tmp_path_factory, model):
    path = tmp_path_factory.mktemp("saved") / "people.eddi"
    model.save(path)
    return path


@pytest.fixture
def contents(saved):
    with zipfile.ZipFile(saved) as file:
        return {name: file.read(name) for name in file.namelist()}


def pack(path, contents):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in contents.items():
            file.writestr(name, content)
    return path


def update_checksums(contents):
    """The same members with a manifest that matches them, as a forger could write it."""
    manifest = json.loads(contents["manifest.json"])
    manifest["members"] = {
        name: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in contents.items()
        if name != "manifest.json"
    }
    return {**contents, "manifest.json": json.dumps(manifest).encode()}


def edit_metadata(contents, **entries):
    changed = {**json.loads(contents["model.json"]), **entries}
    return {**contents, "model.json": json.dumps(changed).encode()}


def assert_equal_predictions(first, second, table):
    ours, theirs = first.predict(table), second.predict(table)
    for name in ours:
        for part in ("mean", "sd", "interval", "probabilities"):
            left, right = getattr(ours[name], part), getattr(theirs[name], part)
            assert (left is None) == (right is None)
            assert left is None or np.array_equal(left, right, equal_nan=True)


@pytest.mark.parametrize("recipe", ["default", "paper"])
@pytest.mark.parametrize("set_encoder", ["zi", "zi-m", "pn", "pnp"])
def test_a_loaded_model_makes_identical_predictions(tmp_path, people, people_model, set_encoder, recipe):
    model = people_model(set_encoder, recipe)
    model.save(tmp_path / "people.eddi")
    loaded = eddi.load(tmp_path / "people.eddi")
    table = people(20, 5)
    assert_equal_predictions(model, loaded, table)
    assert loaded.transform(table).equals(model.transform(table))
    assert loaded.score(table) == model.score(table)


def test_a_loaded_model_keeps_what_was_learned(saved, model):
    loaded = eddi.load(saved)
    assert loaded.schema_ == model.schema_
    assert loaded.recipe_ == model.recipe_
    assert loaded.history_ == model.history_
    assert loaded.fingerprint_ == model.fingerprint_
    assert loaded.n_rows_ == 300
    assert loaded.n_answers_.tolist() == model.n_answers_.tolist()
    assert loaded.get_feature_names_out().tolist() == model.get_feature_names_out().tolist()
    assert loaded.feature_names_in_.tolist() == model.feature_names_in_.tolist()


@pytest.mark.parametrize("target", ["pain", ("pain", "age")])
def test_a_loaded_model_keeps_its_target(tmp_path, people, people_model, target):
    model = people_model(recipe="paper", target=target)
    model.save(tmp_path / "people.eddi")
    found, expected = (
        eddi.load(tmp_path / "people.eddi").predict(people(3, 5)),
        model.predict(people(3, 5)),
    )
    assert type(found) is type(expected)
    assert np.array_equal(np.asarray(found), np.asarray(expected))


def test_targets_of_the_schema_are_predicted_before_and_after_loading(tmp_path):
    table = {"a": np.arange(30.0) + 0.5, "b": np.arange(30.0) ** 2 + 0.1}
    schema = eddi.Schema.infer(table, targets=["b"])
    model = eddi.PartialVAE(schema, max_steps=5, random_state=0).fit(table)
    model.save(tmp_path / "m.eddi")
    assert list(model.predict(table)) == list(eddi.load(tmp_path / "m.eddi").predict(table)) == ["b"]


def test_a_model_fitted_to_an_array_accepts_arrays_after_loading(tmp_path):
    numbers = np.random.default_rng(0).random((30, 3))
    eddi.PartialVAE(max_steps=5, random_state=0).fit(numbers).save(tmp_path / "m.eddi")
    loaded = eddi.load(tmp_path / "m.eddi")
    assert not hasattr(loaded, "feature_names_in_")
    assert loaded.transform(numbers).shape == (30, 3)


def test_a_table_of_many_quantities_after_a_category_can_be_loaded(tmp_path):
    random = np.random.default_rng(0)
    numbers = {f"x{place}": random.normal(size=60) for place in range(14)}
    table = pd.DataFrame({"town": random.choice(["Aa", "Bo", "Co"], size=60), **numbers})
    path = tmp_path / "many.eddi"
    default = eddi.recipes.DEFAULT
    model = eddi.PartialVAE(target="x13", recipe=dataclasses.replace(default, folds=0), max_steps=2)
    model.fit(table).save(path)
    assert eddi.load(path).schema_.names[0] == "town"


def test_a_loaded_model_can_be_saved_and_loaded_again(tmp_path, saved, people):
    eddi.load(saved).save(tmp_path / "again.eddi")
    assert_equal_predictions(eddi.load(saved), eddi.load(tmp_path / "again.eddi"), people(5, 5))


def test_a_file_has_all_members_and_no_temporary_file_is_left(saved, contents):
    assert tuple(contents) == MEMBERS
    assert contents["CARD.md"].startswith(b"# An EDDI model")
    assert [path.name for path in saved.parent.iterdir()] == ["people.eddi"]


def test_a_save_that_fails_keeps_the_old_file(tmp_path, saved, model, monkeypatch):
    path = tmp_path / "people.eddi"
    path.write_bytes(saved.read_bytes())

    def fail(_):
        raise OSError("disk full")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        model.save(path)
    assert path.read_bytes() == saved.read_bytes()


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ModelFileError, match=r"there is no model file '.*nothing\.eddi'"):
        eddi.load(tmp_path / "nothing.eddi")


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(ModelFileError, match="is not a complete EDDI model file"):
        eddi.load(tmp_path)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_truncated_file_is_refused(tmp_path, saved, share):
    content = saved.read_bytes()
    path = tmp_path / "cut.eddi"
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(ModelFileError, match="truncated or of another type; save the model again"):
        eddi.load(path)


def test_a_file_with_a_flipped_byte_is_refused_or_gives_the_same_model(tmp_path, saved, model, people):
    content = saved.read_bytes()
    table, refused = people(3, 5), 0
    for place in np.linspace(40, len(content) - 30, 60).astype(int):
        path = tmp_path / "flipped.eddi"
        path.write_bytes(content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :])
        try:
            loaded = eddi.load(path)
        except ModelFileError:
            refused += 1
        else:  # some bytes of a zip, such as timestamps, have no meaning
            assert_equal_predictions(loaded, model, table)
    assert refused > 50


def test_a_file_that_is_not_a_zip_is_refused(tmp_path):
    path = tmp_path / "table.eddi"
    path.write_text("age,risk\n61,0.3\n")
    with pytest.raises(ModelFileError, match=r"is not a complete EDDI model file \(File is not a zip"):
        eddi.load(path)


@pytest.mark.parametrize(
    "foreign",
    [
        {"word/document.xml": b"<xml/>"},
        {"manifest.json": b"not json"},
        {"manifest.json": b"[]"},
        {"manifest.json": b'{"format": "other"}'},
        {"manifest.json": b"\xff\xfe"},
    ],
)
def test_a_foreign_zip_is_refused(tmp_path, foreign):
    with pytest.raises(ModelFileError, match="is a zip file but not an EDDI model"):
        eddi.load(pack(tmp_path / "foreign.eddi", foreign))


def test_a_newer_format_is_refused_with_advice_to_upgrade(tmp_path, contents):
    manifest = json.loads(contents["manifest.json"])
    manifest.update(format_version=99, eddi_version="9.0")
    contents["manifest.json"] = json.dumps(manifest).encode()
    message = rf"version 99, written by EDDI 9\.0.*up to version {archive.FORMAT_VERSION}\. Upgrade with"
    with pytest.raises(ModelFileError, match=message):
        eddi.load(pack(tmp_path / "new.eddi", contents))


def test_a_format_that_was_never_released_is_refused(tmp_path, contents):
    manifest = {**json.loads(contents["manifest.json"]), "format_version": 1}
    contents["manifest.json"] = json.dumps(manifest).encode()
    with pytest.raises(ModelFileError, match=r"format version 1, .* Fit the model again"):
        eddi.load(pack(tmp_path / "old.eddi", contents))


@pytest.mark.parametrize("name", MEMBERS[1:])
def test_a_missing_member_is_named(tmp_path, contents, name):
    del contents[name]
    with pytest.raises(ModelFileError, match=f"has no {name}. Save the model again"):
        eddi.load(pack(tmp_path / "part.eddi", contents))


@pytest.mark.parametrize("name", MEMBERS[1:])
def test_an_edited_member_is_named(tmp_path, contents, name):
    contents[name] += b" "
    with pytest.raises(
        ModelFileError, match=f"{name} in .* does not match its checksum: it was damaged or edited"
    ):
        eddi.load(pack(tmp_path / "edited.eddi", contents))


def test_weights_of_another_model_are_refused(tmp_path, contents, people_model):
    people_model(recipe="paper").save(tmp_path / "other.eddi")
    with zipfile.ZipFile(tmp_path / "other.eddi") as other:
        contents["weights.safetensors"] = other.read("weights.safetensors")
    with pytest.raises(ModelFileError, match=r"weights\.safetensors in .* does not match its checksum"):
        eddi.load(pack(tmp_path / "swapped.eddi", contents))
    with pytest.raises(ModelFileError, match="has valid checksums but does not describe a model"):
        eddi.load(pack(tmp_path / "forged.eddi", update_checksums(contents)))


def test_weights_of_a_wrong_shape_with_valid_checksums_are_refused(tmp_path, contents):
    weights = read_weights(contents["weights.safetensors"])
    name = next(iter(weights))
    weights[name] = torch.zeros(3, 3)
    contents["weights.safetensors"] = write_weights(weights)
    with pytest.raises(ModelFileError, match="has valid checksums but does not describe a model"):
        eddi.load(pack(tmp_path / "forged.eddi", update_checksums(contents)))


@pytest.mark.parametrize(
    "entries",
    [
        {"recipe": {}},
        {"schema": []},
        {"schema": {"variables": 3}},
        {"coding": None},
        {"target": [], "target_is_one": True},
        {"target": ["nobody"]},
        {"set_encoder": "rnn"},
        {"history": [{"step": 1}]},
        {"columns": None},
    ],
    ids=str,
)
def test_invalid_metadata_with_valid_checksums_is_refused(tmp_path, contents, entries):
    forged = update_checksums(edit_metadata(contents, **entries))
    with pytest.raises(ModelFileError, match="has valid checksums but does not describe a model"):
        eddi.load(pack(tmp_path / "forged.eddi", forged))


def test_a_member_beyond_the_limit_is_not_unpacked(tmp_path, contents, monkeypatch):
    monkeypatch.setattr(container, "MAX_MEMBER_BYTES", 10_000_000)
    contents["weights.safetensors"] = bytes(20_000_000)
    path = pack(tmp_path / "bomb.eddi", update_checksums(contents))
    assert path.stat().st_size < 100_000
    unpacked = []
    original = zipfile.ZipFile.read
    monkeypatch.setattr(
        zipfile.ZipFile, "read", lambda file, name: unpacked.append(name) or original(file, name)
    )
    with pytest.raises(
        ModelFileError, match="unpacks to 20,000,000 bytes, above the limit of 10,000,000"
    ):
        eddi.load(path)
    assert "weights.safetensors" not in unpacked


def test_a_member_with_a_false_size_is_refused(tmp_path, contents, monkeypatch):
    monkeypatch.setattr(container, "MAX_MEMBER_BYTES", 10_000_000)
    contents["weights.safetensors"] = bytes(20_000_000)
    path = pack(tmp_path / "false.eddi", update_checksums(contents))
    content = path.read_bytes().replace(struct.pack("<I", 20_000_000), struct.pack("<I", 1000))
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=r"not a complete EDDI model|does not match its checksum"):
        eddi.load(path)


def test_a_huge_manifest_is_not_read(tmp_path, contents):
    contents["manifest.json"] = b" " * 1_000_000 + contents["manifest.json"]
    with pytest.raises(ModelFileError, match=r"manifest of .* is too large"):
        eddi.load(pack(tmp_path / "large.eddi", contents))


def test_an_encrypted_member_is_refused(tmp_path, saved):
    content = bytearray(saved.read_bytes())
    with zipfile.ZipFile(io.BytesIO(bytes(content))) as file:
        start = file.start_dir
    content[start + 8] |= 1  # the encryption flag of the first entry of the directory
    content[6] |= 1
    path = tmp_path / "locked.eddi"
    path.write_bytes(bytes(content))
    with pytest.raises(ModelFileError, match="is not a complete EDDI model file"):
        eddi.load(path)


def test_a_member_with_a_path_outside_the_file_is_never_written(tmp_path, contents, people, model):
    contents["../../escaped.txt"] = b"boo"
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    loaded = eddi.load(pack(folder / "path.eddi", contents))
    assert_equal_predictions(loaded, model, people(3, 5))
    assert not list(tmp_path.rglob("escaped.txt"))


class RunsCode:
    """An object whose pickle creates a file when it is loaded."""

    def __reduce__(self):
        return (Path.touch, (Path("created"),))


@pytest.mark.parametrize("name", MEMBERS)
def test_a_pickle_in_a_member_never_runs(tmp_path, contents, name, monkeypatch):
    monkeypatch.chdir(tmp_path)
    contents[name] = pickle.dumps(RunsCode())
    forged = contents if name == "manifest.json" else update_checksums(contents)
    path = pack(tmp_path / "pickle.eddi", forged)
    if name == "CARD.md":  # the library does not read it
        eddi.load(path)
    else:
        with pytest.raises(ModelFileError):
            eddi.load(path)
    assert not (tmp_path / "created").exists()


def test_a_device_that_is_not_available_is_reported_as_such(saved):
    with pytest.raises(TrainingError, match="device 'quantum' is not available"):
        eddi.load(saved, device="quantum")


def test_no_module_of_the_package_unpickles():
    banned = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
    for path in Path(eddi.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in getattr(node, "names", ()) if isinstance(alias, ast.alias)]
            module = getattr(node, "module", None)
            roots = {name.split(".")[0] for name in [*names, module or ""]}
            assert not roots & banned, path
            loads = isinstance(node, ast.Attribute) and node.attr == "load"
            assert not (loads and getattr(node.value, "id", "") == "torch"), path
