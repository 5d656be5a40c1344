"""What `eddi simulate` shows: how wrong the prediction is after each question, and what was asked."""

from collections import Counter
from pathlib import Path

from rich.table import Table
from rich.text import Text

from eddi import terminal
from eddi.evaluate.curves import Curves
from eddi.evaluate.plots import information_curves
from eddi.evaluate.simulate import simulate
from eddi.model.archive import load
from eddi.strategy import Information, Random
from eddi.strategy.base import Strategy
from eddi.table import formats

STRATEGIES: dict[str, Strategy] = {"information": Information(), "random": Random()}
BAR_WIDTH = 24


def play(
    model: Path,
    table: Path,
    target: str | None,
    strategy: str,
    *,
    steps: int | None,
    plot: Path | None,
    json: bool,
) -> None:
    """Interview every row of ``table``, and print, draw or write what came of it."""
    fitted = load(model)
    fitted.schema_.target_names(target)  # a wrong name is told before all work
    rows = formats.read(table)
    with terminal.counting("interviewing") as on_progress:
        curves = simulate(
            fitted,
            rows,
            target,
            strategy=STRATEGIES[strategy],
            max_steps=steps,
            on_progress=on_progress,
        )
    if json:
        terminal.put(terminal.as_json(curves.to_document()))
    else:
        out = terminal.console(stderr=False)
        out.print(steps_table(curves))
        out.print(Text(f"AUIC, the mean error over all steps: {curves.auic:.4g}. Lower is better."))
    if plot is not None:
        information_curves({strategy: curves}, plot, target=curves.target, unit=curves.unit)
        terminal.say(f"wrote {plot}")


def steps_table(curves: Curves) -> Table:
    """One line a step: the error, and what was asked most."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    metrics = {"RMSE": curves.rmse, "NLL": curves.nll}
    if curves.accuracy is not None:
        metrics["accuracy"] = curves.accuracy
    for heading in ("asked", *metrics):
        table.add_column(heading, justify="right")
    table.add_column("RMSE", style="dim")
    table.add_column("asked most")
    worst = max(curves.rmse.max(), 1e-12)
    for step, values in enumerate(zip(*metrics.values(), strict=True)):
        bar = terminal.share_bar(curves.rmse[step] / worst, BAR_WIDTH)
        figures = (f"{value:.4g}" for value in values)
        table.add_row(f"{step}", *figures, bar, Text(_most_asked(curves, step)))
    return table


def _most_asked(curves: Curves, step: int) -> str:
    """The commonest question of a step, and its share of the rows that were asked anything."""
    if step == 0:
        return ""
    asked = [place for place in curves.order[:, step - 1].tolist() if place >= 0]
    if not asked:
        return "nothing"
    (place, n), *_ = Counter(asked).most_common(1)
    return f"{curves.questions[place]} ({n / len(asked):.0%})"
