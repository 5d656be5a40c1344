"""Item banks: item response models with known parameters, for computerised adaptive tests."""

from eddi.model.item_bank.calibration import calibrate
from eddi.model.item_bank.item import Item
from eddi.model.item_bank.item_bank import ItemBank
from eddi.model.item_bank.trait import Trait

__all__ = ["Item", "ItemBank", "Trait", "calibrate"]
