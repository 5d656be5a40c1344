"""Columns of decision rows."""

import pytest

from eddi.errors import SchemaError
from eddi.table.schema import Schema
from eddi.table.series.row_layout import RowLayout
from eddi.table.survival.survival import Survival
from eddi.table.variable import Variable


def test_every_column_of_a_row_has_one_role(long_schema):
    layout = RowLayout(long_schema)
    columns = [*layout.windows.ravel(), *layout.static_columns, layout.time_column]
    columns += [column for column in layout.next_values if column >= 0]
    assert sorted(columns) == list(range(len(long_schema.variables)))


def test_a_survival_variable_is_not_static(long_schema):
    survival = Variable("relapse", "survival", survival=Survival("seen", "relapsed"))
    layout = RowLayout(long_schema.with_variable(survival))
    assert [variable.name for variable in layout.survival] == ["relapse"]
    assert [variable.name for variable in layout.static] == ["age", "death"]


def test_a_static_schema_has_no_layout():
    with pytest.raises(SchemaError, match="no section"):
        _ = RowLayout(Schema((Variable("x", "real"),))).time
