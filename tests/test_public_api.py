"""Names that users import, recipes whose fields can be changed, and short reprs."""

import eddi
from eddi.strategy import Random
from eddi.table.evidence import Evidence


def test_protocols_and_paired_tests_are_public():
    for name in ("Strategy", "StoppingRule", "OutOfRangeError", "compare", "signed_rank", "wilcoxon"):
        assert name in eddi.__all__
        assert getattr(eddi, name).__name__ == name


def test_two_simulations_can_be_compared_row_by_row(model, people):
    rows = people(40, 5, missing=0.0)
    curves = {
        "EDDI": eddi.simulate(model, rows, "stage", max_steps=2),
        "random": eddi.simulate(model, rows, "stage", strategy=Random(), max_steps=2),
    }
    assert 0 <= eddi.wilcoxon(*curves.values(), "nll") <= 1
    assert {result.name for result in eddi.compare(curves, "nll")} == set(curves)


def test_reprs_are_short(model, people, people_schema):
    rows = people(5, 1, missing=0.0)
    prediction = model.predict(rows, "age")
    town = model.predict(rows, "town")[0]
    examples = [
        (people_schema, "<Schema: 8 variables, 8 questions, 1 columns set aside>"),
        (model.fitted(), "<FittedModel: 8 variables, trained on 300 rows>"),
        (prediction, "<Prediction of 'age' (real) for 5 rows>"),
        (prediction[0], f"<Prediction of 'age': mean {prediction.mean[0]:.4g}, sd "),
        (town, f"<Prediction of 'town': {town.value}: {town.probabilities.max():.3g}, "),
        (model.predict(rows, ["age", "town"]), "<Predictions of 2 variables: 'age', 'town'>"),
        (Evidence.empty(2, 3), "<Evidence: 2 rows, 3 variables, 0 values observed>"),
        (eddi.simulate(model, rows, "age", max_steps=1), "<Curves of 'age': 5 rows, 1 questions, AUIC "),
    ]
    for value, expected in examples:
        assert repr(value).startswith(expected)
        assert len(repr(value)) < 120
