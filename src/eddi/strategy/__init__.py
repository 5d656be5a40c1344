"""Strategies: which question to ask next. Pass one to an interview or a simulation."""

from eddi.strategy.base import Strategy
from eddi.strategy.exploration import Exploration, Explore
from eddi.strategy.fixed_order import FixedOrder
from eddi.strategy.information import Information
from eddi.strategy.lasso import Lasso
from eddi.strategy.lookahead import Lookahead
from eddi.strategy.names import default_strategy, make_strategy, name_strategy
from eddi.strategy.per_cost import PerCost
from eddi.strategy.price import Priced
from eddi.strategy.random import Random

__all__ = [
    "Exploration",
    "Explore",
    "FixedOrder",
    "Information",
    "Lasso",
    "Lookahead",
    "PerCost",
    "Priced",
    "Random",
    "Strategy",
    "default_strategy",
    "make_strategy",
    "name_strategy",
]
