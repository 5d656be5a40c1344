"""Collinear variables: our model compared with exact inference on classes that share a covariance matrix.

The classes differ where the variance is small, so the answers are informative together and hardly by
themselves. One run measures accuracy after random answers, along our own order and along the exact greedy
order, each of our model and of the exact posterior. It also compares our rewards with the exact
information of the questions.
"""

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import eddi
from eddi import PartialVAE
from eddi.table.evidence import Evidence
from eddi_benchmarks.data.synthetic import TARGET, collinear_gaussian
from eddi_benchmarks.decisions.problem import target_variable
from eddi_benchmarks.harness.experiment import Experiment
from eddi_benchmarks.harness.run_result import Measurements, Settings, to_json_values
from eddi_benchmarks.quality.collinear_report import report_sections
from eddi_benchmarks.quality.exact_gaussian import ExactClassifier, Mask
from eddi_benchmarks.quality.networks import TIE, choice_quality, random_choice_quality
from eddi_benchmarks.report.statistics import Numbers

SUBSET_SIZES = (3, 6, 9, 12, 15, 18)
SUBSET_SEED = 5  # all runs have the same random subsets
STATE_SIZES = (0, 3, 6, 9, 12, 15)  # answers before the question whose reward is compared


def run(settings: Settings, folder: Path) -> Measurements:  # noqa: ARG001  # stores no files
    """Train on one table and compare with exact inference."""
    seed = int(settings["seed"])
    random = np.random.default_rng(seed)
    classes = collinear_gaussian(random)
    train, test = (classes.draw_rows(int(settings[key]), random) for key in ("n_train", "n_test"))
    start = time.perf_counter()
    model = fit(train, settings)
    seconds = time.perf_counter() - start
    comparison = Comparison(model, ExactClassifier(classes), test)
    subsets = comparison.accuracy_on_subsets(random_subsets())
    references = {
        name: [reference_accuracy(name, train, test, subset) for subset in random_subsets()]
        for name in REFERENCES
    }
    measurements: Measurements = to_json_values(
        {
            "subset_sizes": SUBSET_SIZES,
            "subsets": {**subsets, **references},
            "orders": {
                "ours": comparison.accuracy_along(comparison.own_order()),
                "exact": comparison.accuracy_along(comparison.exact.greedy_order(comparison.rows)),
            },
            "rewards": comparison.rewards(int(settings["n_states"]), np.random.default_rng([seed, 1])),
            "seconds": {"fit": seconds, "all": time.perf_counter() - start},
        }
    )
    return measurements


def fit(train: pd.DataFrame, settings: Settings) -> PartialVAE:
    """Fit the default model with the class as its target."""
    schema = eddi.Schema.infer(train, targets=[TARGET])
    schema = schema.with_variable(target_variable(train[TARGET], is_real=False))
    max_steps = int(settings["our_steps"]) or None  # 0 means the steps of the recipe
    return PartialVAE(
        schema, target=TARGET, max_steps=max_steps, random_state=int(settings["seed"])
    ).fit(train)


def random_subsets() -> list[NDArray[np.int64]]:
    """A random subset of the variables of each size."""
    random = np.random.default_rng(SUBSET_SEED)
    n_variables = max(SUBSET_SIZES)
    return [random.permutation(n_variables)[:size] for size in SUBSET_SIZES]


