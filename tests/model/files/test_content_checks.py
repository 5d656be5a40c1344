"""A model file with valid checksums and hostile content is refused before it is used."""

import copy
import hashlib
import json
import time
import zipfile

import numpy as np
import pytest
import torch
from safetensors.torch import load as read_weights
from safetensors.torch import save as write_weights

import eddi
from eddi.errors import ModelFileError
from eddi.model.files import content_checks
from eddi.model.files.allocation_limit import AllocationLimit
from eddi.model.training.checkpoint import Progress


@pytest.fixture(scope="module")
def contents(tmp_path_factory, model):
    path = tmp_path_factory.mktemp("saved") / "people.eddi"
    model.save(path)
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


@pytest.fixture
def load(tmp_path, contents):
    """A function that loads the model with other metadata or weights, under valid checksums."""

    def load_forged(change=None, change_weights=None):
        members = dict(contents)
        if change is not None:
            metadata = json.loads(members["model.json"])
            change(metadata)
            members["model.json"] = json.dumps(metadata).encode()
        if change_weights is not None:
            weights = read_weights(members["weights.safetensors"])
            change_weights(weights)
            members["weights.safetensors"] = write_weights(weights)
        return eddi.load(pack(tmp_path / "forged.eddi", members))

    return load_forged


def pack(path, members):
    """Write the members with a manifest that matches them."""
    manifest = json.loads(members["manifest.json"])
    manifest["members"] = {
        name: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in members.items()
        if name != "manifest.json"
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in {**members, "manifest.json": json.dumps(manifest)}.items():
            file.writestr(name, content)
    return path


@pytest.mark.parametrize("value", [torch.nan, torch.inf, -torch.inf, 1e30])
def test_weights_that_are_not_finite_are_refused(load, value):
    def change(weights):
        name = next(name for name in weights if name.endswith("weight"))
        weights[name].view(-1)[0] = value

    with pytest.raises(ModelFileError, match=r"the weights '.*weight' contain"):
        load(change_weights=change)


@pytest.mark.parametrize("name", ["shift", "scale"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e200])
def test_a_coding_that_is_not_finite_is_refused(load, name, value):
    with pytest.raises(ModelFileError, match=r"NaN|not finite"):
        load(lambda metadata: metadata["coding"][name].__setitem__(0, value))


@pytest.mark.parametrize("value", [0, -1, 1e-200])
def test_a_scale_that_is_not_positive_is_refused(load, value):
    with pytest.raises(ModelFileError, match="shift or scale that is not finite, not positive"):
        load(lambda metadata: metadata["coding"]["scale"].__setitem__(0, value))


@pytest.mark.parametrize("name", ["shift", "scale", "logarithmic", "low", "high"])
def test_a_coding_of_another_length_is_refused(load, name):
    with pytest.raises(ModelFileError, match="does not describe a model"):
        load(lambda metadata: metadata["coding"][name].append(metadata["coding"][name][0]))


@pytest.mark.parametrize("n_answers", [[1], [-1] * 8, [0.5] * 8])
def test_numbers_of_answers_that_do_not_fit_the_variables_are_refused(load, n_answers):
    with pytest.raises(ModelFileError, match="n_answers"):
        load(lambda metadata: metadata.update(n_answers=n_answers))


def test_a_file_without_numbers_of_answers_counts_all_rows(load):
    assert load(lambda metadata: metadata.pop("n_answers")).fitted().n_answers_.tolist() == [300] * 8


@pytest.mark.parametrize("name", ["offset", "term", "identity", "latent", "knots", "factors"])
@pytest.mark.parametrize("size", [10**7, -1, 1.5, "64", None, True])
def test_a_recipe_of_an_absurd_size_is_refused(load, name, size):
    with pytest.raises(ModelFileError, match=f"{name} of (the recipe|Recipe) must be"):
        load(lambda metadata: metadata["recipe"].update({name: size}))


def test_a_network_larger_than_its_weights_is_refused_before_it_is_built(load):
    start = time.process_time()
    with pytest.raises(ModelFileError, match=r"a network of more than .* numbers, which is far more"):
        load(
            lambda metadata: metadata["recipe"].update(term=90_000, identity=90_000, hidden=[90_000] * 2)
        )
    assert time.process_time() - start < 2


@pytest.mark.parametrize("hidden", [[], [10] * 1000, [0, 0], [10**9]])
def test_absurd_layers_are_refused(load, hidden):
    with pytest.raises(ModelFileError, match=r"of the recipe must be|must have 1 to 100 hidden layers"):
        load(lambda metadata: metadata["recipe"].update(hidden=hidden))


@pytest.mark.parametrize(
    ("section", "value"),
    [
        ("columns", [1, 2]),
        ("n_rows", "many"),
        ("fingerprint", 3),
        ("named_columns", "yes"),
        ("warnings", [{}]),
        ("ignored_variables", {"pain": "age"}),
        ("ignored_variables", {"pain": [1]}),
        ("ignored_variables", {"nobody": ["age"]}),
        ("ignored_variables", {"pain": ["nobody"]}),
        (
            "history",
            [{"step": "1", "max_steps": 1, "loss": 1, "validation": None, "best": 1, "seconds": 1}],
        ),
        (
            "certificates",
            [
                {"target": ["nobody"], "strategy": {}, "within": None, "n_rows": 1}
                | {"thresholds": [0.5], "n_wrong": [0], "n_asked": [1.0]}
            ],
        ),
    ],
)
def test_metadata_of_another_type_is_refused(load, section, value):
    with pytest.raises(ModelFileError, match="does not describe a model"):
        load(lambda metadata: metadata.update({section: value}))


def test_weights_of_another_type_are_refused(load):
    def change(weights):
        weights.update({name: tensor.double() for name, tensor in weights.items()})

    with pytest.raises(ModelFileError, match=r"type torch\.float64, expected"):
        load(change_weights=change)


def test_a_message_about_a_very_long_name_is_short(load):
    with pytest.raises(ModelFileError, match="missing or unknown") as raised:
        load(change_weights=lambda weights: weights.update({"x" * 1_000_000: torch.zeros(1)}))
    assert len(str(raised.value)) < 1000


def test_a_zip_bomb_is_not_unpacked(tmp_path, contents):
    path = pack(tmp_path / "bomb.eddi", {**contents, "weights.safetensors": bytes(100_000_000)})
    assert path.stat().st_size < 200_000
    with pytest.raises(
        ModelFileError, match="unpacks to 100,000,000 bytes, above the limit of 16,777,216"
    ):
        eddi.load(path)


@pytest.mark.parametrize(
    ("method", "names", "message"),
    [
        (zipfile.ZIP_LZMA, ["manifest.json"], "unknown method"),
        (zipfile.ZIP_STORED, [f"{n}" for n in range(200)], "it has 200 members"),
    ],
)
def test_a_zip_that_eddi_does_not_write_is_refused(tmp_path, method, names, message):
    with zipfile.ZipFile(tmp_path / "m.eddi", "w", method) as file:
        for name in names:
            file.writestr(name, b"{}")
    with pytest.raises(ModelFileError, match=message):
        eddi.load(tmp_path / "m.eddi")


def test_a_member_that_claims_to_be_larger_than_the_file_is_refused(tmp_path, contents):
    path = pack(tmp_path / "m.eddi", contents)
    content = bytearray(path.read_bytes())
    directory = content.index(b"PK\x01\x02")
    content[directory + 20 : directory + 24] = b"\xff\xff\xff\x7f"  # the compressed size
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match="it is shorter than its members"):
        eddi.load(path)


