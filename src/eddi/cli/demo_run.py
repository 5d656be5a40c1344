"""The steps of `eddi demo`: train a model, interview a held-out person, and compare strategies.

With `--serve`, as run by `make run`, the model is trained only if it does not exist yet, and its
questionnaire is served to a browser.
"""

import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from rich.text import Text

from eddi.cli import terminal
from eddi.cli.demo_study import (
    MEASUREMENTS,
    TARGET,
    Columns,
    build_schema,
    load_study,
    split_rows,
)
from eddi.errors import MissingExtraError, ModelFileError
from eddi.evaluate import plots
from eddi.evaluate.curves import Curves
from eddi.evaluate.simulate import simulate
from eddi.interview.interview import Interview
from eddi.model.prediction import Prediction
from eddi.partial_vae import PartialVAE, load
from eddi.reward.units import format_bits
from eddi.strategy import FixedOrder, Information, Random
from eddi.strategy.base import Strategy
from eddi.strategy.stopping import Stop
from eddi.table import formats
from eddi.table.question import Question

if TYPE_CHECKING:
    from eddi.service.settings import Settings

MODEL_FILE, TABLE_FILE, STORE_FILE = "diabetes.eddi", "diabetes.csv", "answers.db"
FIGURE_FILE = "information_curve.png"
TITLE = "How far will your diabetes have progressed in a year?"
ABOUT = (
    "A demonstration with a model of 354 people from a study of 2004. The result is a score of that "
    "study, from 25 to 346. If you do not know your own values, make up a person."
)
MAX_STEPS = 1200  # enough for 354 rows; more steps would overfit
N_QUESTIONS = 6
SCALE = (0.0, 350.0)  # of the target
BAR_WIDTH = 26
STEPS_SHOWN = (0, 1, 2, 3, 4, 6, 8, 10)


def run_demo(folder: Path, out: Console, *, seed: int = 0) -> None:
    """Run the whole demonstration and write the model, the table and a figure to ``folder``."""
    started_at = time.monotonic()
    training, held_out, model = _train_model(folder, out, seed)
    person = seed % len(held_out[TARGET])
    _interview_person(out, model, {name: float(column[person]) for name, column in held_out.items()})
    strategies: dict[str, Strategy] = {
        "EDDI": Information(),
        "fixed order": FixedOrder.learn(model, target=TARGET),
        "random order": Random(),
    }
    curves = {
        name: simulate(model, held_out, strategy=strategy) for name, strategy in strategies.items()
    }
    _print_comparison(out, curves)
    _save_model(folder, model, training)
    figure = _plot_curves(folder, curves)
    _print_files(out, folder, figure)
    out.print(f"[dim]The demonstration took {time.monotonic() - started_at:.0f} s.[/dim]")


def prepare_model(folder: Path, out: Console, *, seed: int = 0) -> None:
    """Train the model and save it with its table in ``folder``, unless it exists already."""
    if _has_model(folder / MODEL_FILE, out):
        return
    training, _, model = _train_model(folder, out, seed)
    _save_model(folder, model, training)


def _has_model(path: Path, out: Console) -> bool:
    """Whether ``path`` is a model file that this version of EDDI can read."""
    if not path.exists():
        return False
    try:
        load(path)
    except ModelFileError as error:
        out.print(f"Training the model again because the existing file cannot be read: {error}")
        return False
    return True


def build_settings(folder: Path, given: "Settings") -> "Settings":
    """Return the settings for serving: those given in the environment, otherwise those of the demo."""
    demo_values = {
        "store": f"sqlite:///{folder / STORE_FILE}",
        "after": N_QUESTIONS,
        "title": TITLE,
        "about": ABOUT,
        "log": "warning",  # one line per request would scroll the address out of view
    }
    unset = {name: demo_values[name] for name in demo_values.keys() - given.model_fields_set}
    return given.model_copy(update={"model": str(folder / MODEL_FILE), "target": TARGET, **unset})


def _train_model(folder: Path, out: Console, seed: int) -> tuple[Columns, Columns, PartialVAE]:
    """Create ``folder``, and return the training rows, the held-out rows and the trained model."""
    torch.set_num_threads(1)  # for such a small network, several threads are slower than one
    folder.mkdir(parents=True, exist_ok=True)
    training, held_out = split_rows(load_study(), seed)
    _print_introduction(out, training, held_out)
    return training, held_out, _fit(out, training, seed)


def _fit(out: Console, training: Columns, seed: int) -> PartialVAE:
    with terminal.show_training_progress() as on_progress:
        model = PartialVAE(
            build_schema(), TARGET, max_steps=MAX_STEPS, random_state=seed, on_progress=on_progress
        ).fit(training)
    last = model.history_[-1]
    out.print(f"Trained in {last.seconds:.0f} s ({last.step:,} steps).\n")
    return model


def _print_introduction(out: Console, training: Columns, held_out: Columns) -> None:
    n_missing = sum(int(np.isnan(column).sum()) for column in training.values())
    n_cells = sum(map(len, training.values()))
    out.print()
    out.print("[bold]How far will a person's diabetes have progressed in a year?[/bold]")
    out.print(
        f"The model learns from {len(training[TARGET])} people, with {n_missing} of {n_cells:,} values "
        f"missing.\nEDDI then interviews {len(held_out[TARGET])} held-out people. For each of them it "
        f"selects the most\ninformative of {len(MEASUREMENTS)} questions, one after the other."
    )
    out.print()


