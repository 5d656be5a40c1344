"""An analyst is warned of leaks and holes, and not of what is well."""

import numpy as np
import pandas as pd
import pytest

from eddi.service.analyst.data_warnings import by_column, cautions, strength
from eddi.table.schema import Schema


@pytest.fixture
def warned(workshop, tmp_path):
    """What is said of a table: `warned(frame, "target")`, by column."""

    def look(frame, target):
        path = tmp_path / "t.csv"
        frame.to_csv(path, index=False)
        kept = workshop.tables.add("t.csv", path)
        document = kept.schema.to_document() | {"targets": [target] if target else []}
        kept = workshop.tables.correct(kept.key, Schema.from_document(document))
        return cautions(kept, workshop.tables.rows(kept.seal))

    return look


def frame_of(n=300):
    random = np.random.default_rng(0)
    risk = random.normal(size=n)
    return pd.DataFrame(
        {
            "risk": risk,
            "leak": 3 * risk + random.normal(size=n) * 0.05,
            "good": risk + random.normal(size=n),
            "grade": np.where(risk > 0, "high", "low"),
            "holey": np.where(random.random(n) < 0.7, np.nan, random.normal(size=n)),
            "site": "Bangor",
            "person_id": np.arange(n) + 7000,
        }
    )


def test_leaks_holes_constants_and_identifiers_are_told(warned):
    found = by_column(warned(frame_of(), "risk"))
    assert [one.kind for one in found["leak"]] == ["leak"]
    assert "of 'risk' by itself" in found["leak"][0].words
    assert found["holey"][0].kind == "missing"
    assert "constant" in found["site"][0].words
    assert found["person_id"][0].kind == "identifier"
    assert "good" not in found


def test_a_level_can_be_given_away_by_a_quantity(warned):
    found = by_column(warned(frame_of(), "grade"))
    assert [one.kind for one in found["risk"]] == ["leak"]
    assert "good" not in found


def test_few_rows_and_no_target_are_told_of_the_table(warned):
    found = warned(frame_of(60), None)
    assert {one.kind for one in found if one.column is None} == {"rows", "target"}
    assert found[0].is_grave


def test_chance_is_no_leak():
    random = np.random.default_rng(1)
    noise = random.normal(size=(2, 400))
    assert strength(noise[0], noise[1], levels=False) < 0.1
    assert strength(noise[0], (noise[1] > 0).astype(float), levels=True) < 0.2
    assert strength(np.arange(400.0), (np.arange(400) > 200).astype(float), levels=True) > 0.95
    assert strength(np.full(400, np.nan), noise[1], levels=False) == 0
