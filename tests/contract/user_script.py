"""What a user writes. Type checkers must know every expression: none of EDDI's names is `Any`."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import eddi
from eddi.model.quality import TargetQuality


def describe_table(path: str) -> eddi.Schema:
    schema = eddi.Schema.infer(path, targets=["risk"])
    schema = schema.with_question("panel", reveals=["ldl", "hdl"], cost=40)
    schema = schema.with_variable(eddi.Variable("age", "real", low=0, high=120, unit="years"))
    names: list[str] = [variable.name for variable in schema.variables]
    texts: list[str] = [question.text for question in schema.questions]
    toml: str = schema.to_toml()
    return schema if names and texts and toml else eddi.Schema.from_toml(path)


def train(table: pd.DataFrame, schema: eddi.Schema) -> eddi.PartialVAE:
    recipe = eddi.recipes.DEFAULT
    latent: int = recipe.latent
    model = eddi.PartialVAE(schema=schema, target="risk", recipe="default", random_state=latent)
    fitted = model.fit(table)
    filled: pd.DataFrame = fitted.transform(table)
    tables: list[pd.DataFrame] = fitted.impute(filled, n_draws=2)
    score: float = fitted.score(tables[0])
    quality: dict[str, TargetQuality] = fitted.measure_quality(table)
    accuracy: float = quality["risk"].metrics["accuracy"] + score
    fitted.save("patients.eddi")
    return eddi.load("patients.eddi") if accuracy else fitted


def predict(model: eddi.PartialVAE, table: pd.DataFrame) -> float:
    single = model.predict(table, "risk")
    mean: NDArray[np.float64] = single.mean
    interval: NDArray[np.float64] = single.interval
    probabilities: NDArray[np.float64] | None = single.probabilities
    several = model.predict(table, ["risk", "age"])
    both: list[str] = list(several)
    sd: NDArray[np.float64] = several["age"].sd
    return mean.size + sd.size + interval.size + len(both) + (probabilities is None)


def interview(model: eddi.PartialVAE) -> eddi.Prediction:
    stop = eddi.Stop(after=5, sd_below=0.1) | eddi.Stop(budget=40)
    talk = eddi.Interview(model, target="risk", stop=stop, strategy=eddi.strategy.Information())
    talk.tell("age", 61, confirm=True)
    while (question := talk.ask()) is not None:
        text: str = question.text
        talk.tell(question, *(input(f"{text} ({name}) ") for name in question.reveals))
        talk.tell("smoker", eddi.UNKNOWN)
        talk.tell("weight", eddi.DECLINED)
    rewards: dict[str, float] = talk.rewards()
    explanation = talk.explain()
    nats: float = 0.0 if explanation is None else explanation.nats + max(rewards.values())
    values: Mapping[str, object] = talk.record.answers[0].values
    talk.undo()
    prediction = talk.predict()
    mean: NDArray[np.float64] = prediction.mean
    return prediction if mean.size and nats and values else talk.predict("age")


def evaluate(model: eddi.PartialVAE, table: pd.DataFrame) -> float:
    strategies: dict[str, eddi.Strategy] = {
        "eddi": eddi.strategy.Information(),
        "per cost": eddi.strategy.PerCost(eddi.strategy.Information()),
        "priced": eddi.strategy.Priced(eddi.strategy.Information(), price=0.01),
        "random": eddi.strategy.Random(),
        "fixed": eddi.strategy.FixedOrder.learn(model, target="risk"),
        "lookahead": eddi.strategy.Lookahead(),
    }
    rule: eddi.StoppingRule = eddi.Stop(risk=0.05)
    curves = {
        name: eddi.simulate(model, table, target="risk", strategy=strategy, stop=rule)
        for name, strategy in strategies.items()
    }
    first = curves["eddi"]
    rmse: NDArray[np.float64] = first.rmse
    order: NDArray[np.int64] = first.order
    area: float = first.auic
    ranks = [result.rank for result in eddi.compare(curves)]
    p_value: float = eddi.wilcoxon(first, curves["random"])
    certificate = eddi.certify(model, table)
    steps = eddi.next_questions(model, table)
    asked: NDArray[np.int64] = steps.index
    name: str | None = steps.question[0]
    mean: NDArray[np.float64] = steps.predictions["risk"].mean
    return (
        area
        + p_value
        + sum(ranks)
        + certificate.n_rows
        + rmse.size
        + order.size
        + mean.size
        + asked.size
        + (name is None)
    )


def use_scikit_learn(table: pd.DataFrame, y: "pd.Series[str]") -> float:
    classifier = eddi.PartialVAEClassifier(random_state=0).fit(table, y)
    labels = classifier.predict(table)
    probabilities = classifier.predict_proba(table)
    classes = classifier.classes_
    full = classifier.predict_distribution(table)
    first = eddi.Interview(classifier).ask()
    regressor = eddi.PartialVAERegressor(target="risk").fit(table)
    values = regressor.predict(table)
    accuracy: float = classifier.score(table, y)
    r2: float = regressor.score(table, y)
    curves = eddi.simulate(classifier, table)
    n_levels = len(classes) + full.variable.n_levels + (0 if first is None else len(first.reveals))
    return accuracy + r2 + probabilities.size + values.size + n_levels + labels.size + curves.auic
