"""Item banks are read from tables, with clear messages about mistakes."""

import pytest

from eddi.errors import SchemaError, TableError
from eddi.model.item_bank import ItemBank, Trait
from eddi.table.variable import Kind


def read(tmp_path, text, **options):
    path = tmp_path / "items.csv"
    path.write_text(text)
    return ItemBank.from_csv(path, **options)


def test_each_row_becomes_an_item_a_variable_and_a_question(bank):
    sad, cry = bank.schema["sad"], bank.schema["cry"]
    assert (sad.kind, sad.levels) == (Kind.ORDINAL, ("1", "2", "3", "4"))
    assert sad.labels == ("Never", "Sometimes", "Often", "Always")
    assert (cry.kind, cry.levels) == (Kind.BINARY, ("0", "1"))
    question = bank.schema.question("sad")
    assert (question.text, question.section) == ("I felt sad", "feelings")
    assert [item.trait for item in bank.items] == ["mood", "mood", "mood", "rest", "rest"]


def test_traits_are_targets_that_are_never_asked(bank):
    assert bank.target == bank.schema.targets == ("mood", "rest")
    assert bank.schema.question("mood").never


def test_levels_may_be_listed_from_high_to_low_for_a_reversed_item(tmp_path):
    bank = read(tmp_path, "item,a,b1,b2,levels\ncalm,1.5,-1,1,3|2|1\n")
    assert bank.schema["calm"].levels == ("3", "2", "1")


def test_names_of_columns_may_differ(tmp_path):
    bank = read(tmp_path, "Name,Slope,b\nx,1.5,0.2\n", trait=Trait("skill", report_mean=0, report_sd=1))
    assert bank.items[0].thresholds == (0.2,)
    assert bank.target == ("skill",)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("x,y\n1,2\n", TableError, "has no column 'item'. Columns are: 'x', 'y'"),
        ("item,b1\nx,2\n", TableError, "has no column 'a'"),
        ("item,a\nx,2\n", TableError, "no column of thresholds, such as 'b1'"),
        ("item,a,b1\nx,high,2\n", TableError, "a of item 'x' must be a number, got 'high'"),
        ("item,a,b1\nx,,2\n", SchemaError, "item 'x' has a parameter that is not a number"),
        ("item,a,b1,b2,b3\nx,1,0,,2\n", TableError, "item 'x' has a threshold after an empty one"),
        ("item,a,b1,options\nx,1,0,A|B|C\n", TableError, "3 options and 1 thresholds, which makes 2"),
        ("item,a,b1\n,1,0\n", TableError, "row 1 of the item bank has no name"),
        ("item,a,b1\nx,1,0\nx,1,1\n", SchemaError, "'x' is used twice"),
    ],
)
def test_mistakes_in_a_table_of_items_are_explained(tmp_path, text, error, message):
    with pytest.raises(error, match=message):
        read(tmp_path, text)
