"""EDDI on six UCI tables (the paper's section 4.2): one run is one model and all strategies."""

import time
from pathlib import Path

import pandas as pd
from sklearn.model_selection import train_test_split

import eddi
from eddi.model.partial_vae import PartialVAE
from eddi.strategy import FixedOrder, Lasso, Random
from eddi.strategy.base import Strategy
from eddi.table.variable import Kind
from eddi_benchmarks.data import datasets as tables
from eddi_benchmarks.harness.experiment import Experiment, Figures, Settings
from eddi_benchmarks.paper import authors_code as published
from eddi_benchmarks.paper.comparison import play as play_all
from eddi_benchmarks.paper.uci.figures import draw_decisions
from eddi_benchmarks.paper.uci.report import METRICS, sections

TEST_SHARE = 0.1
SHOWN = {"dataset": "boston", "set_encoder": "pnp", "seed": 0}  # the run whose decisions are drawn


def play(settings: Settings, folder: Path) -> Figures:
    """Train one model on nine tenths of a dataset, and interview the rest by every strategy."""
    table = tables.load(settings["dataset"]).to_pandas()
    shown = all(settings[key] == value for key, value in SHOWN.items())
    return play_table(table, settings, pictures=folder if shown else None)


def play_table(table: pd.DataFrame, settings: Settings, *, pictures: Path | None = None) -> Figures:
    """The same for any table whose last column is the target; decisions are drawn where asked for."""
    train, test = train_test_split(table, test_size=TEST_SHARE, random_state=settings["seed"])
    target = str(table.columns[-1])
    model = fit(train, target, settings)
    information = published.information(settings)
    began = time.perf_counter()
    # The paper's single best order averages the reward over the test rows, and so have we.
    order = FixedOrder.learn(model, test, target, strategy=information)
    ordered = time.perf_counter()
    lasso = Lasso.learn(model, train, target, seed=settings["seed"])
    regressed = time.perf_counter()
    strategies: dict[str, Strategy] = {
        "eddi": information,
        "rand": Random(settings["seed"]),
        "sing": order,
        "lasso": lasso,
    }
    figures = play_all(model, test, target, strategies, METRICS)
    figures["n_rows"]["train"] = len(train)  # published masks train on copies
    figures["seconds"]["learn_sing"] = round(ordered - began, 3)
    figures["seconds"]["learn_lasso"] = round(regressed - ordered, 3)
    figures["order"] = list(order.order)
    figures["lasso"] = list(lasso.variables)
    if pictures:
        figures["pictures"] = draw_decisions(model, test, information, order, pictures)
    return figures


def fit(train: pd.DataFrame, target: str, settings: Settings) -> PartialVAE:
    """The paper's Partial VAE: every column a number in [0, 1] by its training rows, all Gaussian."""
    schema = eddi.Schema(tuple(eddi.Variable(str(name), Kind.REAL) for name in train.columns))
    model = PartialVAE(
        schema,
        target,
        recipe=published.recipe(settings),
        set_encoder=settings["set_encoder"],
        random_state=settings["seed"],
        device=settings.get("device", "auto"),
    )
    return model.fit(published.training_table(train, settings))


def datasets(settings: Settings) -> tuple[str, ...]:
    """The one table a run is on."""
    return (str(settings["dataset"]),)


EXPERIMENT = Experiment(play, datasets, sections)
