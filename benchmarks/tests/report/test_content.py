"""Columns of figures are told from columns of words."""

import pytest

from eddi_benchmarks.report.content import Grid, is_numeric


@pytest.mark.parametrize(
    ("cells", "numeric"),
    [
        (("5.1", "-3", "+0.2", "\N{MINUS SIGN}0.5"), True),
        (("5.10 ± 0.02", "1,200", "12%", "(3)"), True),
        (("< 0.001", "<0.01", "≈ 5", ".5"), True),
        (("5.1", "\N{EN DASH}", "", "n/a"), True),
        (("\N{EN DASH}", ""), False),
        (("5.1", "none"), False),
        (("EDDI", "RAND"), False),
    ],
)
def test_a_column_is_of_figures_where_every_cell_is_one_or_empty(cells, numeric):
    grid = Grid("", ("name", "value"), tuple(("row", cell) for cell in cells))
    assert is_numeric(grid, 1) is numeric


def test_the_first_column_names_the_rows_even_by_numbers():
    assert not is_numeric(Grid("", ("step",), (("1",), ("2",))), 0)