def test_two_members_of_the_same_name_are_refused(tmp_path, contents):
    path = pack(tmp_path / "m.eddi", contents)
    with zipfile.ZipFile(path, "a") as file, pytest.warns(UserWarning, match="Duplicate name"):
        file.writestr("model.json", b"{}")
    with pytest.raises(ModelFileError, match="two members of the same name"):
        eddi.load(path)


def test_predictions_that_overflow_are_refused(load):
    def change(weights):
        for name, tensor in weights.items():
            if name.startswith(("tail", "marginals")) and tensor.isfinite().all():
                tensor.fill_(1e11)

    with pytest.raises(ModelFileError, match=r"predictions of '.*' are not finite"):
        load(change_weights=change)


def test_the_limit_counts_all_new_tensors():
    with AllocationLimit(1000), pytest.raises(ValueError, match="more than 1,000 numbers"):
        _ = [torch.zeros(10, 10) for _ in range(20)]


def test_a_tensor_beyond_the_limit_is_not_created():
    with AllocationLimit(1000), pytest.raises(ValueError, match="more than 1,000 numbers"):
        torch.full((10**6, 10**6), 1.0)


def test_an_integer_is_a_number_but_a_boolean_is_not():
    progress = Progress(1, 2, 3, None, 4.0, 5)
    content_checks.check_types(progress)
    other = copy.copy(progress)
    object.__setattr__(other, "loss", True)
    with pytest.raises(TypeError, match="loss of Progress must be"):
        content_checks.check_types(other)


def test_infinite_bounds_of_the_schema_are_accepted(load):
    def change(metadata):
        variables = metadata["schema"]["variables"]
        quantity = next(v for v in variables.values() if v["kind"] == "real")
        quantity["high"] = float("inf")

    assert np.isinf(max(v.high or 0 for v in load(change).schema_.variables))


def test_the_card_may_be_anything(tmp_path, contents):
    assert eddi.load(pack(tmp_path / "m.eddi", {**contents, "CARD.md": b"\xff"}))
