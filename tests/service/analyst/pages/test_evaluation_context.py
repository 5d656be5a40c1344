"""An evaluation in words and charts, from a document made by hand."""

import copy

import pytest

from eddi.service.analyst.pages import evaluation_context as showing


def band(*values, reach=0.5):
    return {"value": values, "low": [v - reach for v in values], "high": [v + reach for v in values]}


def standing(name, auic, against=None):
    return {"name": name, "auic": {"value": auic, "low": auic - 1, "high": auic + 1}, "against": against}


def against(value, p_value):
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
            standing("random", 6.4, against(-1.6, 0.0004)),
            standing("eddi", 4.8),
            standing("fixed", 5.0, against(-0.2, 0.3)),
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


def test_the_headline_says_what_is_gained_and_what_is_saved():
    assert showing.headline(DOCUMENT) == [
        "Asked nothing, the error is 9 points; asked all 4 questions, 2 points.",
        "EDDI comes to 4 points with 2 answers, a random order with 4.",
    ]


def test_where_nothing_is_saved_nothing_is_claimed():
    worse = copy.deepcopy(DOCUMENT)
    worse["curves"]["rmse"]["random"] = band(9.0, 6.0, 4.0, 3.0, 2.0)
    assert len(showing.headline(worse)) == 1


def test_levels_are_told_by_their_accuracy():
    levels = copy.deepcopy(DOCUMENT) | {"levels": ["no", "yes"], "unit": ""}
    levels["curves"]["accuracy"] = {
        "eddi": band(0.5, 0.7, 0.8, 0.8, 0.9),
        "random": band(0.5, 0.55, 0.6, 0.8, 0.9),
    }
    assert showing.headline(levels) == [
        "Asked nothing, 50% are guessed rightly; asked all 4 questions, 90%.",
        "EDDI comes to 80% with 2 answers, a random order with 3.",
    ]


def test_areas_stand_best_first_with_their_verdicts():
    found = showing.standings(DOCUMENT, "rmse")
    assert [one.name for one in found] == ["EDDI", "one fixed order", "random order"]
    assert [one.verdict for one in found] == ["", "no clear difference", "EDDI is better"]
    assert (found[2].difference, found[2].p_value) == ("\u22121.6", "p < 0.001")
    assert found[1].p_value == "p = 0.3"


def test_a_worse_area_is_called_so():
    lost = copy.deepcopy(DOCUMENT)
    lost["standings"]["rmse"][0]["against"] = against(0.9, 0.01)
    assert showing.standings(lost, "rmse")[-1].verdict == "EDDI is worse"


def test_a_page_of_an_unknown_metric_shows_the_first():
    shown = showing.facts(DOCUMENT, "nonsense")
    assert shown["metric"] == "rmse"
    assert shown["metric_name"] == "Error (RMSE), points"
    assert shown["strategies"] == ["EDDI", "one fixed order", "random order"]
    assert shown["table"][2] == ["2", "4", "4.5", "7"]
    assert shown["calibration_rows"][1] == ("after 2 answers", ["52%", "75%", "86%"])
    assert [one.name for one in shown["choices"][1]] == ["weight", "pain", "town"]
    assert shown["frontier"] is None


def test_charts_say_in_words_what_they_show():
    assert showing.information(DOCUMENT, "rmse").words == (
        "Error (RMSE) after 2 answers: EDDI 4 points, one fixed order 4.5 points, random order 7 points."
    )
    assert showing.calibration(DOCUMENT).words == "In the end 86% of rows lay in their 90% interval."


@pytest.mark.parametrize(
    ("p_value", "words"), [(0.0004, "p < 0.001"), (0.032, "p = 0.032"), (0.5, "p = 0.5")]
)
def test_p_values_are_written_as_people_write_them(p_value, words):
    assert showing.p_words(p_value) == words
