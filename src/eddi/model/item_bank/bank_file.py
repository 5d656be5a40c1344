"""Item banks as model files: JSON and a card in a zip with checksums; see `container`."""

import json
from pathlib import Path

from eddi.model import container
from eddi.model.container import Content, Format
from eddi.model.item_bank.item import MAX_ITEMS
from eddi.model.item_bank.item_bank import ItemBank

ITEM_BANK_FORMAT = Format("eddi-item-bank", 1, 1, ("item_bank.json", "CARD.md"))


def write_item_bank(bank: ItemBank, path: Path) -> None:
    """Write an item bank to ``path`` atomically."""
    document = json.dumps(bank.to_document(), indent=1, ensure_ascii=False)
    members = {"item_bank.json": document.encode(), "CARD.md": item_bank_card(bank).encode()}
    container.write(path, ITEM_BANK_FORMAT, members)


def parse_item_bank(content: Content) -> ItemBank:
    """The item bank in a model file."""
    document = json.loads(content.members["item_bank.json"])
    if len(document["items"]) > MAX_ITEMS:
        raise ValueError(f"an item bank has at most {MAX_ITEMS:,} items.")
    return ItemBank.from_document(document)


def item_bank_card(bank: ItemBank) -> str:
    """The card of an item bank in Markdown."""
    lines = [
        "# An EDDI item bank",
        "",
        "A graded response model with known item parameters. It estimates latent traits and chooses the "
        "most informative next item. It was not trained: parameters come from the table of items.",
        "",
        f"- Items: {len(bank.items)}",
        f"- Target: {', '.join(bank.target)}",
        "",
        "| trait | population | reported score |",
        "|--|--|--|",
    ]
    lines += [
        f"| {_cell(trait.name)} | mean {trait.mean:g}, sd {trait.sd:g} | "
        f"{trait.report_mean:g} + {trait.report_sd:g} theta {_cell(trait.unit)} |"
        for trait in bank.traits
    ]
    lines += ["", "| item | trait | a | b |", "|--|--|--|--|"]
    for item in bank.items:
        thresholds = ", ".join(f"{b:.3g}" for b in item.thresholds)
        lines.append(
            f"| {_cell(item.name)} | {_cell(item.trait)} | {item.discrimination:.3g} | {thresholds} |"
        )
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
