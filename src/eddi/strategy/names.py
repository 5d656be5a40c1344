"""Strategies by name, for the command line and the service, and the default strategy."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal, get_args

from eddi.errors import StrategyError
from eddi.model.base import Model
from eddi.strategy.balance import Balance
from eddi.strategy.base import Strategy
from eddi.strategy.exploration import Exploration, Explore
from eddi.strategy.fixed_order import FixedOrder
from eddi.strategy.information import Information
from eddi.strategy.lookahead import Lookahead
from eddi.strategy.per_cost import PerCost
from eddi.strategy.random import Random
from eddi.strategy.randomesque import Randomesque

StrategyName = Literal["information", "per-cost", "lookahead", "randomesque", "random", "fixed"]
DESCRIPTIONS: dict[str, str] = {
    "information": "most informative question",
    "per-cost": "most information per unit of cost",
    "lookahead": "most informative two questions",
    "randomesque": "one of the five best questions, at random",
    "random": "random order",
    "fixed": "the same order for everybody",
}


def default_strategy(model: Model, target: Sequence[str]) -> Strategy:
    """EDDI (`Information`); per unit of cost if the questions have different costs.

    It explores if the schema says so; see `Exploration`.
    """
    return _explore(_informative_strategy(model, target), model)


def _informative_strategy(model: Model, target: Sequence[str]) -> Strategy:
    askable = [q for q in model.schema.questions if not q.never and not set(q.reveals) & set(target)]
    has_different_costs = len({question.cost for question in askable}) > 1
    return PerCost(Information()) if has_different_costs else Information()


def _explore(strategy: Strategy, model: Model) -> Strategy:
    """The strategy with the exploration of the schema, if there is any."""
    settings = model.schema.exploration
    if not settings:
        return strategy
    return Exploration.from_document(settings).wrap(strategy)


def make_strategy(name: str, model: Model, target: Sequence[str], *, seed: int = 0) -> Strategy:
    """The strategy of this name; the default one if it is empty.

    A fixed order is learned from rows that are drawn from the model. It considers costs, if they differ.
    A strategy explores if the schema says so.

    Raises:
        StrategyError: there is no strategy of this name.
    """
    return _explore(_make_named(name, model, target, seed), model)


def _make_named(name: str, model: Model, target: Sequence[str], seed: int) -> Strategy:
    if name == "per-cost":
        return PerCost(Information())
    if name == "fixed":
        return FixedOrder.learn(model, target=target, strategy=_informative_strategy(model, target))
    if name == "lookahead":
        return Lookahead(seed=seed)
    if name == "randomesque":
        return Randomesque(_informative_strategy(model, target), seed=seed)
    if name == "random":
        return Random(seed)
    if name == "information":
        return Information()
    if name:
        raise StrategyError(
            f"there is no strategy {name!r}. Choose one of: {', '.join(get_args(StrategyName))}."
        )
    return _informative_strategy(model, target)


def constrain(
    strategy: Strategy, *, n_best: int = 0, shares: Mapping[str, float] | None = None
) -> Strategy:
    """The strategy with constraints of adaptive tests.

    Args:
        strategy: chooses the questions.
        n_best: ask one of this many best questions at random, in place of other exploration; see
            `Randomesque`. 0 leaves the strategy as it is.
        shares: of sections, by name; see `Balance`. Empty for those of the schema.
    """
    if n_best:
        inner = strategy.inner if isinstance(strategy, Explore | Randomesque) else strategy
        strategy = Randomesque(inner, k=n_best)
    return Balance(strategy, shares) if shares else strategy


def reseed(strategy: Strategy, seed: int) -> Strategy:
    """The strategy with another seed, if it has one: for another part of the same rows."""
    if isinstance(strategy, Explore | Lookahead | Random | Randomesque):
        return replace(strategy, seed=seed)
    return strategy


def name_strategy(strategy: Strategy) -> str:
    """The name of a strategy, without its exploration and balance; its class if it has no name."""
    if isinstance(strategy, Balance | Explore):
        return name_strategy(strategy.inner)
    if isinstance(strategy, PerCost) and isinstance(strategy.inner, Information):
        return "per-cost"
    names: dict[type, str] = {
        Information: "information",
        Lookahead: "lookahead",
        Randomesque: "randomesque",
        Random: "random",
        FixedOrder: "fixed",
    }
    return names.get(type(strategy), type(strategy).__name__)


def summarize_strategy(strategy: Strategy) -> str:
    """How a strategy chooses questions, in a few words."""
    name = name_strategy(strategy)
    return DESCRIPTIONS.get(name, name)
