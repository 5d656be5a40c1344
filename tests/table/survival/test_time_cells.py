"""Errors in the columns of a survival variable."""

from datetime import date

import pyarrow as pa
import pytest

from eddi.errors import TableError
from eddi.table.columns import read_survival
from eddi.table.survival.survival import Survival
from eddi.table.variable import Variable


def read(times, events, unit=""):
    """The times of a table with the columns "seen" and "died"."""
    variable = Variable("death", "survival", unit=unit, survival=Survival("seen", "died"))
    return read_survival(pa.table({"seen": times, "died": events}), variable)


def test_times_may_have_a_unit():
    assert read(["3 h", "4.5 h", None], [1, 0, None]).times.tolist()[:2] == [3, 4.5]
    assert read(["3 days", "4.5 days"], [1, 0], "d").times.tolist() == [3, 4.5]


@pytest.mark.parametrize(
    ("times", "events", "unit", "message"),
    [
        (
            ["3 h", "1 d"],
            [1, 0],
            "",
            "'seen', a time of 'death', is '1 d', but others have 'h'. Convert",
        ),
        (["3 h", "4 h"], [1, 0], "days", "is '3 h', but the unit is 'days'. Convert"),
        ([date(2024, 1, 1)], [1], "", "holds dates. Give the time since the start as a number"),
        ([3.0, 4.0], ["dead", "alive"], "", "'died' has the value 'dead'; 0 and 1.*occurred = \"dead\""),
    ],
)
def test_what_is_no_time_or_no_event_is_rejected(times, events, unit, message):
    with pytest.raises(TableError, match=message):
        read(times, events, unit)
