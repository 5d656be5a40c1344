"""EDDI on six UCI tables (section 4.2 of the paper): a run is one model and all strategies."""

import time
from pathlib import Path

import pandas as pd
from sklearn.model_selection import train_test_split

import eddi
from eddi import PartialVAE
from eddi.strategy import FixedOrder, Lasso, Random
from eddi.strategy.base import Strategy
from eddi.table.variable import Kind
from eddi_benchmarks.data import datasets
from eddi_benchmarks.harness.experiment import Experiment
from eddi_benchmarks.harness.run_result import Measurements, Settings
from eddi_benchmarks.paper import authors_code
from eddi_benchmarks.paper.comparison import run_strategies
from eddi_benchmarks.paper.uci.figures import plot_decisions
from eddi_benchmarks.paper.uci.report import METRICS, report_sections

TEST_SHARE = 0.1
PLOTTED_RUN = {"dataset": "boston", "set_encoder": "pnp", "seed": 0}  # whose decisions are plotted


def run(settings: Settings, folder: Path) -> Measurements:
    """Train a model on 90% of a dataset, and interview the other rows with every strategy."""
    table = datasets.load(settings["dataset"]).to_pandas()
    is_plotted = all(settings[key] == value for key, value in PLOTTED_RUN.items())
    return run_on_table(table, settings, figure_folder=folder if is_plotted else None)


def run_on_table(
    table: pd.DataFrame, settings: Settings, *, figure_folder: Path | None = None
) -> Measurements:
    """Run on any table whose last column is the target; plot decisions if a folder is given."""
    train, test = train_test_split(table, test_size=TEST_SHARE, random_state=settings["seed"])
    target = str(table.columns[-1])
    model = fit(train, target, settings)
    information = authors_code.make_strategy(settings)
    start = time.perf_counter()
    # As in the paper, the single best order averages the reward over the test rows.
    order = FixedOrder.learn(model, test, target, strategy=information)
    order_learned = time.perf_counter()
    lasso = Lasso.learn(model, train, target, seed=settings["seed"])
    lasso_learned = time.perf_counter()
    strategies: dict[str, Strategy] = {
        "eddi": information,
        "rand": Random(settings["seed"]),
        "sing": order,
        "lasso": lasso,
    }
    measurements = run_strategies(model, test, target, strategies=strategies, metrics=METRICS)
    measurements["n_rows"]["train"] = len(train)  # with published masks, the model saw copies
    measurements["seconds"]["learn_sing"] = round(order_learned - start, 3)
    measurements["seconds"]["learn_lasso"] = round(lasso_learned - order_learned, 3)
    measurements["order"] = list(order.order)
    measurements["lasso"] = list(lasso.variables)
    if figure_folder:
        measurements["pictures"] = plot_decisions(
            model, test, figure_folder, information=information, order=order
        )
    return measurements


def fit(train: pd.DataFrame, target: str, settings: Settings) -> PartialVAE:
    """Fit the paper's Partial VAE: all columns Gaussian, scaled to [0, 1] by the training rows."""
    schema = eddi.Schema(tuple(eddi.Variable(str(name), Kind.REAL) for name in train.columns))
    model = PartialVAE(
        schema,
        target,
        recipe=authors_code.make_recipe(settings),
        set_encoder=settings["set_encoder"],
        random_state=settings["seed"],
        device=settings.get("device", "auto"),
    )
    return model.fit(authors_code.training_table(train, settings))


def required_datasets(settings: Settings) -> tuple[str, ...]:
    """The table of the run."""
    return (str(settings["dataset"]),)


EXPERIMENT = Experiment(run, required_datasets, report_sections)
