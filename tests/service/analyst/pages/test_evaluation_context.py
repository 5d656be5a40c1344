"""The evaluation page's texts and charts, from a hand-written document."""

import copy
import math

import pytest

from eddi.service.analyst.pages import evaluation_context as view


def band(*values, half=0.5):
    return {"value": values, "low": [v - half for v in values], "high": [v + half for v in values]}


def ranking(name, auic, against=None):
    return {"name": name, "auic": {"value": auic, "low": auic - 1, "high": auic + 1}, "against": against}


def difference(value, p_value):
    return {"value": value, "low": value - 0.1, "high": value + 0.1, "p_value": p_value}


DOCUMENT = {
    "target": "risk",
    "unit": "points",
    "levels": [],
    "metrics": ["rmse"],
    "n_rows": 80,
    "n_given": 100,
    "n_steps": 4,
    "seconds": 3.2,
    "curves": {
        "rmse": {
            "random": band(9.0, 8.0, 7.0, 6.0, 2.0),
            "eddi": band(9.0, 6.0, 4.0, 3.0, 2.0),
            "fixed": band(9.0, 6.5, 4.5, 3.0, 2.0),
        }
    },
    "standings": {
        "rmse": [
            ranking("random", 6.4, difference(-1.6, 0.0004)),
            ranking("eddi", 4.8),
            ranking("fixed", 5.0, difference(-0.2, 0.3)),
        ]
    },
    "calibration": [
        {
            "step": step,
            "stated": [0.25, 0.75],
            "came": [0.2, 0.8],
            "low": [0.15, 0.7],
            "high": [0.25, 0.9],
            "n_rows": [80, 80],
            "error": 0.04,
            "intervals": {"0.5": 0.52, "0.8": 0.75, "0.9": 0.86},
        }
        for step in (0, 2, 4)
    ],
    "frontier": None,
    "choices": [{"age": 1.0}, {"weight": 0.6, "pain": 0.3, "town": 0.07, "visits": 0.03}],
}


def test_the_summary_describes_the_improvement_and_the_savings():
    assert view.summarise(DOCUMENT) == [
        "Before any question, the error is 9 points; after all 4 questions, 2 points.",
        "EDDI reaches 4 points after 2 answers, a random order after 4.",
    ]


def test_no_savings_are_claimed_if_there_are_none():
    worse = copy.deepcopy(DOCUMENT)
    worse["curves"]["rmse"]["random"] = band(9.0, 6.0, 4.0, 3.0, 2.0)
    assert len(view.summarise(worse)) == 1


def test_levels_are_summarised_by_their_accuracy():
    levels = copy.deepcopy(DOCUMENT) | {"levels": ["no", "yes"], "unit": ""}
    levels["curves"]["accuracy"] = {
        "eddi": band(0.5, 0.7, 0.8, 0.8, 0.9),
        "random": band(0.5, 0.55, 0.6, 0.8, 0.9),
    }
    assert view.summarise(levels) == [
        "Before any question, 50% of predictions are correct; after all 4 questions, 90%.",
        "EDDI reaches 80% after 2 answers, a random order after 3.",
    ]


def test_strategies_are_ranked_by_area_with_a_verdict_on_each():
    items = view.rankings(DOCUMENT, "rmse")
    assert [item.name for item in items] == ["EDDI", "fixed order", "random order"]
    assert [item.verdict for item in items] == ["", "No clear difference", "EDDI is better"]
    assert (items[2].difference, items[2].p_value) == ("\u22121.6", "p < 0.001")
    assert items[1].p_value == "p = 0.3"


def test_the_verdict_says_if_eddi_is_worse():
    lost = copy.deepcopy(DOCUMENT)
    lost["standings"]["rmse"][0]["against"] = difference(0.9, 0.01)
    assert view.rankings(lost, "rmse")[-1].verdict == "EDDI is worse"


def test_the_strategy_is_named_by_what_interviews_use():
    document = copy.deepcopy(DOCUMENT) | {"strategy": "per-cost"}
    document["curves"]["rmse"]["information"] = band(9.0, 5.0, 3.0, 2.5, 2.0)
    assert list(view.name_strategies(document).values()) == [
        *("EDDI, per unit of cost", "EDDI, ignoring costs", "fixed order", "random order")
    ]


def test_an_old_document_names_the_strategy_that_ignored_costs():
    document = copy.deepcopy(DOCUMENT)
    document["curves"]["rmse"]["per cost"] = band(9.0, 5.0, 3.0, 2.5, 2.0)
    names = view.name_strategies(document)
    assert (names["eddi"], names["per cost"]) == ("EDDI, ignoring costs", "EDDI, per cost")


def test_the_auroc_is_shown_without_bands():
    document = copy.deepcopy(DOCUMENT)
    document["auroc"] = {name: [0.5, 0.6, 0.7, 0.7, 0.8] for name in ("random", "fixed")}
    document["auroc"]["eddi"] = [0.5, 0.7, 0.8, 0.8, 0.8]
    context = view.build_context(document, "auroc")
    best = context["rankings"][0]
    assert (best.name, best.area, best.band) == ("EDDI", "0.72", "")
    assert context["curves"].lines[-1].band == ""
    assert not context["is_lower_better"]


def test_log_likelihoods_are_shown_in_bits():
    document = copy.deepcopy(DOCUMENT)
    document["curves"]["nll"] = {name: band(math.log(2), half=0) for name in ("eddi", "fixed", "random")}
    document["standings"]["nll"] = [ranking("eddi", math.log(2))]
    assert view.metric_name(document, "nll") == "Negative log-likelihood, bits"
    assert view.get_curves(document, "nll")["eddi"]["value"] == pytest.approx([1])
    assert view.rankings(document, "nll")[0].area == "1"


def test_the_rate_of_the_most_frequent_class_is_in_the_summary():
    document = DOCUMENT | {"majority_rate": 0.54}
    assert "Always guessing the most frequent class would be correct for 54%." in view.summarise(
        document
    )


def test_an_unknown_metric_is_replaced_by_the_first():
    context = view.build_context(DOCUMENT, "nonsense")
    assert context["metric"] == "rmse"
    assert context["metric_name"] == "Error (RMSE), points"
    assert context["strategies"] == ["EDDI", "fixed order", "random order"]
    assert context["table"][2] == ["2", "4", "4.5", "7"]
    assert context["calibration_rows"][1] == ("after 2 answers", ["52%", "75%", "86%"])
    assert [question.name for question in context["choices"][1]] == ["weight", "pain", "town"]
    assert context["costs"] is None


def test_charts_have_descriptions():
    assert view.information_chart(DOCUMENT, "rmse").description == (
        "Error (RMSE) after 2 answers: EDDI 4 points, fixed order 4.5 points, random order 7 points."
    )
    assert (
        view.calibration_chart(DOCUMENT).description
        == "At the end, 86% of rows were in their 90% interval."
    )


@pytest.mark.parametrize(
    ("p_value", "text"), [(0.0004, "p < 0.001"), (0.032, "p = 0.032"), (0.5, "p = 0.5")]
)
def test_p_values_are_formatted(p_value, text):
    assert view.format_p_value(p_value) == text
