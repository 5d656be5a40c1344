"""The comparison of `eddi demo`: how many questions EDDI, a fixed and a random order need."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from eddi import demo
from eddi.cli import terminal
from eddi.cli.demo_model import FIGURE_FILE
from eddi.errors import MissingExtraError
from eddi.evaluate import plots
from eddi.evaluate.curves import Curves, Numbers
from eddi.evaluate.simulate import simulate
from eddi.evaluate.simulation_report import main_metric, majority_rate
from eddi.model.quality import NEARLY_ALL, count_enough_steps
from eddi.partial_vae import PartialVAE
from eddi.strategy.names import make_strategy
from eddi.strategy.stopping import Stop

STRATEGIES = {"EDDI": "", "one fixed order": "fixed", "random order": "random"}
MAX_STEPS = 20  # of the first two; nothing changes after that, and a random order soon asks everything
STEPS_SHOWN = (0, 1, 2, 3, 5, 8, 12, 20)


def compare_strategies(out: Console, model: PartialVAE, folder: Path) -> None:
    """Interview held-out people with each strategy, print what is known after each question, and plot it."""
    curves = simulate_strategies(model)
    n_people = curves["EDDI"].n_rows
    out.print(f"[bold]How many questions are needed? {n_people} held-out people, three ways[/bold]")
    out.print(
        "Take one person with a normal result and one with prediabetes or diabetes. How often does the\n"
        "estimate tell them apart? Guessing is right half of the time. (This is the AUROC.)\n"
    )
    out.print(_build_table(curves))
    _print_summary(out, curves)
    out.print(f"[bold]Figure[/bold]  {plot_curves(curves, folder / FIGURE_FILE)}\n")


def simulate_strategies(model: PartialVAE) -> dict[str, Curves]:
    """Return the simulated interviews of held-out people by the name of the strategy."""
    _, held_out = demo.split_table(demo.load_table())
    curves = {}
    for label, name in STRATEGIES.items():
        with terminal.show_progress(f"interviewing ({label})") as on_progress:
            curves[label] = simulate(
                model,
                held_out,
                strategy=make_strategy(name, model.fitted(), model.target_),
                stop=Stop(),  # not when the schema says, to see what more questions add
                max_steps=None if name == "random" else MAX_STEPS,
                on_progress=on_progress,
            )
    return curves


def plot_curves(curves: Mapping[str, Curves], path: Path) -> str:
    """Plot the information curves and return the path of the figure, or why there is none."""
    try:
        plots.information_curves(curves, path, metric=main_metric(next(iter(curves.values()))))
    except MissingExtraError as error:
        return str(error)
    return str(path)


def _build_table(curves: Mapping[str, Curves]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("questions asked")
    for step in (*STEPS_SHOWN, "all"):
        table.add_column(f"{step}", justify="right")
    for label, areas in _find_areas(curves).items():
        table.add_row(label, *(f"{areas[step]:.0%}" for step in (*STEPS_SHOWN, -1)))
    return table


def _print_summary(out: Console, curves: Mapping[str, Curves]) -> None:
    enough = {label: count_enough_steps(1 - areas) for label, areas in _find_areas(curves).items()}
    first, last = curves["EDDI"], curves["random order"]
    n_asked, n_fixed, n_random = enough.values()
    step = min(n_asked, first.n_steps)
    spent, total = first.spent[:, step].mean(), last.spent[:, -1].mean()
    accuracy, majority = first.accuracy, majority_rate(first)
    assert accuracy is not None  # noqa: S101  # the target has levels
    out.print(
        f"\nFor almost the full answer ({NEARLY_ALL:.0%} of what all questions add), EDDI needs "
        f"[bold]{n_asked} questions[/bold],\nthe same order for everybody, also found by EDDI, {n_fixed}, "
        f"and a random order {n_random}.\nEDDI's questions cost {spent:.0f} on average, and all questions "
        f"{total:.0f}. The more likely result is then right\nfor {accuracy[step]:.0%} of the people. "
        f"Always guessing “normal” is right for {majority:.0%}.\n"
    )


def _find_areas(curves: Mapping[str, Curves]) -> dict[str, Numbers]:
    """Return the AUROC before the first question, after each of them, and after all [steps + 2]."""
    areas = {label: curve.auroc for label, curve in curves.items() if curve.auroc is not None}
    after_all = areas["random order"][-1]  # the same for every order
    return {label: np.append(values[: MAX_STEPS + 1], after_all) for label, values in areas.items()}
