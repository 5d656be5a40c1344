"""The model of `eddi demo`: trained once, kept in a folder with its tables, and served from there."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from rich.console import Console

from eddi import demo
from eddi.cli import terminal
from eddi.errors import ModelFileError
from eddi.partial_vae import PartialVAE, load
from eddi.table import formats
from eddi.table.schema import Schema

if TYPE_CHECKING:
    from eddi.service.settings import Settings

MODEL_FILE, SCHEMA_FILE, STORE_FILE = "blood_sugar.eddi", "blood_sugar.toml", "answers.db"
TRAINING_FILE, HELD_OUT_FILE = "training.csv", "held_out.csv"
FIGURE_FILE = "information_curve.png"
TITLE = "Could your blood sugar be raised without you knowing it?"
ABOUT = (
    "A demonstration for adults who have not been told that they have diabetes. It estimates what the blood "
    "test HbA1c would show: a normal result, or prediabetes or diabetes. The model learned from 3,438 "
    "people of a public health survey in the United States (NHANES 2015-2016). It is not medical advice."
)
INTRODUCTION = (
    "The blood test HbA1c shows prediabetes or diabetes for a third of the adults in a public health\n"
    "survey (NHANES 2015-2016) who had never been told that they have diabetes. Who should be tested?\n"
    "A model learns from {n_training:,} of these people. EDDI then asks {n_held_out} others the most "
    "informative of\n{n_questions} questions, one after the other. "
    "This is a demonstration, not medical advice."
)
MAX_STEPS = 1000  # twice as many did not raise the AUROC of held-out people


def prepare_model(folder: Path, out: Console) -> PartialVAE:
    """Return the model in ``folder``. If there is none, train it and save it with its tables."""
    _print_introduction(out)
    path = folder / MODEL_FILE
    if (model := _load_model(path, out)) is not None:
        out.print(f"The model was trained earlier: {path}\n")
        return model
    folder.mkdir(parents=True, exist_ok=True)
    training, held_out = demo.split_table(demo.load_table())
    model = _fit(training, out)
    formats.write(training, folder / TRAINING_FILE)
    formats.write(held_out, folder / HELD_OUT_FILE)
    shutil.copyfile(demo.SCHEMA_FILE, folder / SCHEMA_FILE)
    model.save(path)  # last, so that an existing model implies existing tables
    return model


def count_questions(schema: Schema) -> int:
    """Return the number of questions, without that of the target."""
    return sum(question.name not in schema.targets for question in schema.questions)


def build_settings(folder: Path, given: "Settings") -> "Settings":
    """Return the settings for serving: those given in the environment, otherwise those of the demo."""
    demo_values = {
        "store": f"sqlite:///{folder / STORE_FILE}",
        "title": TITLE,
        "about": ABOUT,
        "log": "warning",  # one line per request would scroll the address out of view
    }
    unset = {name: demo_values[name] for name in demo_values.keys() - given.model_fields_set}
    return given.model_copy(update={"model": str(folder / MODEL_FILE), "target": "", **unset})


def print_files(out: Console, folder: Path) -> None:
    """Print which files there are, and what to do with them."""
    model, held_out = folder / MODEL_FILE, folder / HELD_OUT_FILE
    out.print("[bold]Try next[/bold]")
    out.print("  eddi demo --person 9                the interview of somebody else")
    out.print("  eddi demo --serve                   answer the questions yourself, in a browser")
    out.print(f"  eddi interview {model}")
    out.print(f"  eddi describe {model}")
    out.print(f"  eddi simulate {model} {held_out}")
    out.print(f"  eddi fit {folder / TRAINING_FILE} --schema {folder / SCHEMA_FILE} -o my.eddi")
    out.print("  eddi schema your_own.csv > your_own.toml")


def _load_model(path: Path, out: Console) -> PartialVAE | None:
    """Return the model of an earlier run; None if there is none, or if it is out of date."""
    if not path.exists():
        return None
    try:
        model = load(path)
    except ModelFileError as error:
        out.print(f"Training the model again because the existing file cannot be read: {error}")
        return None
    if model.schema_ != demo.load_schema():
        out.print("Training the model again because the table of the demonstration has changed.")
        return None
    return model


def _fit(training: object, out: Console) -> PartialVAE:
    torch.set_num_threads(1)  # for such a small network, several threads are slower than one
    with terminal.show_training_progress() as on_progress:
        model = PartialVAE(
            demo.load_schema(), max_steps=MAX_STEPS, random_state=0, on_progress=on_progress
        ).fit(training)
    last = model.history_[-1]
    out.print(f"Trained in {last.seconds:.0f} s ({last.step:,} steps). Measuring its quality ...\n")
    return model


def _print_introduction(out: Console) -> None:
    training, held_out = demo.split_table(demo.load_table())
    n_questions = count_questions(demo.load_schema())
    out.print(f"\n[bold]{TITLE}[/bold]")
    out.print(
        INTRODUCTION.format(
            n_training=training.num_rows, n_held_out=held_out.num_rows, n_questions=n_questions
        )
        + "\n"
    )
