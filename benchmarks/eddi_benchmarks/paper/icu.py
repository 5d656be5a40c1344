"""Mortality in intensive care (section 4.3 of the paper): which measurement to take next.

The paper's MIMIC-III requires credentials; those who have access can run the suite ``paper-icu-mimic3``.
By default the experiment uses the open PhysioNet 2012 challenge: the same hospital and question, 12,000
stays.
"""

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddi import PartialVAE, simulate
from eddi.evaluate.curves import Curves
from eddi.model.recipe import PAPER
from eddi_benchmarks.data import datasets
from eddi_benchmarks.data import icu as icu_data
from eddi_benchmarks.harness.experiment import Experiment
from eddi_benchmarks.harness.run_result import Measurements, RunResult, Settings, to_json_values
from eddi_benchmarks.paper import authors_code, health
from eddi_benchmarks.paper.comparison import ENCODERS, STRATEGIES
from eddi_benchmarks.paper.comparison_tables import rank_table, reference_test_table
from eddi_benchmarks.paper.curve_figures import plot_by_encoder
from eddi_benchmarks.report.content import ReportTable, Section
from eddi_benchmarks.report.statistics import NOT_AVAILABLE, Numbers

TEST_SHARE = 0.1
METRICS = ("nll", "accuracy", "brier")
CURVE_METRICS = (*METRICS, "auroc")  # AUROC is not defined for a single row
TABULATED_STEPS = (3, 10)  # numbers of questions after which the predictions are tabulated
PAPER_RANKS = health.paper_table(  # table 4 of the paper: EDDI, Random, Single best
    {
        "zi": (8.83, 7.97, 9.83),
        "zi-m": (4.91, 7.00, 5.91),
        "pn": (4.96, 6.62, 5.96),
        "pnp": (4.39, 6.18, 5.39),
    }
)
DATASET_NAMES = {
    "physionet2012": "PhysioNet 2012, an open substitute for MIMIC-III",
    "mimic3_ihm": "MIMIC-III",
    "mimic3_demo_ihm": "the MIMIC-III demo, 57 stays",
}
SUBSTITUTE = (
    "This is not the paper's data. MIMIC-III is available only to trained and credentialed people, so "
    "the experiment uses the open PhysioNet 2012 challenge: other patients of the same hospital, the "
    "same question, 41 variables instead of 17. Numbers are not directly comparable with the paper's. "
    "With the real data, `eddi bench run paper-icu-mimic3 --data FOLDER` gives the paper's own table."
)


def run(settings: Settings, folder: Path) -> Measurements:  # noqa: ARG001  # stores no files
    """Train one model on 90% of the stays, and interview some of the others."""
    return run_on_table(datasets.load(str(settings["dataset"])), settings)


def run_on_table(table: pa.Table, settings: Settings) -> Measurements:
    """Run on any table whose last column is the death of the patient."""
    train, test = split(table, seed=int(settings["seed"]), max_test=int(settings["max_test"]))
    train, test = clip_outliers(train, test, float(settings.get("trim", 0.0)))
    start = time.perf_counter()
    model = fit(train, settings)
    seconds = {"fit": time.perf_counter() - start}
    strategies = health.HealthStrategies.learn(model, test, icu_data.TARGET, settings=settings)
    measured = {}
    for name, strategy in strategies.by_name.items():
        start = time.perf_counter()
        measured[name] = _measurements(simulate(model, test, icu_data.TARGET, strategy=strategy))
        seconds[name] = time.perf_counter() - start
    seconds["sing"] += strategies.order_seconds
    return {
        "n_rows": {"train": train.num_rows, "test": test.num_rows},
        "n_deaths": {"train": _n_deaths(train), "test": _n_deaths(test)},
        "n_variables": len(model.schema_.variables) - 1,
        "seconds": {name: round(spent, 3) for name, spent in seconds.items()},
        "strategies": measured,
    }


def split(table: pa.Table, *, seed: int, max_test: int) -> tuple[pa.Table, pa.Table]:
    """Split into training rows and at most ``max_test`` test rows from the held-out tenth.

    The split is stratified: otherwise the share of deaths, and with it every curve, would differ more
    between repetitions than between strategies.
    """
    died = table[icu_data.TARGET].to_numpy() == 1
    random = np.random.default_rng(seed)
    train, test = [], []
    for outcome in (True, False):
        stays = random.permutation(np.flatnonzero(died == outcome))
        n_held_out = round(TEST_SHARE * len(stays))
        train.append(stays[n_held_out:])
        test.append(stays[: min(n_held_out, round(max_test * len(stays) / len(died)))])
    # Shuffled, because the random strategy depends on the position of a row.
    return tuple(table.take(random.permutation(np.concatenate(part))) for part in (train, test))


def clip_outliers(train: pa.Table, test: pa.Table, share: float) -> tuple[pa.Table, pa.Table]:
    """Clip both tables to the quantiles ``share`` and 1 - ``share`` of the training rows.

    Scaling to [0, 1] depends on the extremes: a single pH of 128 would leave all correct values within a
    twentieth of the range. The paper mentions no clipping, which is a share of 0.
    """
    if not share:
        return train, test
    names = [name for name in train.column_names if name != icu_data.TARGET]
    limits = {name: pc.quantile(train[name], q=[share, 1 - share]).to_pylist() for name in names}

    def clip(table: pa.Table) -> pa.Table:
        columns = {
            name: pc.min_element_wise(
                pc.max_element_wise(table[name], limits[name][0], skip_nulls=False),
                limits[name][1],
                skip_nulls=False,
            )
            for name in names
        }
        return pa.table({**columns, icu_data.TARGET: table[icu_data.TARGET]})

    return clip(train), clip(test)


