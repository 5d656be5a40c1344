"""Information of items by score is drawn and tabulated."""

import numpy as np
import pyarrow as pa
import pytest

from eddi.evaluate.item_tests.item_information import trait_precision
from eddi.model.item_bank import Trait
from eddi.model.item_bank.item_file import build_item_bank
from eddi.service.analyst.item_banks.information_charts import summarize_traits


@pytest.fixture(scope="module")
def bank():
    columns = {"item": ["x", "y", "z"], "a": [1.0, 2.0, 3.0], "b": [0.0, 0.5, 1.0]}
    return build_item_bank(pa.table({**columns, "trait": ["one", "one", "two"]}), Trait())


def test_every_trait_has_its_own_items(bank):
    first, second = summarize_traits(bank)
    assert [(first.name, first.n_items), (second.name, second.n_items)] == [("one", 2), ("two", 1)]
    assert [item[0] for item in first.items] == ["y", "x"]  # the most informative first
    assert len(first.chart.lines) == 2


def test_an_item_is_most_informative_at_its_threshold(bank):
    name, _, information, score = summarize_traits(bank)[1].items[0]
    assert (name, score) == ("z", "60")
    assert float(information) == pytest.approx(9 / 4, rel=0.01)  # a^2 / 4


def test_precision_is_that_of_the_whole_item_bank(bank):
    scores, _, error, reliability = trait_precision(bank, "one", n_points=7)
    shown = np.array(summarize_traits(bank)[0].precision, dtype=float)
    np.testing.assert_allclose(
        shown, np.stack([scores, error, reliability], axis=1), rtol=0.02, atol=0.01
    )
