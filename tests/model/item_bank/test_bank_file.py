"""Item banks as model files: damaged and edited ones are rejected."""

import json
import zipfile

import pytest

from eddi.errors import ModelFileError
from eddi.model import container
from eddi.model.files import archive
from eddi.model.item_bank.bank_file import ITEM_BANK_FORMAT, item_bank_card


def test_a_file_with_a_changed_parameter_is_rejected(bank, tmp_path):
    bank.save(tmp_path / "bank.eddi")
    with zipfile.ZipFile(tmp_path / "bank.eddi") as original:
        members = {name: original.read(name) for name in original.namelist()}
    with zipfile.ZipFile(tmp_path / "edited.eddi", "w") as edited:
        for name, content in members.items():
            edited.writestr(name, content.replace(b'"discrimination": 2.5', b'"discrimination": 9.5'))
    with pytest.raises(ModelFileError, match=r"item_bank\.json in .* does not match its checksum"):
        archive.load(tmp_path / "edited.eddi")


@pytest.mark.parametrize(
    "change",
    [
        lambda document: document["items"][0].update(discrimination="high"),
        lambda document: document["items"][0].update(thresholds=[3, 2, 1]),
        lambda document: document["items"].clear(),
        lambda document: document["traits"][0].update(sd=0),
        lambda document: document["traits"][0].update(name="unknown"),
        lambda document: document.pop("schema"),
        lambda document: document.update(target=["nothing"]),
    ],
)
def test_a_file_with_valid_checksums_that_makes_no_sense_is_rejected(bank, tmp_path, change):
    document = json.loads(json.dumps(bank.to_document()))
    change(document)
    members = {"item_bank.json": json.dumps(document).encode(), "CARD.md": b""}
    container.write(tmp_path / "bank.eddi", ITEM_BANK_FORMAT, members)
    with pytest.raises(ModelFileError, match="does not describe a model"):
        archive.load(tmp_path / "bank.eddi")


def test_what_needs_a_network_says_that_the_file_is_an_item_bank(bank, tmp_path):
    bank.save(tmp_path / "bank.eddi")
    with pytest.raises(ModelFileError, match="is an item bank, which has no network"):
        archive.load_network(tmp_path / "bank.eddi")


def test_the_card_lists_traits_and_parameters(bank):
    card = item_bank_card(bank)
    assert "| mood | mean 0, sd 1 | 50 + 10 theta T |" in card
    assert "| hope | mood | 3.1 | 0.1, 0.9, 1.7 |" in card
