"""`eddi demo`: train on an embedded table, interview a held-out person, and prove what it was worth.

With `--serve`, which is what `make run` does, the model is trained only if it is not there yet, and its
questionnaire is then served to a browser.

The table is the diabetes study of Efron, Hastie, Johnstone and Tibshirani (2004), which comes with
scikit-learn: ten measurements of 442 people, and how far their diabetes had progressed a year later.
"""

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from rich.text import Text
from sklearn.datasets import load_diabetes

from eddi.cli import terminal
from eddi.errors import MissingExtraError, ModelFileError
from eddi.evaluate import plots
from eddi.evaluate.curves import Curves
from eddi.evaluate.simulate import simulate
from eddi.interview.interview import Interview
from eddi.model.files.archive import load
from eddi.model.partial_vae import PartialVAE
from eddi.model.prediction import Prediction
from eddi.service.settings import Settings
from eddi.strategy import Information, Random
from eddi.strategy.base import Strategy
from eddi.strategy.stopping import Stop
from eddi.table import formats
from eddi.table.question import Question
from eddi.table.schema import Schema
from eddi.table.variable import Kind, Variable

TARGET = "progression"
MODEL, TABLE, ANSWERS = "diabetes.eddi", "diabetes.csv", "answers.db"
TITLE = "How far will your diabetes have progressed in a year?"
ABOUT = (
    "A demonstration, learned from 354 people of a study of 2004. The result is a score of that study, "
    "from 25 to 346; make up a person if you have no such figures at hand."
)
MAX_STEPS = 1200  # enough for 354 rows: more fits their noise
N_ASKED = 6
HELD_OUT = 0.2  # share of rows the model never sees
HOLES = 0.1  # share of the training table's cells that are emptied
BAR_WIDTH = 26

Columns = dict[str, NDArray[np.float64]]

# Name, unit, wording and cost: talk is cheap, a scale and a cuff are near, blood needs a laboratory.
ASKED = (
    ("age", "years", "How old are you?", 1),
    ("sex", "", "What is your sex? (coded 1 or 2)", 1),
    ("body mass index", "kg/m²", "What is your body mass index?", 2),
    ("blood pressure", "mmHg", "What is your mean blood pressure?", 3),
    ("total cholesterol", "mg/dl", "Blood test: total cholesterol?", 10),
    ("LDL", "mg/dl", "Blood test: LDL cholesterol?", 10),
    ("HDL", "mg/dl", "Blood test: HDL cholesterol?", 10),
    ("cholesterol ratio", "", "Blood test: cholesterol over HDL?", 10),
    ("log triglycerides", "", "Blood test: log of triglycerides?", 10),
    ("blood sugar", "mg/dl", "Blood test: blood sugar?", 10),
)


def play(folder: Path, out: Console, *, seed: int = 0) -> None:
    """Run the whole demonstration; the model, the table and the picture go to ``folder``."""
    began = time.monotonic()
    torch.set_num_threads(1)  # so small a network is done before two threads have met
    folder.mkdir(parents=True, exist_ok=True)
    training, held_out = _split(_people(), seed)
    _introduce(out, training, held_out)
    model = _learned(out, training, seed)
    person = seed % len(held_out[TARGET])
    _interview(out, model, {name: float(column[person]) for name, column in held_out.items()})
    strategies: dict[str, Strategy] = {"EDDI": Information(), "random order": Random()}
    curves = {name: simulate(model, held_out, strategy=each) for name, each in strategies.items()}
    _compare(out, curves)
    picture = _keep(folder, model, training, curves)
    _farewell(out, folder, picture, time.monotonic() - began)


def prepare(folder: Path, out: Console, *, seed: int = 0) -> None:
    """See to it that ``folder`` holds the model and its table: they are made where they are not."""
    if _is_there(folder / MODEL, out):
        return
    torch.set_num_threads(1)
    folder.mkdir(parents=True, exist_ok=True)
    training, held_out = _split(_people(), seed)
    _introduce(out, training, held_out)
    _keep_learned(folder, _learned(out, training, seed), training)


