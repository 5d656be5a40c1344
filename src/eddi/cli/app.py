"""The command line: verbs first, data on standard output, talk on standard error.

Only `typer` and `rich` are imported here; a verb imports what it needs, so that help is instant.
"""

import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eddi import __version__
from eddi.cli import bench, certify, store, terminal
from eddi.cli import serve as serving
from eddi.cli.errors import EPILOG, check_output, command_of, kept_training, one_talks
from eddi.cli.fit import report
from eddi.engine import Engine, EngineName
from eddi.errors import EddiError

if TYPE_CHECKING:
    import pyarrow as pa

    from eddi.strategy.stopping import Stop
    from eddi.table.schema import Schema
    from eddi.table.streaming import ParquetStream

app = typer.Typer(
    name="eddi",
    help="Learn from a table with holes, then ask each person the most valuable next question.",
    epilog=EPILOG,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
bench.register(app)
app.add_typer(store.app, epilog=EPILOG)
app.add_typer(serving.app)
app.add_typer(certify.app)
_command = command_of(app)


class RecipeName(StrEnum):
    """How to train."""

    DEFAULT = "default"
    PAPER = "paper"


class StrategyName(StrEnum):
    """Who chooses the next question."""

    INFORMATION = "information"
    LOOKAHEAD = "lookahead"
    RANDOM = "random"


class EncoderName(StrEnum):
    """How a row with holes is encoded."""

    ZI = "zi"
    ZI_M = "zi-m"
    PN = "pn"
    PNP = "pnp"


TablePath = Annotated[Path, typer.Argument(help="CSV, TSV, Parquet or Excel; empty cells are holes.")]
ModelPath = Annotated[Path, typer.Argument(help="A model written by `eddi fit`.")]
Targets = Annotated[
    list[str] | None,
    typer.Option("--target", "-t", metavar="NAME", help="What you want to know. May be repeated."),
]
After = Annotated[int | None, typer.Option(metavar="N", min=0, help="Stop after this many answers.")]
Budget = Annotated[float | None, typer.Option(metavar="B", help="Ask no more than this costs in all.")]
Risk = Annotated[
    float | None, typer.Option(metavar="P", help="Stop when at most this share ends wrongly.")
]
Within = Annotated[
    float | None, typer.Option(metavar="X", help="With --risk: how far off a quantity is still right.")
]
EngineOption = Annotated[EngineName, typer.Option("--engine", help="Where the work is done.")]
Workers = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="At a time; one a core if left out.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]


def main() -> None:
    """Run the command `eddi`."""
    app()


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"eddi {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[  # noqa: ARG001  # its callback prints it
        bool, typer.Option("--version", help="Print the version.", callback=_show_version, is_eager=True)
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks, as EDDI_DEBUG=1.")] = False,
) -> None:
    if debug:
        os.environ["EDDI_DEBUG"] = "1"


@_command
def schema(table: TablePath, target: Targets = None, json: Json = False) -> None:
    """Infer what each column of a table is, as TOML to edit by hand.

    For example: eddi schema people.csv > people.toml
    """
    from eddi.table.schema import Schema

    found = Schema.infer(table, targets=target or ())
    terminal.put(terminal.as_json(found.to_document()) if json else found.to_toml())
    terminal.console(stderr=True).print(terminal.schema_table(found))


@_command
def fit(
    table: TablePath,
    output: Annotated[Path, typer.Option("--output", "-o", help="The model file to write.")],
    schema: Annotated[
        Path | None, typer.Option("--schema", "-s", help="From `eddi schema`; inferred if left out.")
    ] = None,
    target: Targets = None,
    recipe: Annotated[RecipeName, typer.Option(help="The best we have, or the paper's.")] = (
        RecipeName.DEFAULT
    ),
    encoder: Annotated[EncoderName, typer.Option(help="The set encoder.")] = EncoderName.PNP,
    steps: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Training steps at most; the recipe's own if left out."),
    ] = None,
    seed: Annotated[
        int, typer.Option(metavar="N", min=0, max=2**32 - 1, help="Same seed, same model.")
    ] = 0,
    device: Annotated[str, typer.Option(metavar="NAME", help="auto, cpu, cuda, cuda:1 ...")] = "auto",
    json: Json = False,
) -> None:
    """Learn a model from a table with holes.

    For example: eddi fit people.csv --schema people.toml --target risk -o people.eddi

    Training is kept in OUTPUT.partial as it goes; after an interruption the same command goes on.
    Several processes train together: torchrun --nproc-per-node 8 -m eddi fit ...
    """
    check_output(output)
    partial = output.with_name(output.name + ".partial")
    with one_talks() as first:
        rows, known = _table_and_schema(table, schema, target)
        known.target_names(target)  # a wrong name is told before torch is loaded
        from eddi.interview.risk_control import certify_own
        from eddi.model.partial_vae import PartialVAE

        if partial.exists():
            terminal.say(f"going on from {partial}")
        with kept_training(partial), terminal.training() as on_progress:
            model = PartialVAE(
                known,
                _one_or_many(target),
                recipe=str(recipe),
                set_encoder=str(encoder),
                max_steps=steps,
                random_state=seed,
                device=device,
                checkpoint=partial,
                on_progress=on_progress,
            ).fit(rows)
            if first:
                certify_own(model)
                model.save(output)
    if first:
        partial.unlink(missing_ok=True)
        report(model, output, json=json)


