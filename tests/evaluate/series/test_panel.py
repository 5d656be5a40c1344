"""Fixed panels."""

import numpy as np

from eddi.evaluate.series.logged_series import LoggedSeries
from eddi.evaluate.series.panel import Panel, choose_panel
from eddi.interview.risk_control import resolve_rules
from eddi.strategy import Information
from eddi.strategy.stopping import Stop


def test_the_panel_has_the_most_informative_questions_first(series_model, series):
    model = series_model.fitted()
    logged = LoggedSeries.read(model, series(20, seed=3))
    nobody = np.zeros(len(logged.measurements), dtype=bool)
    static = model.schema.positions(["age", "ill"])
    evidence = logged.rows(np.arange(20), 1, nobody).hide(static)
    truth = logged.rows(np.arange(20), 1, ~nobody)
    rules = resolve_rules(model, ("ill",), strategy=Information(), stop=Stop())
    assert choose_panel(rules, evidence, truth, 2).order == ("pulse", "fever")


def test_a_panel_never_asks_other_questions(series_model):
    model = series_model.fitted()
    scores = Panel(("fever", "pulse")).score(model, model.validation_rows, ("ill",))[0]
    names = [question.name for question in model.schema.questions]
    assert scores[names.index("fever")] > scores[names.index("pulse")] > -np.inf
    assert int(scores.isinf().sum()) == len(names) - 2
