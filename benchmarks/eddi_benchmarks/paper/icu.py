"""Who dies in intensive care (the paper's section 4.3): which measurement to take next.

The paper's MIMIC-III is behind credentials; whoever has it runs the suite ``paper-icu-mimic3``. The
table itself is run on the open PhysioNet 2012 challenge: the same hospital and question, 12,000 stays.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from eddi.evaluate.curves import Curves
from eddi.evaluate.simulate import simulate
from eddi.model.partial_vae import PartialVAE
from eddi.model.recipe import PAPER
from eddi_benchmarks.data import datasets as tables
from eddi_benchmarks.data import icu as icu_data
from eddi_benchmarks.harness.experiment import Experiment, Figures, Outcome, Settings
from eddi_benchmarks.paper import authors_code as published
from eddi_benchmarks.paper import comparison as combination
from eddi_benchmarks.paper import health as contest
from eddi_benchmarks.report.content import Grid, Picture, Section

TEST_SHARE = 0.1
METRICS = ("nll", "accuracy", "brier")
CURVES_ONLY = ("auroc",)  # no row has a share of its own in it
AFTER = (3, 10)  # questions, at which the curves are also told in numbers
THEIRS = contest.theirs(  # the paper's table 4: EDDI, Random, Single best
    {
        "zi": (8.83, 7.97, 9.83),
        "zi-m": (4.91, 7.00, 5.91),
        "pn": (4.96, 6.62, 5.96),
        "pnp": (4.39, 6.18, 5.39),
    }
)
NAMES = {
    "physionet2012": "PhysioNet 2012, the open stand-in for MIMIC-III",
    "mimic3_ihm": "MIMIC-III",
    "mimic3_demo_ihm": "the MIMIC-III demo, 57 stays",
}


def play(settings: Settings, folder: Path) -> Figures:  # noqa: ARG001  # keeps no files
    """Train one model on the stays of nine patients in ten, and examine some of the rest."""
    table = tables.load(str(settings["dataset"]))
    return play_table(table, settings)


def play_table(table: pa.Table, settings: Settings) -> Figures:
    """The same for any table whose last column says who died."""
    train, test = split(table, seed=int(settings["seed"]), max_test=int(settings["max_test"]))
    train, test = trimmed(train, test, float(settings.get("trim", 0.0)))
    began = time.perf_counter()
    model = fit(train, settings)
    fitted = time.perf_counter() - began
    contestants = contest.Contestants.of(model, test, icu_data.TARGET, settings)
    seconds, told = {"fit": fitted}, {}
    for name, strategy in contestants.strategies.items():
        began = time.perf_counter()
        told[name] = _told(simulate(model, test, icu_data.TARGET, strategy=strategy))
        seconds[name] = time.perf_counter() - began
    seconds["sing"] += contestants.seconds_to_learn
    return {
        "n_rows": {"train": train.num_rows, "test": test.num_rows},
        "n_deaths": {"train": _deaths(train), "test": _deaths(test)},
        "n_variables": len(model.schema_.variables) - 1,
        "seconds": {name: round(spent, 3) for name, spent in seconds.items()},
        "strategies": told,
    }


def split(table: pa.Table, *, seed: int, max_test: int) -> tuple[pa.Table, pa.Table]:
    """Rows to train on, and rows to examine: at most ``max_test`` of the tenth that is held out.

    Both parts have as many deaths as all stays have. By chance alone the share of deaths, and with it
    every curve, would differ more between repetitions than strategies differ.
    """
    died = table[icu_data.TARGET].to_numpy() == 1
    random = np.random.default_rng(seed)
    train, test = [], []
    for outcome in (True, False):
        stays = random.permutation(np.flatnonzero(died == outcome))
        n_held_out = round(TEST_SHARE * len(stays))
        train.append(stays[n_held_out:])
        test.append(stays[: min(n_held_out, round(max_test * len(stays) / len(died)))])
    # In no order of theirs, for a random strategy knows a row by its place.
    return tuple(table.take(random.permutation(np.concatenate(part))) for part in (train, test))


def trimmed(train: pa.Table, test: pa.Table, share: float) -> tuple[pa.Table, pa.Table]:
    """Both with the outermost ``share`` of readings, on either side, moved to where it begins.

    Scaling to [0, 1] is by the least and the greatest reading: a single pH of 128 leaves all true ones
    within a twentieth. The paper mentions no trimming: a share of 0.
    """
    if not share:
        return train, test
    kept = [name for name in train.column_names if name != icu_data.TARGET]
    edges = {name: pc.quantile(train[name], q=[share, 1 - share]).to_pylist() for name in kept}

    def within(table: pa.Table) -> pa.Table:
        moved = {
            name: pc.min_element_wise(
                pc.max_element_wise(table[name], edges[name][0], skip_nulls=False),
                edges[name][1],
                skip_nulls=False,
            )
            for name in kept
        }
        return pa.table({**moved, icu_data.TARGET: table[icu_data.TARGET]})

    return within(train), within(test)


def fit(train: pa.Table, settings: Settings) -> PartialVAE:
    """The paper's Partial VAE: measurements are numbers in [0, 1], death is a Bernoulli variable."""
    schema = icu_data.schema(train)
    never = [name for name in train.column_names if train[name].null_count == train.num_rows]
    model = PartialVAE(
        schema.without(*never, reason="measured in no training row"),
        icu_data.TARGET,
        recipe=published.recipe(settings),
        set_encoder=str(settings["set_encoder"]),
        random_state=int(settings["seed"]),
        device=str(settings.get("device", "auto")),
    )
    return model.fit(published.training_table(train.to_pandas(), settings))