def fit(train: pa.Table, settings: Settings) -> PartialVAE:
    """Fit the paper's Partial VAE: measurements are numbers in [0, 1], death is Bernoulli."""
    schema = icu_data.schema(train)
    empty = [name for name in train.column_names if train[name].null_count == train.num_rows]
    model = PartialVAE(
        schema.without(*empty, reason="not measured in any training row"),
        icu_data.TARGET,
        recipe=authors_code.make_recipe(settings),
        set_encoder=str(settings["set_encoder"]),
        random_state=int(settings["seed"]),
        device=str(settings.get("device", "auto")),
    )
    return model.fit(authors_code.training_table(train.to_pandas(), settings))


def _measurements(curves: Curves) -> Measurements:
    """Curves over all variables, and the area of each row.

    A stay without any more values to ask for keeps its last prediction.
    """
    n_steps = len(curves.questions) - 1
    steps = np.minimum(np.arange(n_steps + 1), curves.n_steps)
    by_row = {name: curves.row_values(name)[curves.known][:, steps] for name in METRICS}  # type: ignore[arg-type]
    by_step = {name: np.asarray(getattr(curves, name))[steps] for name in CURVE_METRICS}
    measurements: Measurements = to_json_values(
        {
            "n_asked": curves.n_asked.mean(),
            "curves": by_step,
            "auic": {name: values.mean(1) for name, values in by_row.items()},
        }
    )
    return measurements


def _n_deaths(table: pa.Table) -> int:
    return int(pc.sum(table[icu_data.TARGET]).as_py())


def required_datasets(settings: Settings) -> tuple[str, ...]:
    """The table of the run."""
    return (str(settings["dataset"]),)


def report_sections(results: Sequence[RunResult], folder: Path) -> list[Section]:
    """A section for each dataset that was run."""
    names = dict.fromkeys(str(result.settings["dataset"]) for result in results)
    return [
        _section(name, [r for r in results if r.settings["dataset"] == name], folder) for name in names
    ]


def _section(dataset: str, results: Sequence[RunResult], folder: Path) -> Section:
    name = DATASET_NAMES.get(dataset, dataset)
    title = f"Average rank of AUIC (negative log-likelihood of death): {name}; the paper's on MIMIC-III"
    tables = (
        rank_table(results, "nll", paper=PAPER_RANKS, title=title),
        reference_test_table(results, "nll", title="Is the difference significant?"),
        _prediction_table(results),
    )
    paragraphs = (
        *_describe_runs(dataset, results),
        health.conclusion(results, "nll", PAPER_RANKS),
        health.describe_seconds(results),
    )
    figures = tuple(
        plot_by_encoder(results, metric, folder / f"icu-{dataset}-{metric}.png", dataset=dataset)
        for metric in ("nll", "brier")
    )
    return Section(f"Mortality in intensive care: {name}", paragraphs, tables, figures)


def _describe_runs(dataset: str, results: Sequence[RunResult]) -> tuple[str, ...]:
    settings, measurements = results[0].settings, results[0].measurements
    n_train, n_test = measurements["n_rows"]["train"], measurements["n_rows"]["test"]
    death_rate = measurements["n_deaths"]["train"] / n_train
    text = (
        f"{measurements['n_variables']} measurements of each stay, averaged over its first 48 hours. "
        f"{n_train:,} stays for training; {death_rate:.1%} of the patients died. A tenth is held out in "
        f"each repetition; {n_test:,} of these stays, stratified by outcome, are interviewed."
    )
    trim, n_steps = float(settings.get("trim", 0.0)), int(settings["max_steps"])
    if trim or n_steps > PAPER.max_steps:
        text = (
            f"{text} Not the paper's settings: {n_steps:,} training steps (the paper states 3,000, its "
            f"published code has 30,000), and values clipped to the quantiles {trim:.0%} and "
            f"{1 - trim:.0%} of the training rows before scaling to [0, 1]."
        )
    changes = authors_code.describe_changes(settings)
    if dataset != "physionet2012":
        return (text, *changes)
    ventilation = "Ventilation is recorded only while it is on, so no record counts as off."
    return (SUBSTITUTE, f"{text} {ventilation}", *changes)


def _prediction_table(results: Sequence[RunResult]) -> ReportTable:
    """AUROC, accuracy and likelihood after some questions and after all, averaged over repetitions."""
    metrics = {"AUROC": "auroc", "accuracy": "accuracy", "negative log-likelihood": "nll"}
    rows = []
    for label, metric in metrics.items():
        for strategy, name in STRATEGIES.items():
            measured = [r for r in results if strategy in r.measurements["strategies"]]
            if measured:
                cells = (_format_steps(measured, encoder, strategy, metric) for encoder in ENCODERS)
                rows.append((label, name, *cells))
    steps = ", ".join(map(str, TABULATED_STEPS))
    note = f"After 0, {steps} and all questions; means over seeds."
    return ReportTable("Quality of the prediction", ("", "", *ENCODERS.values()), tuple(rows), note)


def _format_steps(results: Sequence[RunResult], encoder: str, strategy: str, metric: str) -> str:
    curves: Numbers = np.array(
        [
            result.measurements["strategies"][strategy]["curves"][metric]
            for result in results
            if result.settings["set_encoder"] == encoder
        ],
        dtype=np.float64,
    )
    if curves.size:
        curves = curves[~np.isnan(curves).any(-1)]  # without deaths there is no AUROC
    if not len(curves):
        return NOT_AVAILABLE
    mean = curves.mean(0)
    steps = [0, *(min(step, len(mean) - 1) for step in TABULATED_STEPS), -1]
    return " / ".join(f"{mean[step]:.3f}" for step in steps)


EXPERIMENT = Experiment(run, required_datasets, report_sections)
