"""Cells that list several options are recognized, split and joined."""

import numpy as np
import pytest

from eddi.table.cells.multi_select import OptionSource, detect_multi_select, join_options, split_options


def detect(cells):
    values = list(dict.fromkeys(cells))
    return detect_multi_select(values, np.array([cells.count(value) for value in values]))


@pytest.mark.parametrize("separator", ["; ", ",", " | ", "\n"])
def test_options_in_different_combinations_are_detected(separator):
    cells = ["R", "Excel", "Excel; R", "Python", "Python; R", "Excel; Python; r"] * 4
    detected = detect([cell.replace("; ", separator) for cell in cells])
    assert detected.options == ("Excel", "Python", "R")
    assert detected.separator == (separator.strip() or "\n")


@pytest.mark.parametrize(
    "cells",
    [
        ["Springfield, Illinois", "Portland, Oregon", "Salem, Oregon"] * 5,
        ["red", "green", "blue"] * 5,
        ["Doe, J", "Roe, J", "Poe, E"] * 5,
        [f"first, I went to {n}, and then {n + 1} came" for n in range(50)],
        ["1,5", "2,5", "3"] * 5,
    ],
)
def test_lists_of_fixed_length_and_prose_are_not_options(cells):
    assert detect(cells) is None


def test_an_option_is_found_in_any_case_and_only_as_a_whole():
    source = OptionSource("tools", "R")
    assert [source.is_listed(cell) for cell in ("Excel; r", "Ruby", "")] == [True, False, False]


def test_joined_options_are_split_again():
    assert split_options(join_options(["Excel", "R"], ";"), ";") == ["Excel", "R"]