@_command
def impute(
    model: ModelPath,
    table: TablePath,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="A .csv, .tsv or .parquet file; else CSV to standard output."
        ),
    ] = None,
    draws: Annotated[
        int | None,
        typer.Option(
            min=1, help="Write this many tables, each filled at random: OUTPUT-1, OUTPUT-2 ..."
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(metavar="N", min=0, max=2**32 - 1, help="Same seed, same draws.")
    ] = 0,
    engine: EngineOption = EngineName.THIS,
    workers: Workers = None,
) -> None:
    """Fill the holes of a table. What was observed stays as it was written.

    For example: eddi impute people.eddi holes.csv > filled.csv
    """
    if output is not None:
        check_output(output)
    elif draws is not None and draws > 1:
        raise EddiError(
            f"{draws} tables do not fit on standard output. Name a file with -o filled.csv; "
            f"the tables go to filled-1.csv ... filled-{draws}.csv."
        )
    from eddi.cli.impute import fill

    fill(model, table, output, draws=draws, seed=seed, engine=Engine(engine, workers))


@_command
def describe(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="A model, or a table.")],
    json: Json = False,
) -> None:
    """Say what a model knows, or what is in a table.

    For example: eddi describe people.eddi, or eddi describe people.csv
    """
    from eddi.cli.describe import describe as say

    say(path, json=json)


@_command
def interview(
    model: ModelPath,
    target: Targets = None,
    after: After = None,
    budget: Budget = None,
    risk: Risk = None,
    within: Within = None,
    record: Annotated[
        Path | None, typer.Option(help="Keep the answers here as they come, or go on from them.")
    ] = None,
) -> None:
    """Interview someone in the terminal: the most valuable question first.

    For example: eddi interview people.eddi --target risk --after 5 --record anna.json

    Answers can also be piped in, one a line. Whatever ends it, the record holds every answer.
    """
    from eddi.cli.interview import hold

    if record is not None:
        check_output(record)
    hold(model, _one_or_many(target), _stop(after, budget, risk, within), record)


@_command
def ask(
    model: ModelPath,
    target: Targets = None,
    after: After = None,
    budget: Budget = None,
    risk: Risk = None,
    within: Within = None,
) -> None:
    """Say what to ask next: answers so far as JSON on standard input, one step as JSON out.

    For example: echo '{"answers": {"age": 61}}' | eddi ask people.eddi --target risk

    Answers go by question or variable: a value; null where nobody knows; {"without": "declined"};
    or, for a question that reveals several variables, an object of these by variable. The file that
    `eddi interview --record` keeps will do too. No input at all is no answers yet.

    Out comes an object: "question" (its name, text, cost and what it reveals; null when it is enough),
    "prediction" of each target, and "rewards" in nats of all open questions.
    """
    from eddi.cli.ask import step

    stop = _stop(after, budget, risk, within)
    terminal.put(terminal.as_json(step(model, _one_or_many(target), stop)))


@_command
def simulate(
    model: ModelPath,
    table: TablePath,
    target: Annotated[
        str | None, typer.Option("--target", "-t", metavar="NAME", help="What you want to know.")
    ] = None,
    strategy: Annotated[
        StrategyName, typer.Option(help="EDDI, two questions ahead, or a random order.")
    ] = StrategyName.INFORMATION,
    steps: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Questions a row; all if left out.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the information curve: a .png, .svg or .pdf file.")
    ] = None,
    json: Json = False,
    engine: EngineOption = EngineName.THIS,
    workers: Workers = None,
) -> None:
    """Interview every row of a held-out table and show how the prediction of the target improves.

    For example: eddi simulate people.eddi held_out.csv --target risk --plot curve.png
    """
    from eddi.cli.simulate import play

    if plot is not None:
        check_output(plot)
    where = Engine(engine, workers)
    play(model, table, target, str(strategy), steps=steps, plot=plot, json=json, engine=where)


@_command
def export(
    model: ModelPath,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Where the files go.")],
    onnx: Annotated[bool, typer.Option("--onnx", help="As ONNX: term, posterior, decoder.")] = False,
    json: Json = False,
) -> None:
    """Write a model in parts that run without Python, as in a browser or a phone.

    For example: eddi export --onnx people.eddi -o people-onnx

    Each part is checked to compute what PyTorch does. docs/onnx.md says how to interview with them.
    """
    from eddi.cli.export import write

    write(model, output, onnx=onnx, json=json)


@_command
def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Where the model and picture go.")
    ] = Path("demo"),
    seed: Annotated[
        int, typer.Option(metavar="N", min=0, max=2**32 - 1, help="Another seed, another person.")
    ] = 0,
    serve: Annotated[
        bool, typer.Option("--serve", help="Serve its questionnaire to a browser; trains only once.")
    ] = False,
) -> None:
    """Train on an embedded table, interview a person who was held out, and show what it was worth."""
    from eddi.cli import demo

    out = terminal.console(stderr=serve)
    if not serve:
        return demo.play(output, out, seed=seed)
    demo.prepare(output, out, seed=seed)
    return serving.hold(serving.at_a_free_port(demo.settings(output, serving.environment())))


def _table_and_schema(
    table: Path, path: Path | None, target: list[str] | None
) -> tuple["pa.Table | ParquetStream", "Schema"]:
    from eddi.table.schema import Schema
    from eddi.table.streaming import open_table

    rows = open_table(table)
    if path is not None:
        return rows, Schema.from_toml(path)
    found = Schema.infer(rows, targets=target or ())
    terminal.say("no --schema given; this one was inferred:")
    terminal.console(stderr=True).print(terminal.schema_table(found))
    return rows, found


def _one_or_many(target: list[str] | None) -> str | list[str] | None:
    return target[0] if target and len(target) == 1 else target or None


def _stop(after: int | None, budget: float | None, risk: float | None, within: float | None) -> "Stop":
    from eddi.strategy.stopping import Stop

    most = Stop.budget if budget is None else budget
    return Stop(after=after, budget=most, risk=risk, within=within)
