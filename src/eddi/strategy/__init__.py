"""Strategies: which question to ask next. Pass one to an interview or a simulation."""

from eddi.strategy.balance import Balance
from eddi.strategy.base import Strategy
from eddi.strategy.exploration import Exploration, Explore
from eddi.strategy.fisher import FisherInformation
from eddi.strategy.fixed_order import FixedOrder
from eddi.strategy.information import Information
from eddi.strategy.lasso import Lasso
from eddi.strategy.lookahead import Lookahead
from eddi.strategy.names import default_strategy, make_strategy, name_strategy
from eddi.strategy.per_cost import PerCost
from eddi.strategy.price import Priced
from eddi.strategy.random import Random
from eddi.strategy.randomesque import Randomesque

__all__ = [
    "Balance",
    "Exploration",
    "Explore",
    "FisherInformation",
    "FixedOrder",
    "Information",
    "Lasso",
    "Lookahead",
    "PerCost",
    "Priced",
    "Random",
    "Randomesque",
    "Strategy",
    "default_strategy",
    "make_strategy",
    "name_strategy",
]