def _is_there(model: Path, out: Console) -> bool:
    """Whether the model was learned already, by a version of EDDI whose models this one reads."""
    if not model.exists():
        return False
    try:
        load(model)
    except ModelFileError as error:
        out.print(f"The model is learned again, since the old one cannot be read: {error}")
        return False
    return True


def settings(folder: Path, given: Settings) -> Settings:
    """How the demonstration is served: what the environment leaves open is as suits this table."""
    ours = {
        "store": f"sqlite:///{folder / ANSWERS}",
        "after": N_ASKED,
        "title": TITLE,
        "about": ABOUT,
        "log": "warning",  # a line for each request would carry the address out of sight
    }
    usual = Settings()
    left_open = {
        name: value for name, value in ours.items() if getattr(given, name) == getattr(usual, name)
    }
    return replace(given, model=str(folder / MODEL), target=TARGET, **left_open)  # type: ignore[arg-type]


def _learned(out: Console, training: Columns, seed: int) -> PartialVAE:
    with terminal.training() as on_progress:
        model = PartialVAE(
            _schema(), TARGET, max_steps=MAX_STEPS, random_state=seed, on_progress=on_progress
        ).fit(training)
    last = model.history_[-1]
    out.print(f"Learned in {last.seconds:.0f} s ({last.step:,} steps).\n")
    return model


def _people() -> Columns:
    study = load_diabetes(scaled=False)
    columns = {name: study.data[:, place] for place, (name, *_) in enumerate(ASKED)}
    return {**columns, TARGET: study.target}


def _schema() -> Schema:
    variables = [_variable(name, unit) for name, unit, *_ in ASKED]
    questions = [Question(name, (name,), text, cost) for name, _, text, cost in ASKED]
    known = Variable(TARGET, Kind.REAL, low=0)
    return Schema((*variables, known), tuple(questions), targets=(TARGET,))


def _variable(name: str, unit: str) -> Variable:
    if name == "sex":
        return Variable(name, Kind.BINARY, (1, 2))
    return Variable(name, Kind.REAL, low=0, unit=unit)


def _split(people: Columns, seed: int) -> tuple[Columns, Columns]:
    """Rows to learn from, with holes punched into what can be asked, and rows to be interviewed."""
    random = np.random.default_rng(seed)
    n_rows = len(people[TARGET])
    order = random.permutation(n_rows)
    n_held_out = round(n_rows * HELD_OUT)
    held_out = {name: column[order[:n_held_out]] for name, column in people.items()}
    training = {name: column[order[n_held_out:]].copy() for name, column in people.items()}
    for name, *_ in ASKED:
        training[name][random.random(n_rows - n_held_out) < HOLES] = np.nan
    return training, held_out


def _introduce(out: Console, training: Columns, held_out: Columns) -> None:
    n_holes = sum(int(np.isnan(column).sum()) for column in training.values())
    n_cells = sum(map(len, training.values()))
    out.print()
    out.print("[bold]How far will this person's diabetes have progressed in a year?[/bold]")
    out.print(
        f"Ten questions could be asked, of {len(training[TARGET])} people to learn from (with {n_holes} "
        f"holes punched into {n_cells:,} cells)\nand {len(held_out[TARGET])} people held out. "
        "EDDI asks each of them first what tells most."
    )
    out.print()


def _interview(out: Console, model: PartialVAE, person: dict[str, float]) -> None:
    """Ask one held-out person, who answers from the table, and show belief narrowing."""
    interview = Interview(model, TARGET, stop=Stop(after=N_ASKED))
    scale = (0.0, 350.0)
    table = _interview_table(scale)
    table.add_row("", "[dim]nothing asked yet[/dim]", "", "", *_belief(interview.predict(), scale))
    while (question := interview.ask()) is not None:
        worth = interview.rewards()[question.name]
        value = person[question.name]
        interview.tell(question, value)
        row = (f"{len(interview.record.answers)}", question.text, _answer(model, question, value))
        nats = f"{round(worth, 2) + 0.0:.2f}"  # plus nought, for -0.00 puzzles people
        table.add_row(*row, nats, *_belief(interview.predict(), scale))
    truth = person[TARGET]
    table.add_row(
        "",
        "[bold green]a year later[/]",
        "",
        "",
        f"[bold green]{truth:.0f}[/]",
        terminal.mark(truth, *scale, BAR_WIDTH),
    )
    out.print("[bold]One person nobody trained on[/bold]")
    out.print(table)
    _conclude(out, model, interview, truth)


