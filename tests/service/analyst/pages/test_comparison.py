"""Two models side by side: how they differ, and which is better."""

import copy
from dataclasses import replace

import pytest

from eddi.service.analyst.model_viewer import Exhibits
from eddi.service.analyst.pages import comparison


@pytest.fixture(scope="module")
def pair(gallery):
    shown = Exhibits(gallery)
    both = [shown.get(gallery.seals[name]) for name in ("age", "twin")]
    return both, [shown.evaluation(one.made) for one in both]


def test_what_is_asked_otherwise_is_said(model):
    a = model.schema_.with_question("pain", text="Does it hurt?")
    b = a.without("town").with_question("pain", text="How strong is the pain?", cost=3.0, always=True)
    b = b.with_question("body", reveals=["weight", "visits"])
    assert list(comparison.changes(a, b)) == [
        "Only A knows town.",
        "pain is asked as “Does it hurt?” in A, and as “How strong is the pain?” in B.",
        "pain costs 1 in A and 3 in B.",
        "pain is always asked in B only.",
    ]
    assert list(comparison.changes(a, a)) == []


def test_bounds_that_moved_are_said(pair):
    (a, b), _ = pair
    words = " ".join(comparison.changes(a.model.schema_, b.model.schema_))
    assert "visits may be" in words
    assert "pain costs 1 in A and 2 in B." in words


def test_twins_are_not_told_apart_by_the_same_rows(pair):
    (a, b), judged = pair
    facts = comparison.facts(a, b, tuple(judged))
    assert facts["verdict"].startswith("Neither is clearly better")
    assert len(facts["charts"]) == 2
    assert [one.name for one in facts["charts"][0].series] == ["B", "A"]
    differing = {one.name for one in facts["rows"] if one.differs}
    assert "Variables" not in differing


def test_one_that_errs_less_on_every_row_is_better(pair):
    (a, b), (first, second) = pair
    better = copy.deepcopy(second)
    known = [area for area in first["row_areas"]["rmse"] if area is not None]
    better["row_areas"]["rmse"] = [None if x is None else x / 2 for x in first["row_areas"]["rmse"]]
    words = comparison.facts(a, b, (first, better))["verdict"]
    assert words.startswith("B is better: it does better on 100% of the same rows (p < 0.001")
    assert f"paired over {len(known)} rows" in words
    assert comparison.facts(a, b, (better, first))["verdict"].startswith("A is better")


def test_other_rows_or_targets_are_not_compared_in_pairs(pair):
    (a, b), (first, second) = pair
    elsewhere = replace(b, made=replace(b.made, held_out=(1, 2)))
    assert "judged by different rows" in comparison.facts(a, elsewhere, (first, second))["verdict"]
    other = {**second, "target": "stage"}
    facts = comparison.facts(a, b, (first, other))
    assert "different things" in facts["verdict"]
    assert facts["charts"] == []


def test_without_evaluations_there_is_no_verdict(pair):
    (a, b), (first, _) = pair
    facts = comparison.facts(a, b, (first, None))
    assert (facts["both_judged"], facts["charts"], facts["verdict"]) == (False, [], "")
