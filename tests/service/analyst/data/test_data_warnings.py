"""Warnings about target leaks, missing values, constants and identifiers, and none without a reason."""

import numpy as np
import pandas as pd
import pytest

from eddi.service.analyst.data.data_warnings import find_warnings, group_by_column
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
