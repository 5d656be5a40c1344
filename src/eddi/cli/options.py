"""Options and arguments that several commands share."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from eddi.engine import EngineName
from eddi.errors import SchemaError

if TYPE_CHECKING:
    from eddi.model.base import Model
    from eddi.model.fitted import FittedModel
    from eddi.model.item_bank import ItemBank
    from eddi.strategy.base import Strategy
    from eddi.strategy.stopping import Stop

MAX_SEED = 2**32 - 1
STOP_PANEL = "When to stop"


class StrategyChoice(StrEnum):
    """A strategy that selects the next question."""

    INFORMATION = "information"
    PER_COST = "per-cost"
    LOOKAHEAD = "lookahead"
    RANDOMESQUE = "randomesque"
    RANDOM = "random"
    FIXED = "fixed"


class UnknownRule(StrEnum):
    """What happens to values that a model does not know."""

    IGNORE = "ignore"
    ERROR = "error"


TablePath = Annotated[
    Path, typer.Argument(help="A CSV, TSV, Parquet or Excel file. Empty cells are missing values.")
]
ModelPath = Annotated[Path, typer.Argument(help="A model file written by `eddi fit`.")]
Targets = Annotated[
    list[str] | None,
    typer.Option("--target", "-t", metavar="NAME", help="Variable to predict. May be repeated."),
]
StrategyOption = Annotated[
    StrategyChoice | None,
    typer.Option(
        help="How questions are chosen: most information, per unit of cost, two-step lookahead, one "
        "of the five best at random, random order, or one order for everybody. Default: information; "
        "per-cost if costs differ."
    ),
]
_stop_option = functools.partial(typer.Option, rich_help_panel=STOP_PANEL)
SdBelow = Annotated[
    float | None,
    _stop_option(
        metavar="X",
        help="Stop once the standard deviation of the target is below this value.",
    ),
]
ProbabilityAbove = Annotated[
    float | None,
    _stop_option(
        metavar="P",
        help="Stop once a level of the target is at least this likely.",
    ),
]
IntervalBelow = Annotated[
    float | None,
    _stop_option(
        metavar="X",
        help="Stop once the 90% interval of the target is narrower than this.",
    ),
]
RewardBelow = Annotated[
    float | None,
    _stop_option(
        metavar="X",
        help="Stop once no question has this expected information, in nats (1 nat is 1.44 bits).",
    ),
]
Confidence = Annotated[
    float | None,
    _stop_option(
        metavar="P",
        help="With --risk: probability that it holds. Default: 0.95.",
    ),
]
After = Annotated[
    int | None,
    _stop_option(metavar="N", min=0, help="Stop after this many answers."),
]
Budget = Annotated[
    float | None,
    _stop_option(metavar="B", help="Maximum total cost of the questions asked."),
]
Risk = Annotated[
    float | None,
    _stop_option(
        metavar="P",
        help="Stop once the expected error rate is at most this value.",
    ),
]
Within = Annotated[
    float | None,
    _stop_option(
        metavar="X",
        help="With --risk: largest error of a numeric prediction that counts as correct.",
    ),
]
Horizon = Annotated[
    float | None,
    _stop_option(metavar="T", help="A time, for --risk-below and --risk-above of a survival target."),
]
RiskBelow = Annotated[
    float | None,
    _stop_option(metavar="P", help="Stop once the risk at the horizon is at most this value."),
]
RiskAbove = Annotated[
    float | None,
    _stop_option(metavar="P", help="Stop once the risk at the horizon is at least this value."),
]
Seed = Annotated[
    int, typer.Option(metavar="N", min=0, max=MAX_SEED, help="Random seed, for reproducible results.")
]
UnknownOption = Annotated[
    UnknownRule,
    typer.Option(
        "--unknown",
        help="Unknown levels and absent columns: treat as not observed, or stop with an error.",
    ),
]
EngineOption = Annotated[
    EngineName,
    typer.Option("--engine", help="Run in this process, in local processes, or on a Ray cluster."),
]
Workers = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Number of parallel workers. Default: one per core."),
]
StoreOption = Annotated[
    str | None, typer.Option(metavar="URL", help="sqlite:///answers.db, postgresql://... or memory:")
]
LanguageOption = Annotated[
    str,
    typer.Option(
        "--language", metavar="CODE", help="Language of the texts, such as de, if the schema has it."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON to standard output.")]


def single_or_list(targets: list[str] | None) -> str | list[str] | None:
    """Return a single target as a string, several as a list, and none as None."""
    if not targets:
        return None
    return targets[0] if len(targets) == 1 else targets


def load_in_language(path: Path, code: str) -> "FittedModel | ItemBank":
    """Return the model of a file with the texts of its schema in a language.

    Raises:
        SchemaError: the schema has no texts in this language.
    """
    from eddi.model.files.archive import load

    model = load(path)
    if not code:
        return model
    if code not in model.schema.languages:
        known = ", ".join(model.schema.languages) or "none"
        raise SchemaError(
            f"the model has no texts in {code!r:.40}. Languages are: {known}. Add one to the schema file, "
            f"under [languages.{code:.40}.questions], and train again."
        )
    return replace(model, schema=model.schema.in_language(code))


@dataclass(frozen=True)
class InterviewOptions:
    """The options of every command that holds interviews: target, strategy and stopping rule.

    `with_interview_options` adds them to a command.
    """

    target: Targets = None
    strategy: StrategyOption = None
    after: After = None
    sd_below: SdBelow = None
    probability_above: ProbabilityAbove = None
    interval_below: IntervalBelow = None
    reward_below: RewardBelow = None
    budget: Budget = None
    risk: Risk = None
    within: Within = None
    confidence: Confidence = None
    horizon: Horizon = None
    risk_below: RiskBelow = None
    risk_above: RiskAbove = None

    @property
    def targets(self) -> str | list[str] | None:
        """A single target as a string, several as a list, and none as None."""
        return single_or_list(self.target)

    @property
    def rules(self) -> dict[str, float]:
        """The given conditions of the stopping rule."""
        values = ((name, getattr(self, name)) for name in OPTION_NAMES[2:])
        return {name: value for name, value in values if value is not None}

    def build_stop(self, model: "Model") -> "Stop":
        """Return the stopping rule. Options take precedence over the schema of the model."""
        from eddi.strategy.stopping import Stop

        return Stop.from_document({**model.schema.stop, **self.rules})

    def build_strategy(self, model: "Model", *, seed: int = 0) -> "Strategy":
        """Return the strategy; by default the one that suits the costs of the questions."""
        from eddi.strategy.names import make_strategy

        target = model.schema.target_names(model.target if self.target is None else self.target)
        return make_strategy(self.strategy or "", model, target, seed=seed)


OPTION_NAMES = tuple(option.name for option in fields(InterviewOptions))


def with_interview_options(function: Callable[..., None]) -> Callable[..., None]:
    """Replace the parameter ``options`` of a command by the options of `InterviewOptions`."""
    hints = get_type_hints(InterviewOptions, include_extras=True)
    shared = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=hints[name])
        for name in OPTION_NAMES
    ]
    parameters = signature(function).parameters.values()
    own = [p.replace(kind=Parameter.KEYWORD_ONLY) for p in parameters if p.name != "options"]
    n_arguments = sum(p.default is Parameter.empty for p in own)
    combined = [*own[:n_arguments], *shared, *own[n_arguments:]]

    @functools.wraps(function)
    def command(**given: Any) -> None:
        options = InterviewOptions(**{name: given.pop(name, None) for name in OPTION_NAMES})
        function(**given, options=options)

    command.__dict__["__signature__"] = Signature(combined)
    command.__annotations__ = {p.name: p.annotation for p in combined}
    return command
