"""EDDI: learn from a table with missing values, then ask each person the most informative question."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eddi import demo as demo
    from eddi import recipes as recipes
    from eddi import strategy as strategy
    from eddi.errors import EddiError as EddiError
    from eddi.errors import EddiWarning as EddiWarning
    from eddi.errors import OutOfRangeError as OutOfRangeError
    from eddi.errors import TrainingDataWarning as TrainingDataWarning
    from eddi.evaluate.comparison import compare as compare
    from eddi.evaluate.comparison import signed_rank as signed_rank
    from eddi.evaluate.comparison import wilcoxon as wilcoxon
    from eddi.evaluate.curves import Curves as Curves
    from eddi.evaluate.series.simulate_series import simulate_series as simulate_series
    from eddi.evaluate.simulate import simulate as simulate
    from eddi.interview.interview import Interview as Interview
    from eddi.interview.next_questions import NextQuestions as NextQuestions
    from eddi.interview.next_questions import next_questions as next_questions
    from eddi.interview.record import DECLINED as DECLINED
    from eddi.interview.record import UNKNOWN as UNKNOWN
    from eddi.interview.risk_control import certify as certify
    from eddi.model.grid_imputation import impute_series as impute_series
    from eddi.model.item_bank import ItemBank as ItemBank
    from eddi.model.prediction import Prediction as Prediction
    from eddi.model.recipe import Recipe as Recipe
    from eddi.model.survival_curve import SurvivalCurve as SurvivalCurve
    from eddi.partial_vae import PartialVAE as PartialVAE
    from eddi.partial_vae import load as load
    from eddi.strategy.base import Strategy as Strategy
    from eddi.strategy.stopping import Stop as Stop
    from eddi.strategy.stopping import StoppingRule as StoppingRule
    from eddi.supervised import PartialVAEClassifier as PartialVAEClassifier
    from eddi.supervised import PartialVAERegressor as PartialVAERegressor
    from eddi.table.question import Question as Question
    from eddi.table.schema import Schema as Schema
    from eddi.table.series.decision_rows import Series as Series
    from eddi.table.series.decision_rows import decision_rows as decision_rows
    from eddi.table.series.time_section import TimeSection as TimeSection
    from eddi.table.survival.survival import Survival as Survival
    from eddi.table.variable import Variable as Variable

__version__ = "0.2.0"

_MODULES = {
    "Curves": "eddi.evaluate.curves",
    "DECLINED": "eddi.interview.record",
    "EddiError": "eddi.errors",
    "EddiWarning": "eddi.errors",
    "OutOfRangeError": "eddi.errors",
    "Interview": "eddi.interview.interview",
    "ItemBank": "eddi.model.item_bank",
    "NextQuestions": "eddi.interview.next_questions",
    "PartialVAE": "eddi.partial_vae",
    "PartialVAEClassifier": "eddi.supervised",
    "PartialVAERegressor": "eddi.supervised",
    "Prediction": "eddi.model.prediction",
    "Question": "eddi.table.question",
    "Recipe": "eddi.model.recipe",
    "Schema": "eddi.table.schema",
    "Series": "eddi.table.series.decision_rows",
    "Stop": "eddi.strategy.stopping",
    "StoppingRule": "eddi.strategy.stopping",
    "Strategy": "eddi.strategy.base",
    "Survival": "eddi.table.survival.survival",
    "SurvivalCurve": "eddi.model.survival_curve",
    "TimeSection": "eddi.table.series.time_section",
    "TrainingDataWarning": "eddi.errors",
    "UNKNOWN": "eddi.interview.record",
    "Variable": "eddi.table.variable",
    "certify": "eddi.interview.risk_control",
    "compare": "eddi.evaluate.comparison",
    "decision_rows": "eddi.table.series.decision_rows",
    "demo": "eddi",
    "impute_series": "eddi.model.grid_imputation",
    "load": "eddi.partial_vae",
    "next_questions": "eddi.interview.next_questions",
    "recipes": "eddi",
    "signed_rank": "eddi.evaluate.comparison",
    "simulate": "eddi.evaluate.simulate",
    "simulate_series": "eddi.evaluate.series.simulate_series",
    "strategy": "eddi",
    "wilcoxon": "eddi.evaluate.comparison",
}

__all__ = sorted(_MODULES)  # names are imported on first use, so that `import eddi` is instant


if not TYPE_CHECKING:  # with it, type checkers would accept any name

    def __getattr__(name: str) -> Any:
        if name not in _MODULES:
            raise AttributeError(f"module 'eddi' has no attribute {name!r}")
        if _MODULES[name] == "eddi":  # a public module
            return import_module(f"eddi.{name}")
        return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
