"""`eddi simulate`: interview every row of a held-out table and evaluate the predictions."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from eddi.cli import terminal
from eddi.cli.errors import check_writable
from eddi.cli.options import (
    EngineOption,
    InterviewOptions,
    Json,
    ModelPath,
    TablePath,
    UnknownOption,
    UnknownRule,
    Workers,
    with_interview_options,
)
from eddi.engine import Engine, EngineName

if TYPE_CHECKING:
    from eddi.evaluate.curves import Curves
    from eddi.evaluate.streaming_curves import StreamingCurves

BAR_WIDTH = 24


@with_interview_options
def simulate(
    model: ModelPath,
    table: TablePath,
    *,
    options: InterviewOptions,
    steps: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Maximum questions per row. Default: all.")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="Plot the information curve to a .png, .svg or .pdf file."),
    ] = None,
    json: Json = False,
    unknown: UnknownOption = UnknownRule.IGNORE,
    engine: EngineOption = EngineName.THIS,
    workers: Workers = None,
) -> None:
    """Interview every row of a held-out table and show how the prediction of the target improves.

    For example: eddi simulate people.eddi held_out.csv --target risk --plot curve.png
    """
    if plot is not None:
        check_writable(plot)
    from eddi.evaluate.plots import information_curves
    from eddi.evaluate.sharded_simulation import simulate_shards
    from eddi.evaluate.simulate import resolve_target
    from eddi.model.files.archive import load
    from eddi.strategy.names import name_strategy, reseed, summarize_strategy
    from eddi.strategy.stopping import Stop
    from eddi.table.streaming import open_table

    fitted = load(model)
    target = resolve_target(fitted, options.targets)  # rejects an unknown target before the simulation
    strategy = options.build_strategy(fitted)
    with terminal.show_progress("interviewing") as on_progress:
        curves = simulate_shards(
            model,
            open_table(table),
            target,
            make_strategy=lambda seed: reseed(strategy, seed),
            stop=Stop.from_document(options.rules),
            max_steps=steps,
            engine=Engine(engine, workers),
            on_progress=on_progress,
            unknown=unknown.value,
        )
    terminal.print_message(f"strategy: {summarize_strategy(strategy)}")
    _print_curves(curves, json=json)
    if plot is not None:
        information_curves({name_strategy(strategy): curves}, plot)
        terminal.print_message(f"wrote {plot}")


def _print_curves(curves: "Curves | StreamingCurves", *, json: bool) -> None:
    if json:
        return terminal.print_data(terminal.to_json(curves.to_document()))
    out = terminal.open_console(stderr=False)
    out.print(build_steps_table(curves))
    return out.print(Text(f"AUIC (mean RMSE over all steps): {curves.auic:.4g}. Lower is better."))


def build_steps_table(curves: "Curves | StreamingCurves") -> Table:
    """Return a table with one line per step: the metrics and the most frequent question."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    metrics = {"RMSE": curves.rmse, "NLL": curves.nll}
    if curves.accuracy is not None:
        metrics["accuracy"] = curves.accuracy
    for heading in ("asked", *metrics):
        table.add_column(heading, justify="right")
    table.add_column("RMSE", style="dim")
    table.add_column("most frequent question")
    worst = max(curves.rmse.max(), 1e-12)
    for step, values in enumerate(zip(*metrics.values(), strict=True)):
        bar = terminal.draw_share(curves.rmse[step] / worst, BAR_WIDTH)
        numbers = (f"{value:.4g}" for value in values)
        table.add_row(f"{step}", *numbers, bar, Text(_most_frequent_question(curves, step)))
    return table


def _most_frequent_question(curves: "Curves | StreamingCurves", step: int) -> str:
    """Return the most frequent question of a step and its share among the rows asked."""
    if step == 0:
        return ""
    counts = curves.asked[step - 1]
    if not counts.any():
        return "none"
    index = int(counts.argmax())
    return f"{curves.questions[index]} ({counts[index] / counts.sum():.0%})"
