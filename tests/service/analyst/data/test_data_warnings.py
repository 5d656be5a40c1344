"""Warnings about target leaks, missing values, constants and identifiers, and none without a reason."""

import numpy as np
import pandas as pd
import pytest

from eddi.service.analyst.data.data_warnings import (
    find_warnings,
    group_by_column,
    predictive_strength,
)
from eddi.table.schema import Schema


@pytest.fixture
def warnings_for(workshop, tmp_path):
    """The warnings about a table: `warnings_for(frame, "target")`."""

    def find(frame, target):
        path = tmp_path / "t.csv"
        frame.to_csv(path, index=False)
        table = workshop.tables.add("t.csv", path)
        document = table.schema.to_document() | {"targets": [target] if target else []}
        table = workshop.tables.correct(table.key, Schema.from_document(document))
        return find_warnings(table, workshop.tables.rows(table.digest))

    return find


def make_frame(n=300):
    random = np.random.default_rng(0)
    risk = random.normal(size=n)
    return pd.DataFrame(
        {
            "risk": risk,
            "leak": 3 * risk + random.normal(size=n) * 0.05,
            "good": risk + random.normal(size=n),
            "grade": np.where(risk > 0, "high", "low"),
            "sparse": np.where(random.random(n) < 0.7, np.nan, random.normal(size=n)),
            "site": "Bangor",
            "person_id": np.arange(n) + 7000,
        }
    )


def test_leaks_missing_values_constants_and_identifiers_are_reported(warnings_for):
    warnings = group_by_column(warnings_for(make_frame(), "risk"))
    assert [warning.kind for warning in warnings["leak"]] == ["leak"]
    assert "of 'risk' on its own" in warnings["leak"][0].message
    assert warnings["sparse"][0].kind == "missing"
    assert "constant" in warnings["site"][0].message
    assert warnings["person_id"][0].kind == "identifier"
    assert "good" not in warnings


def test_a_quantity_can_leak_a_level(warnings_for):
    warnings = group_by_column(warnings_for(make_frame(), "grade"))
    assert [warning.kind for warning in warnings["risk"]] == ["leak"]
    assert "good" not in warnings


def test_few_rows_and_a_missing_target_are_reported_for_the_table(warnings_for):
    warnings = warnings_for(make_frame(60), None)
    assert {warning.kind for warning in warnings if warning.column is None} == {"rows", "target"}
    assert warnings[0].is_serious


def test_a_chance_correlation_is_not_a_leak():
    random = np.random.default_rng(1)
    noise = random.normal(size=(2, 400))
    is_high = (noise[1] > 0).astype(float)
    is_late = (np.arange(400) > 200).astype(float)
    assert predictive_strength(noise[0], noise[1], has_levels=False) < 0.1
    assert predictive_strength(noise[0], is_high, has_levels=True) < 0.2
    assert predictive_strength(np.arange(400.0), is_late, has_levels=True) > 0.95
    assert predictive_strength(np.full(400, np.nan), noise[1], has_levels=False) == 0
