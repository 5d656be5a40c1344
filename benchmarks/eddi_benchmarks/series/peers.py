"""Peers that see everything recorded: gradient boosting, or Cox regression for survival targets."""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from eddi.evaluate.series.series_curves import SeriesCurves
from eddi.model.concordance import concordance
from eddi.table.columns import read_survival, table_to_numbers
from eddi.table.schema import Schema
from eddi.table.series.decision_rows import Series, decision_rows
from eddi_benchmarks.baselines.cox import Cox
from eddi_benchmarks.harness.run_result import Measurements

COX, BOOSTING = "Cox regression of everything recorded", "gradient boosting of everything recorded"
PENALTY = 10.0  # ridge, for standardised columns

Numbers = NDArray[np.float64]


def measure_peer(schema: Schema, train: Series, test: Series) -> Measurements:
    """The name of the peer, and its figures for the decision rows of the test persons."""
    tables = tuple(decision_rows(part, schema) for part in (train, test))
    if schema[schema.targets[0]].survival is not None:
        return {"name": COX, **_measure_cox(schema, *tables)}
    return {"name": BOOSTING, **_measure_boosting(schema, *tables)}


def _measure_boosting(schema: Schema, *tables: pa.Table) -> Measurements:
    """Levels are predicted at the last decision, quantities at all of them."""
    target = schema.targets[0]
    position, is_binary = schema.position(target), schema[target].kind.has_levels
    last = schema.position(schema.time.column) if schema.time else 0
    train, test = (table_to_numbers(table, schema) for table in tables)
    if is_binary:
        train, test = (part[part[:, last] == part[:, last].max()] for part in (train, test))
    train, test = (part[~np.isnan(part[:, position])] for part in (train, test))
    varies = np.nanmin(train, axis=0, initial=np.inf) < np.nanmax(train, axis=0, initial=-np.inf)
    others = [place for place in np.flatnonzero(varies) if place != position]
    learner: Any = (HistGradientBoostingClassifier if is_binary else HistGradientBoostingRegressor)(
        random_state=0, max_iter=200, learning_rate=0.05
    )
    learner.fit(train[:, others], train[:, position])
    predicted = (
        learner.predict_proba(test[:, others])[:, 1] if is_binary else learner.predict(test[:, others])
    )
    ones = np.ones((len(test), 1))
    curves = SeriesCurves(
        schema[target], ones, test[:, [position]], predicted[:, None], ones.astype(np.int64), ones
    )
    return {"auroc": curves.auroc(), "auprc": curves.auprc()} if is_binary else {"rmse": curves.rmse()}


def _measure_cox(schema: Schema, train: pa.Table, test: pa.Table) -> Measurements:
    """One regression of the rows of all decisions; missing values become the median."""
    target = schema[schema.targets[0]]
    others = [place for place, name in enumerate(schema.names) if name != target.name]
    columns, tested = (table_to_numbers(table, schema)[:, others] for table in (train, test))
    middle = np.nan_to_num(np.nanmedian(columns, axis=0))
    columns, tested = (np.where(np.isnan(part), middle, part) for part in (columns, tested))
    scale = np.where(columns.std(0) > 0, columns.std(0), 1.0)
    columns, tested = ((part - middle) / scale for part in (columns, tested))
    known, outcome = read_survival(train, target), read_survival(test, target)
    fitted = Cox.fit(columns, known.times, known.events, penalty=PENALTY)
    person = "" if schema.time is None else schema.time.person
    groups = _count_earlier(test[person].to_numpy())
    scores = fitted.score(tested)
    return {"concordance": concordance(scores, outcome.times, outcome.events, groups=groups)}


def _count_earlier(persons: NDArray[Any]) -> NDArray[np.int64]:
    """The number of each row among those of its person, which are next to each other."""
    starts = np.flatnonzero(np.append(True, persons[1:] != persons[:-1]))
    lengths = np.diff(np.append(starts, len(persons)))
    return np.arange(len(persons)) - np.repeat(starts, lengths)
