"""The evaluation document: curves of all strategies, rankings, calibration and costs."""

import json

import numpy as np
import pytest

from eddi import simulate
from eddi.errors import TargetError
from eddi.model.files.archive import load
from eddi.service.analyst.data.tables import read_rows
from eddi.service.analyst.models import evaluation
from eddi.service.analyst.models.evaluation import evaluate
from eddi.strategy import Information, Random

N_ROWS = 24


@pytest.fixture(scope="module", autouse=True)
def few_synthetic_rows():
    """Which fixed order is learned does not matter here, and few rows are faster."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("eddi.strategy.fixed_order.N_DRAWN_ROWS", 8)
        yield


@pytest.fixture(scope="module")
def held_out(people):
    return people(N_ROWS, seed=8)


@pytest.fixture(scope="module")
def of_age(model, held_out):
    """The evaluation of a quantity, with the reported progress."""
    progress = []
    document = evaluate(model.fitted(), held_out, "age", on_progress=progress.append)
    return document | {"progress": progress}


@pytest.fixture(scope="module")
def of_stage(gallery):
    """The evaluation of levels, for a model whose questions have different costs."""
    trained = gallery.get_model(gallery.digests["stage"])
    return json.loads(gallery.blobs.path(trained.evaluation).read_bytes())


def test_the_document_is_plain_json(of_age, of_stage):
    for document in (of_age, of_stage):
        assert json.loads(json.dumps(document, allow_nan=False)) == document
        assert document["version"] == evaluation.VERSION


def test_the_curves_are_those_of_a_simulation(of_age, model, held_out):
    curves = simulate(model, held_out, "age")
    assert of_age["curves"]["rmse"]["eddi"]["value"] == pytest.approx(curves.rmse, rel=1e-5)
    assert of_age["curves"]["nll"]["eddi"]["value"] == pytest.approx(curves.nll, rel=1e-5)
    random = simulate(model, held_out, "age", strategy=Random())
    assert of_age["curves"]["rmse"]["random"]["value"] == pytest.approx(random.rmse, rel=1e-5)
    assert of_age["n_rows"] == int(curves.known.sum())
    assert (of_age["n_given"], of_age["n_steps"]) == (N_ROWS, curves.n_steps)


def test_all_strategies_end_with_the_same_error(of_age):
    final = [curve["value"][-1] for curve in of_age["curves"]["rmse"].values()]
    assert final == pytest.approx([final[0]] * 3)


def test_bands_contain_their_curves(of_age, of_stage):
    for document in (of_age, of_stage):
        for curves in document["curves"].values():
            for band in curves.values():
                assert (np.array(band["low"]) <= np.array(band["value"]) + 1e-9).all()
                assert (np.array(band["value"]) <= np.array(band["high"]) + 1e-9).all()


def test_areas_are_means_over_steps_and_compared_row_by_row(of_age):
    rankings = {ranking["name"]: ranking for ranking in of_age["standings"]["rmse"]}
    for name, ranking in rankings.items():
        assert ranking["auic"]["value"] == pytest.approx(
            np.mean(of_age["curves"]["rmse"][name]["value"]), rel=1e-5
        )
    difference = rankings["random"]["against"]
    expected = rankings["eddi"]["auic"]["value"] - rankings["random"]["auic"]["value"]
    assert difference["value"] == pytest.approx(expected, abs=1e-4)
    assert difference["low"] <= difference["value"] <= difference["high"]
    assert 0 <= difference["p_value"] <= 1
    assert rankings["eddi"]["against"] is None


def test_calibration_is_measured_by_intervals_for_a_quantity_and_by_bins_for_levels(of_age, of_stage):
    assert [result["step"] for result in of_age["calibration"]] == [0, 4, 7]
    assert set(of_age["calibration"][0]["intervals"]) == {"0.5", "0.8", "0.9"}
    coverage = of_age["calibration"][-1]["intervals"]
    assert 0 <= coverage["0.5"] <= coverage["0.8"] <= coverage["0.9"] <= 1
    assert of_stage["calibration"][0]["intervals"] == {}
    assert sum(of_stage["calibration"][0]["n_rows"]) == of_stage["n_rows"]


def test_there_is_a_cost_curve_only_if_costs_differ(of_age, of_stage):
    assert of_age["frontier"] is None
    frontier = of_stage["frontier"]
    assert frontier["costs"][0] == 0
    assert frontier["costs"][-1] == pytest.approx(6 + 4)
    first = {curve["value"][0] for curve in frontier["curves"].values()}
    assert len(first) == 1


def test_eddi_is_the_strategy_that_interviews_use(of_age, of_stage, gallery):
    assert (of_age["strategy"], list(of_age["curves"]["rmse"])) == (
        "information",
        ["eddi", "random", "fixed"],
    )
    assert of_stage["strategy"] == "per-cost"
    assert list(of_stage["curves"]["brier"]) == ["eddi", "information", "random", "fixed"]
    trained = gallery.get_model(gallery.digests["stage"])
    model = load(gallery.blobs.path(trained.digest))
    rows = read_rows(trained.table).take(list(trained.held_out))
    used = simulate(model, rows, "stage")
    assert of_stage["curves"]["brier"]["eddi"]["value"] == pytest.approx(used.brier, rel=1e-5)
    plain = simulate(model, rows, "stage", strategy=Information())
    assert of_stage["curves"]["brier"]["information"]["value"] == pytest.approx(plain.brier, rel=1e-5)


def test_classes_have_an_auroc_and_the_rate_of_the_most_frequent_class(of_age, of_stage):
    assert (of_age["auroc"], of_age["majority_rate"]) == (None, None)
    assert set(of_stage["auroc"]) == {"eddi", "information", "random", "fixed"}
    assert len(of_stage["auroc"]["eddi"]) == of_stage["n_steps"] + 1
    assert 0 < of_stage["majority_rate"] <= 1


def test_the_shares_of_questions_at_a_step_add_up_to_one(of_age):
    assert sum(of_age["choices"][0].values()) == pytest.approx(1)
    assert list(of_age["choices"][0].values()) == sorted(of_age["choices"][0].values(), reverse=True)


def test_progress_goes_from_0_to_1(of_age):
    assert of_age["progress"] == sorted(of_age["progress"])
    assert of_age["progress"][0] == 0
    assert of_age["progress"][-1] == pytest.approx(1)


def test_rows_and_steps_beyond_the_maximum_are_ignored(model, held_out, monkeypatch):
    monkeypatch.setattr(evaluation, "MAX_ROWS", 5)
    monkeypatch.setattr(evaluation, "MAX_STEPS", 2)
    few = evaluate(model.fitted(), held_out, "age")
    assert few["n_rows"] <= 5
    assert (few["n_steps"], few["n_given"]) == (2, N_ROWS)


def test_rows_without_the_target_are_refused(model, held_out):
    with pytest.raises(TargetError, match="no row of the table has a value of 'age'"):
        evaluate(model.fitted(), held_out.assign(age=np.nan), "age")