def _interview_person(out: Console, model: PartialVAE, person: dict[str, float]) -> None:
    """Interview a held-out person, with the answers from the table, and print each prediction."""
    interview = Interview(model, TARGET, stop=Stop(after=N_QUESTIONS))
    table = _build_interview_table()
    start = "[dim]before the first question[/dim]"
    table.add_row("", start, "", "", *_format_prediction(interview.predict()))
    while (question := interview.ask()) is not None:
        reward = interview.rewards()[question.name]
        value = person[question.name]
        interview.tell(question, value)
        number = f"{len(interview.record.answers)}"
        answer = _format_answer(model, question, value)
        bits = format_bits(reward).removesuffix(" bits")
        table.add_row(number, question.text, answer, bits, *_format_prediction(interview.predict()))
    truth = person[TARGET]
    marker = terminal.draw_marker(truth, scale=SCALE, width=BAR_WIDTH)
    table.add_row("", "[bold green]a year later[/]", "", "", f"[bold green]{truth:.0f}[/]", marker)
    out.print("[bold]One held-out person[/bold]")
    out.print(table)
    _print_result(out, model, interview, truth)


def _build_interview_table() -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="dim")
    low, high = (f"{end:.0f}" for end in SCALE)
    table.add_column("", no_wrap=True)
    table.add_column("question", no_wrap=True)
    table.add_column("answer", justify="right", no_wrap=True)
    table.add_column("bits", justify="right", no_wrap=True)
    table.add_column("prediction (90%)", justify="right", no_wrap=True)
    table.add_column(f"{low}{high:>{BAR_WIDTH - len(low)}}", no_wrap=True)
    return table


def _format_answer(model: PartialVAE, question: Question, value: float) -> str:
    return f"{value:g} {model.schema_[question.name].unit}".strip()


def _format_prediction(prediction: Prediction) -> tuple[str, Text]:
    low, high = prediction.interval.tolist()
    mean = float(prediction.mean)
    bar = terminal.draw_interval((low, high), mean, scale=SCALE, width=BAR_WIDTH)
    return f"{mean:.0f} ({low:.0f} to {high:.0f})", bar


def _print_result(
    out: Console, model: PartialVAE, interview: Interview[Prediction], truth: float
) -> None:
    asked_names = {answer.question for answer in interview.record.answers}
    costs = {
        question.name: question.cost for question in model.schema_.questions if question.name != TARGET
    }
    spent = sum(costs[name] for name in asked_names)
    prediction = interview.predict()
    low, high = prediction.interval.tolist()
    location = "inside" if low <= truth <= high else "outside"
    best_reward = max(0.0, *interview.rewards().values())
    out.print(
        f"Predicted {float(prediction.mean):.0f}, observed {truth:.0f}: {location} the 90% interval "
        f"({low:.0f} to {high:.0f}).\nAsked {len(asked_names)} of {len(MEASUREMENTS)} questions, at "
        f"{spent:.0f} of {sum(costs.values()):.0f} units of cost.\n"
        f"The best remaining question would give {format_bits(best_reward)}.\n"
    )


def _print_comparison(out: Console, curves: dict[str, Curves]) -> None:
    n_rows = next(iter(curves.values())).n_rows
    out.print(f"[bold]All {n_rows} held-out people, with three strategies that ignore costs[/bold]")
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("questions asked")
    for step in STEPS_SHOWN:
        table.add_column(f"{step}", justify="right")
    table.add_column("AUIC", justify="right", style="bold")
    for name, strategy_curves in curves.items():
        errors = (f"{strategy_curves.rmse[step]:.0f}" for step in STEPS_SHOWN)
        table.add_row(f"RMSE, {name}", *errors, f"{strategy_curves.auic:.1f}")
    out.print(table)
    out.print("AUIC is the area under the curve of the RMSE, that is, its mean. Lower is better.\n")


def _save_model(folder: Path, model: PartialVAE, training: Columns) -> None:
    formats.write(formats.read(training), folder / TABLE_FILE)
    model.save(folder / MODEL_FILE)  # last, so that an existing model implies an existing table


def _plot_curves(folder: Path, curves: dict[str, Curves]) -> str:
    """Plot the information curves and return the path of the figure, or why there is none."""
    path = folder / FIGURE_FILE
    try:
        plots.information_curves(curves, path, target="progression after a year")
    except MissingExtraError as error:
        return str(error)
    return str(path)


def _print_files(out: Console, folder: Path, figure: str) -> None:
    model, table = folder / MODEL_FILE, folder / TABLE_FILE
    out.print(f"[bold]Figure[/bold]  {figure}")
    out.print(f"[bold]Model[/bold]   {model}")
    out.print(f"[bold]Table[/bold]   {table}   (the training rows, with missing values)\n")
    out.print("[bold]Try next[/bold]")
    out.print(f"  eddi interview {model}")
    out.print(f"  eddi serve {model}")
    out.print(f"  eddi describe {model}")
    out.print(f"  eddi impute {model} {table} -o {folder / 'filled.csv'}")
    out.print("  eddi schema your_own.csv > your_own.toml")