def _told(curves: Curves) -> Figures:
    """Curves as long as there are variables, and each row's area over all of them.

    A stay of which everything known has been asked keeps its last prediction.
    """
    n_steps = len(curves.questions) - 1
    steps = np.minimum(np.arange(n_steps + 1), curves.n_steps)
    by_row = {name: curves.row_values(name)[curves.known][:, steps] for name in METRICS}  # type: ignore[arg-type]
    by_step = {name: np.asarray(getattr(curves, name))[steps] for name in (*METRICS, *CURVES_ONLY)}
    return {
        "n_asked": combination.plain(curves.n_asked.mean()),
        "curves": {name: combination.plain(curve) for name, curve in by_step.items()},
        "auic": {name: combination.plain(rows.mean(1)) for name, rows in by_row.items()},
    }


def _deaths(table: pa.Table) -> int:
    return int(pc.sum(table[icu_data.TARGET]).as_py())


def datasets(settings: Settings) -> tuple[str, ...]:
    """The one table a run is on."""
    return (str(settings["dataset"]),)


def sections(outcomes: Sequence[Outcome], folder: Path) -> list[Section]:
    """A section for each dataset that was run."""
    names = dict.fromkeys(str(each.settings["dataset"]) for each in outcomes)
    by_name = {name: [o for o in outcomes if o.settings["dataset"] == name] for name in names}
    return [_section(name, some, folder) for name, some in by_name.items()]


def _section(name: str, outcomes: Sequence[Outcome], folder: Path) -> Section:
    title = NAMES.get(name, name)
    ranks = f"Average rank of AUIC (negative log-likelihood of death): {title}; theirs on MIMIC-III"
    grids = (
        combination.rank_grid(outcomes, "nll", theirs=THEIRS, title=ranks),
        combination.test_grid(outcomes, "nll", title="Is the difference more than chance?"),
        _numbers(outcomes),
    )
    words = (
        *_about(name, outcomes),
        contest.verdict(outcomes, "nll", THEIRS),
        contest.fit_time(outcomes),
    )
    return Section(
        f"Mortality in intensive care: {title}", words, grids, _pictures(name, outcomes, folder)
    )


def _about(name: str, outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    figures = outcomes[0].figures
    train, test = figures["n_rows"]["train"], figures["n_rows"]["test"]
    share = (figures["n_deaths"]["train"]) / train
    words = (
        f"{figures['n_variables']} measurements of each stay, every series averaged over its first 48 "
        f"hours; trained on {train:,} stays, of whose patients {share:.1%} died. A tenth is held out in "
        f"each repetition; {test:,} of it, drawn by the seed with their share of deaths, are examined."
    )
    trim, steps = float(outcomes[0].settings.get("trim", 0.0)), int(outcomes[0].settings["max_steps"])
    if trim or steps > PAPER.max_steps:
        words = (
            f"{words} Not the paper's settings: {steps:,} training steps (its text says 3,000, its "
            f"published code 30,000), and the outermost {trim:.0%} of readings on either side, by the "
            "training rows, moved to where it begins, before all is scaled to [0, 1]."
        )
    code = published.said(outcomes[0].settings)
    if name != "physionet2012":
        return (words, *code)
    return (
        "This is not the paper's data. MIMIC-III is given only to trained and credentialed people, so "
        "the table is run on the open PhysioNet 2012 challenge: other patients of the same hospital, "
        "the same question, 41 variables instead of 17. It can agree with the paper in kind only. With "
        "the real data, `eddi bench run paper-icu-mimic3 --data FOLDER` gives the paper's own table.",
        f"{words} Ventilation is recorded only while it is on, so no record counts as none.",
        *code,
    )


def _numbers(outcomes: Sequence[Outcome]) -> Grid:
    """AUROC, accuracy and likelihood after a few questions and after all, the mean over repetitions."""
    shown = {"AUROC": "auroc", "accuracy": "accuracy", "negative log-likelihood": "nll"}
    rows = []
    for words, metric in shown.items():
        for strategy, called in combination.STRATEGIES.items():
            some = [o for o in outcomes if strategy in o.figures["strategies"]]
            if some:
                cells = (_at(some, encoder, strategy, metric) for encoder in combination.ENCODERS)
                rows.append((words, called, *cells))
    columns = ("", "", *combination.ENCODERS.values())
    after = ", ".join(map(str, AFTER))
    return Grid(
        "The prediction itself",
        columns,
        tuple(rows),
        f"After 0, {after} and all questions; means over seeds.",
    )


def _at(outcomes: Sequence[Outcome], encoder: str, strategy: str, metric: str) -> str:
    curves = [
        outcome.figures["strategies"][strategy]["curves"][metric]
        for outcome in outcomes
        if outcome.settings["set_encoder"] == encoder
    ]
    numbers: NDArray[Any] = np.array(curves, dtype=np.float64)
    told = numbers[~np.isnan(numbers).any(-1)] if curves else numbers  # no AUROC where nobody died
    if not len(told):
        return combination.NOT_YET
    mean = told.mean(0)
    places = [0, *(min(step, len(mean) - 1) for step in AFTER), -1]
    return " / ".join(f"{mean[place]:.3f}" for place in places)


def _pictures(name: str, outcomes: Sequence[Outcome], folder: Path) -> tuple[Picture, ...]:
    return tuple(
        combination.curve_picture(outcomes, metric, folder / f"icu-{name}-{metric}.png", dataset=name)
        for metric in ("nll", "brier")
    )


EXPERIMENT = Experiment(play, datasets, sections)
