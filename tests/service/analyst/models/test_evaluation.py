"""The evaluation of a model as a document: who asked better, how sure it may be, at what cost."""

import json

import numpy as np
import pytest

from eddi import simulate
from eddi.errors import TargetError
from eddi.service.analyst import evaluation
from eddi.service.analyst.evaluation import evaluate
from eddi.strategy.random import Random

N_ROWS = 24


@pytest.fixture(scope="module", autouse=True)
def few_imagined():
    """What fixed order is learned does not matter here, and few rows teach one quickly."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluation, "N_IMAGINED", 8)
        yield


@pytest.fixture(scope="module")
def held_out(people):
    return people(N_ROWS, seed=8)


@pytest.fixture(scope="module")
def of_age(model, held_out):
    shares = []
    return evaluate(model, held_out, "age", on_progress=shares.append) | {"shares": shares}


@pytest.fixture(scope="module")
def of_stage(gallery):
    """Of a model whose questions cost differently."""
    made = gallery.made(gallery.seals["stage"])
    return json.loads(gallery.shelf.path(made.evaluation).read_bytes())


def test_the_document_is_plain_json(of_age, of_stage):
    for document in (of_age, of_stage):
        assert json.loads(json.dumps(document, allow_nan=False)) == document
        assert document["version"] == evaluation.VERSION


def test_its_curves_are_those_of_a_simulation(of_age, model, held_out):
    known = simulate(model, held_out, "age")
    assert of_age["curves"]["rmse"]["eddi"]["value"] == pytest.approx(known.rmse, rel=1e-5)
    assert of_age["curves"]["nll"]["eddi"]["value"] == pytest.approx(known.nll, rel=1e-5)
    at_random = simulate(model, held_out, "age", strategy=Random())
    assert of_age["curves"]["rmse"]["random"]["value"] == pytest.approx(at_random.rmse, rel=1e-5)
    assert of_age["n_rows"] == int(known.known.sum())
    assert (of_age["n_given"], of_age["n_steps"]) == (N_ROWS, known.n_steps)


def test_every_strategy_ends_where_all_is_asked(of_age):
    ends = [curve["value"][-1] for curve in of_age["curves"]["rmse"].values()]
    assert ends == pytest.approx([ends[0]] * 3)


def test_bands_lie_around_their_curves(of_age, of_stage):
    for document in (of_age, of_stage):
        for curves in document["curves"].values():
            for band in curves.values():
                assert (np.array(band["low"]) <= np.array(band["value"]) + 1e-9).all()
                assert (np.array(band["value"]) <= np.array(band["high"]) + 1e-9).all()


def test_areas_are_means_over_steps_and_compared_in_pairs(of_age):
    standings = {one["name"]: one for one in of_age["standings"]["rmse"]}
    for name, one in standings.items():
        assert one["auic"]["value"] == pytest.approx(
            np.mean(of_age["curves"]["rmse"][name]["value"]), rel=1e-5
        )
    against = standings["random"]["against"]
    apart = standings["eddi"]["auic"]["value"] - standings["random"]["auic"]["value"]
    assert against["value"] == pytest.approx(apart, abs=1e-4)
    assert against["low"] <= against["value"] <= against["high"]
    assert 0 <= against["p_value"] <= 1
    assert standings["eddi"]["against"] is None


def test_a_quantity_has_intervals_and_levels_have_bins(of_age, of_stage):
    assert [one["step"] for one in of_age["calibration"]] == [0, 4, 7]
    assert set(of_age["calibration"][0]["intervals"]) == {"0.5", "0.8", "0.9"}
    shares = of_age["calibration"][-1]["intervals"]
    assert 0 <= shares["0.5"] <= shares["0.8"] <= shares["0.9"] <= 1
    assert of_stage["calibration"][0]["intervals"] == {}
    assert sum(of_stage["calibration"][0]["n_rows"]) == of_stage["n_rows"]


def test_what_is_spent_counts_only_where_costs_differ(of_age, of_stage):
    assert of_age["frontier"] is None
    assert "per cost" not in of_age["curves"]["rmse"]
    frontier = of_stage["frontier"]
    assert frontier["costs"][0] == 0
    assert frontier["costs"][-1] == pytest.approx(6 + 4)
    first = {curve["value"][0] for curve in frontier["curves"].values()}
    assert len(first) == 1
    assert "per cost" in frontier["curves"]


def test_what_was_asked_when_adds_up(of_age):
    assert sum(of_age["choices"][0].values()) == pytest.approx(1)
    assert list(of_age["choices"][0].values()) == sorted(of_age["choices"][0].values(), reverse=True)


def test_progress_goes_from_nothing_to_all(of_age):
    assert of_age["shares"] == sorted(of_age["shares"])
    assert of_age["shares"][0] == 0
    assert of_age["shares"][-1] == pytest.approx(1)


def test_rows_beyond_the_most_are_left_alone(model, held_out, monkeypatch):
    monkeypatch.setattr(evaluation, "MAX_ROWS", 5)
    monkeypatch.setattr(evaluation, "MAX_STEPS", 2)
    few = evaluate(model, held_out, "age")
    assert few["n_rows"] <= 5
    assert (few["n_steps"], few["n_given"]) == (2, N_ROWS)


def test_rows_that_do_not_know_the_target_are_refused(model, held_out):
    with pytest.raises(TargetError, match="no row of the table has a value of 'age'"):
        evaluate(model, held_out.assign(age=np.nan), "age")