def _interview_table(scale: tuple[float, float]) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="dim")
    low, high = (f"{end:.0f}" for end in scale)
    table.add_column("", no_wrap=True)
    table.add_column("question", no_wrap=True)
    table.add_column("answer", justify="right", no_wrap=True)
    table.add_column("nats", justify="right", no_wrap=True)
    table.add_column("belief (90%)", justify="right", no_wrap=True)
    table.add_column(f"{low}{high:>{BAR_WIDTH - len(low)}}", no_wrap=True)
    return table


def _answer(model: PartialVAE, question: Question, value: float) -> str:
    return f"{value:g} {model.schema_[question.name].unit}".strip()


def _belief(prediction: Prediction, scale: tuple[float, float]) -> tuple[str, Text]:
    low, high = prediction.interval.tolist()
    words = f"{float(prediction.mean):.0f} ({low:.0f} to {high:.0f})"
    return words, terminal.belief_bar((low, high), float(prediction.mean), *scale, BAR_WIDTH)


def _conclude(out: Console, model: PartialVAE, interview: Interview, truth: float) -> None:
    asked = {answer.question for answer in interview.record.answers}
    spent = sum(q.cost for q in model.schema_.questions if q.name in asked)
    total = sum(q.cost for q in model.schema_.questions if q.name != TARGET)
    prediction = interview.predict()
    low, high = prediction.interval.tolist()
    where = "inside" if low <= truth <= high else "outside"
    rest = max(0.0, *interview.rewards().values())
    out.print(
        f"Predicted {float(prediction.mean):.0f}, came out {truth:.0f}: {where} the 90% interval "
        f"({low:.0f} to {high:.0f}).\n{len(asked)} of {len(ASKED)} questions, at {spent:.0f} of "
        f"{total:.0f} units of cost. The best of the rest would tell {rest:.2f} nats.\n"
    )


def _compare(out: Console, curves: dict[str, Curves]) -> None:
    n_rows = next(iter(curves.values())).n_rows
    out.print(f"[bold]All {n_rows} held-out people, asked by two strategies[/bold]")
    shown = (0, 1, 2, 3, 4, 6, 8, 10)
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("questions asked")
    for step in shown:
        table.add_column(f"{step}", justify="right")
    table.add_column("AUIC", justify="right", style="bold")
    for name, each in curves.items():
        errors = (f"{each.rmse[step]:.0f}" for step in shown)
        table.add_row(f"error, {name}", *errors, f"{each.auic:.1f}")
    out.print(table)
    out.print("The error is RMSE; AUIC, the area under its curve, is its mean. Lower is better.\n")


def _keep(folder: Path, model: PartialVAE, training: Columns, curves: dict[str, Curves]) -> str:
    """Write the model, its table and the picture; returns what became of the picture."""
    _keep_learned(folder, model, training)
    path = folder / "information_curve.png"
    try:
        plots.information_curves(curves, path, target="progression after a year")
    except MissingExtraError as error:
        return str(error)
    return str(path)


def _keep_learned(folder: Path, model: PartialVAE, training: Columns) -> None:
    formats.write(formats.read(training), folder / TABLE)
    model.save(folder / MODEL)  # last: where the model is, all is


def _farewell(out: Console, folder: Path, picture: str, seconds: float) -> None:
    model, table = folder / MODEL, folder / TABLE
    out.print(f"[bold]Picture[/bold]  {picture}")
    out.print(f"[bold]Model[/bold]    {model}")
    out.print(f"[bold]Table[/bold]    {table}   (what it learned from, holes and all)\n")
    out.print("[bold]Try next[/bold]")
    out.print(f"  eddi interview {model}")
    out.print(f"  eddi serve {model}")
    out.print(f"  eddi describe {model}")
    out.print(f"  eddi impute {model} {table} -o {folder / 'filled.csv'}")
    out.print("  eddi schema your_own.csv > your_own.toml")
    out.print(f"[dim]All of this took {seconds:.0f} s.[/dim]")