class Comparison:
    """Our model and exact inference on the same test rows."""

    def __init__(self, model: PartialVAE, exact: ExactClassifier, test: pd.DataFrame) -> None:
        self.model, self.exact, self.test = model.fitted(), exact, test
        self.rows = test[list(exact.classes.names)].to_numpy(np.float64)
        self.truth = test[TARGET].to_numpy(np.int64)

    def accuracy_on_subsets(self, subsets: list[NDArray[np.int64]]) -> dict[str, list[float]]:
        """Accuracy of both after the answers of each subset."""
        masks = np.zeros((len(subsets), *self.rows.shape), dtype=bool)
        for mask, subset in zip(masks, subsets, strict=True):
            mask[:, subset] = True
        return self._accuracy(masks)

    def accuracy_along(self, order: NDArray[np.int64]) -> dict[str, list[float]]:
        """Accuracy of both before the first question of an order [rows, steps] and after each."""
        rank = order.argsort(1)  # the step at which a variable is asked
        steps = np.arange(order.shape[1] + 1)
        return self._accuracy(rank < steps[:, None, None])

    def own_order(self) -> NDArray[np.int64]:
        """The variables that our strategy asks about [rows, steps]."""
        curves = eddi.simulate(self.model, self.test, TARGET)
        names = list(self.exact.classes.names)
        variable = np.array([names.index(q) if q in names else -1 for q in curves.questions])
        return variable[curves.order]

    def rewards(self, n_states: int, random: np.random.Generator) -> dict[str, list[float]]:
        """How well our rewards order the open questions, by the number of answers."""
        measured: dict[str, list[float]] = {}
        for size in STATE_SIZES:
            # Before the first answer there is only one state.
            rows = random.permutation(len(self.rows))[: n_states if size else 1]
            observed = random.random((len(rows), self.rows.shape[1])).argsort(1).argsort(1) < size
            exact, ours = self.exact.information(self.rows[rows], observed), self._reward(rows, observed)
            nats, scores = (
                [values[is_open] for values, is_open in zip(of_rows, ~observed, strict=True)]
                for of_rows in (exact, ours)
            )
            for name, value in {"answers": float(size), **reward_quality(nats, scores)}.items():
                measured.setdefault(name, []).append(value)
        return measured

    def _reward(self, rows: NDArray[np.int64], observed: Mask) -> Numbers:
        """Our reward of the question about each variable [rows, variables]."""
        scores = eddi.strategy.Information().score(self.model, self._evidence(rows, observed), [TARGET])
        questions = [question.name for question in self.model.schema_.questions]
        columns = [questions.index(name) for name in self.exact.classes.names]
        return np.asarray(scores, np.float64)[:, columns]

    def _accuracy(self, masks: Mask) -> dict[str, list[float]]:
        """Accuracy for each mask [masks, rows, variables]."""
        all_rows = np.arange(len(self.rows))
        accuracy: dict[str, list[float]] = {"ours": [], "exact": []}
        for mask in masks:
            prediction = self.model.predict_evidence(self._evidence(all_rows, mask), [TARGET])[TARGET]
            outputs = {
                "ours": np.asarray(prediction.probabilities),
                "exact": self.exact.log_posterior(self.rows, mask),
            }
            for name, of_classes in outputs.items():
                accuracy[name].append(float(np.mean(of_classes.argmax(1) == self.truth)))
        return accuracy

    def _evidence(self, rows: NDArray[np.int64], observed: Mask) -> Evidence:
        """Our evidence of some rows, of which only some answers are observed."""
        table = self.test.iloc[rows].astype({TARGET: "float64"})
        names = list(self.exact.classes.names)
        hidden = table.assign(**{TARGET: np.nan})
        hidden[names] = table[names].where(observed)
        return self.model.evidence(hidden)


def reward_quality(nats: Sequence[Numbers], scores: Sequence[Numbers]) -> dict[str, float]:
    """How well scores order open questions, in the states where their exact information differs."""
    pairs = [pair for pair in zip(nats, scores, strict=True) if np.ptp(pair[0]) > TIE]
    exact, ours = [of_state for of_state, _ in pairs], [of_state for _, of_state in pairs]
    return {
        "n_states": len(pairs),
        "best_nats": float(np.mean([of_state.max() for of_state in exact])),
        **choice_quality(exact, ours),
        "random_regret": random_choice_quality(exact)["regret"],
    }


def reference_accuracy(
    name: str, train: pd.DataFrame, test: pd.DataFrame, subset: NDArray[np.int64]
) -> float:
    """Accuracy of a classifier that is fitted to the variables of the subset only."""
    columns = [f"x{variable}" for variable in subset]
    classifier = REFERENCES[name]().fit(train[columns], train[TARGET])
    return float(classifier.score(test[columns], test[TARGET]))


REFERENCES = {
    "lda": LinearDiscriminantAnalysis,
    "logistic": lambda: make_pipeline(StandardScaler(), LogisticRegression(C=10, max_iter=2000)),
}
"""Classifiers by name."""


def required_datasets(settings: Settings) -> tuple[str, ...]:  # noqa: ARG001
    """None: the tables are artificial."""
    return ()


EXPERIMENT = Experiment(run, required_datasets, report_sections)
