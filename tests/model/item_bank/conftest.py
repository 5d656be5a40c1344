"""A small item bank, as published ones are: a table with one item per row."""

import pytest

from eddi.model.item_bank import ItemBank, Trait

ITEMS = """\
item,text,trait,section,a,b1,b2,b3,options
sad,I felt sad,mood,feelings,2.5,-0.5,0.4,1.3,Never|Sometimes|Often|Always
hope,I felt hopeless,mood,feelings,3.1,0.1,0.9,1.7,Never|Sometimes|Often|Always
cry,I cried,mood,behaviour,1.2,0.8,,,No|Yes
sleep,I slept badly,rest,behaviour,1.8,-1.0,0.2,1.1,Never|Sometimes|Often|Always
tired,I was tired,rest,behaviour,2.2,-0.7,0.3,,Never|Sometimes|Often
"""


@pytest.fixture(scope="session")
def items_csv(tmp_path_factory):
    path = tmp_path_factory.mktemp("bank") / "items.csv"
    path.write_text(ITEMS)
    return path


@pytest.fixture(scope="session")
def bank(items_csv) -> ItemBank:
    return ItemBank.from_csv(items_csv, trait=Trait(unit="T"))
