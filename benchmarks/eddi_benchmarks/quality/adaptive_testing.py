"""A personality questionnaire as an adaptive test: five scale scores from few of 25 items.

Every method asks the held-out people the same number of items. Its predictions of the five full scores
are correlated with the true ones. The methods differ in the model (learned from the training people, or an
item bank that is calibrated on them), in the rule that chooses items, and in the constraints.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import eddi
from eddi.evaluate.item_tests.exposure import SimulatedPaths, simulate_paths
from eddi.interview.rules import InterviewRules
from eddi.model.base import Model
from eddi.model.item_bank import ItemBank, Trait, calibrate
from eddi.strategy import (
    Balance,
    Exposure,
    FisherInformation,
    FixedOrder,
    Information,
    Random,
    Strategy,
)
from eddi.table.evidence import Evidence
from eddi.table.question import Question
from eddi.table.schema import Schema
from eddi.table.variable import Kind, Variable
from eddi_benchmarks.data import datasets
from eddi_benchmarks.data.personality import N_LEVELS, SCALES
from eddi_benchmarks.harness.experiment import Experiment
from eddi_benchmarks.harness.run_result import Measurements, Settings
from eddi_benchmarks.quality.adaptive_testing_report import report_sections

Numbers = NDArray[np.float64]
Method = tuple[Model, Strategy, Exposure | None]

TARGETS = tuple(SCALES)
LEVELS = tuple(range(1, N_LEVELS + 1))


def run(settings: Settings, folder: Path) -> Measurements:  # noqa: ARG001
    """Train, calibrate, and simulate every method on the held-out people."""
    table = datasets.load("bfi").to_pandas()
    random = np.random.default_rng(settings["seed"])
    order = random.permutation(len(table))
    n_test = int(settings["n_test"])
    train, test = table.iloc[order[n_test:]], table.iloc[order[:n_test]]
    model = eddi.PartialVAE(
        schema=learned_schema(),
        target=TARGETS,
        random_state=int(settings["seed"]),
        max_steps=int(settings["max_steps"]) or None,
    ).fit(train[: int(settings["max_train"])])
    bank = calibrate_bank(train)
    methods = make_methods(model.fitted(), bank, train, settings)
    return {
        "n_train": min(len(train), int(settings["max_train"])),
        "n_test": len(test),
        "methods": {name: measure(*method, test, settings) for name, method in methods.items()},
    }


def learned_schema() -> Schema:
    """The items with the scale as their section, and the scores, which are not asked."""
    variables = [Variable(item.lstrip("-"), Kind.ORDINAL, LEVELS) for item in _items()]
    return Schema(
        (*variables, *(Variable(scale, Kind.REAL, low=1, high=N_LEVELS) for scale in TARGETS)),
        (*_item_questions(), *_score_questions()),
        TARGETS,
    )


def calibrate_bank(train: pd.DataFrame) -> ItemBank:
    """One graded response model per scale, from the training people. Levels of reversed items fall."""
    variables = [
        Variable(item.lstrip("-"), Kind.ORDINAL, LEVELS[::-1] if item.startswith("-") else LEVELS)
        for item in _items()
    ]
    scores = [Variable(scale, Kind.REAL) for scale in TARGETS]
    schema = Schema((*variables, *scores), (*_item_questions(), *_score_questions()), TARGETS)
    levels = {v.name: {level: place for place, level in enumerate(v.levels)} for v in variables}
    numbers = np.stack([train[name].map(by_level) for name, by_level in levels.items()], axis=1)
    evidence = Evidence.of(numbers.astype(np.float64))
    items = [
        item
        for scale, names in SCALES.items()
        for item in calibrate(
            evidence,
            [list(levels).index(name.lstrip("-")) for name in names],
            [name.lstrip("-") for name in names],
            Trait(scale),
        )
    ]
    return ItemBank(schema, tuple(items), tuple(Trait(scale) for scale in TARGETS))


def _items() -> list[str]:
    return [item for items in SCALES.values() for item in items]


def _item_questions() -> list[Question]:
    return [
        Question(item.lstrip("-"), (item.lstrip("-"),), section=scale)
        for scale, items in SCALES.items()
        for item in items
    ]


def _score_questions() -> list[Question]:
    return [Question(scale, (scale,), never=True) for scale in TARGETS]


def make_methods(
    model: Model, bank: ItemBank, train: pd.DataFrame, settings: Settings
) -> dict[str, Method]:
    """The methods by name."""
    seed, shares = int(settings["seed"]), dict.fromkeys(TARGETS, 1 / len(TARGETS))
    order = FixedOrder.learn(model, train[: int(settings["n_order_rows"])], TARGETS)
    limit = Exposure(float(settings["max_rate"]))

    balanced = Balance(Information(), shares)
    return {
        "ours": (model, Information(), None),
        "ours, balanced": (model, balanced, None),
        "ours, exposure limited": (model, balanced, limit),
        "short form": (model, order, None),
        "short form, balanced": (model, Balance(order, shares), None),
        "random": (model, Random(seed), None),
        "random, balanced": (model, Balance(Random(seed), shares), None),
        "item bank, information": (bank, Information(), None),
        "item bank, Fisher": (bank, FisherInformation(), None),
        "item bank, balanced": (bank, balanced, None),
        "item bank, exposure limited": (bank, balanced, limit),
    }


def measure(
    model: Model, strategy: Strategy, exposure: Exposure | None, test: pd.DataFrame, settings: Settings
) -> Measurements:
    """Correlations after each item, exposure, and how sections are balanced."""
    rules = InterviewRules(model, TARGETS, strategy, eddi.Stop())
    truth = model.evidence(test.drop(columns=list(TARGETS)), optional=TARGETS)
    n_steps, length = int(settings["n_steps"]), int(settings["length"])
    if exposure is not None:  # a limit belongs to a test of a certain length
        n_steps = length
    paths = simulate_paths(rules, truth, n_steps=n_steps, exposure=exposure, seed=int(settings["seed"]))
    scores = test[list(TARGETS)].to_numpy()
    return {
        "correlation": [_correlate(model, evidence, scores) for evidence in paths.evidence[1:]],
        "exposure": paths.exposure(length)[: len(_items())].tolist(),
        "per_section": _count_sections(paths, length),
    }


def _correlate(model: Model, evidence: Evidence, scores: Numbers) -> float:
    """The mean over scales of the correlation of predicted and true scores."""
    predictions = model.predict_evidence(evidence, TARGETS)
    by_scale = []
    for place, name in enumerate(TARGETS):
        mean = predictions[name].mean
        varies = np.ptp(mean) > 1e-9
        by_scale.append(np.corrcoef(mean, scores[:, place])[0, 1] if varies else 0.0)
    return float(np.mean(by_scale))


def _count_sections(paths: SimulatedPaths, length: int) -> list[float]:
    """Smallest and largest number of items of a section that a person was asked, and their means."""
    n_items = len(_items()) // len(TARGETS)
    sections = paths.order[:, :length] // n_items
    counts = (sections[:, :, None] == np.arange(len(TARGETS))).sum(1)
    return [
        float(counts.min()),
        float(counts.max()),
        float(counts.min(1).mean()),
        float(counts.max(1).mean()),
    ]


def required_datasets(settings: Settings) -> tuple[str, ...]:  # noqa: ARG001
    """The personality items."""
    return ("bfi",)


EXPERIMENT = Experiment(run, required_datasets, report_sections)
