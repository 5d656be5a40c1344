"""`PartialVAEClassifier` and `PartialVAERegressor`: a `PartialVAE` with one target, as scikit-learn uses it.

`PartialVAE` learns all columns of a table alike. These two estimators learn a table and a target ``y``:
`predict` returns an array, `score` evaluates the target, and cross-validation, grid search and pipelines
work on raw tables with text and missing values.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import Tags, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from eddi.errors import TableError, TargetError
from eddi.estimator_input import read_table
from eddi.model.fitted import FittedModel
from eddi.model.prediction import Prediction
from eddi.model.recipe import Recipe
from eddi.model.training.loop import OnProgress
from eddi.partial_vae import PartialVAE
from eddi.table import formats
from eddi.table.columns import clean
from eddi.table.mismatches import Unknown
from eddi.table.schema import Schema
from eddi.table.text import is_missing
from eddi.table.variable import Kind, Level, Variable, level_position

DEFAULT_TARGET = "target"  # the name of a target that has none

Labels = NDArray[np.bool_ | np.int64 | np.float64 | np.str_ | np.object_]
"""Classes, in the type of the target that was given."""


class TargetEstimator(BaseEstimator, ABC):  # type: ignore[misc]
    """What the classifier and the regressor have in common; see them for the arguments."""

    partial_vae_: PartialVAE
    target_name_: str
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]

    def __init__(
        self,
        schema: Schema | None = None,
        target: str | None = None,
        *,
        recipe: str | Recipe = "default",
        set_encoder: str | None = None,
        max_steps: int | None = None,
        random_state: Any = None,
        device: str = "auto",
        checkpoint: str | PathLike[str] | None = None,
        on_progress: OnProgress | None = None,
        unknown: Unknown = "ignore",
    ) -> None:
        self.schema = schema
        self.target = target
        self.recipe = recipe
        self.set_encoder = set_encoder
        self.max_steps = max_steps
        self.random_state = random_state
        self.device = device
        self.checkpoint = checkpoint
        self.on_progress = on_progress
        self.unknown = unknown

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn to predict a target from any part of a row.

        Args:
            X: a table in which NaN means not observed; see `PartialVAE.fit`. A column with the name of
                the target is not an input.
            y: the target of each row; rows with a missing target are used, too. If it is None, the
                target is the column of ``X`` that the estimator's ``target`` names.
        """
        table = read_table(self, X, reset=True)
        if not isinstance(table, pa.Table):  # a large file, which `PartialVAE` would stream
            table = formats.read(X)
        name, values = self._find_target(table, y)
        inputs = table.drop_columns([name]) if name in table.column_names else table
        if not inputs.column_names:
            raise TableError(f"the table has no columns except the target {name!r}. Give inputs, too.")
        self.target_name_ = name
        self.n_features_in_ = len(inputs.column_names)
        if hasattr(self, "feature_names_in_"):
            self.feature_names_in_ = np.array(inputs.column_names, dtype=object)
        schema = self.schema or Schema.infer(inputs)
        variable, cells = self._describe_target(name, values, schema)
        settings = {key: getattr(self, key) for key in self._inherited_parameters()}
        self.partial_vae_ = PartialVAE(_with_target(schema, variable), name, **settings)
        self.partial_vae_.fit(inputs.append_column(name, cells))
        return self

    def predict_distribution(self, X: Any) -> Prediction:
        """The full predictive distribution of the target: mean, sd, interval, or probabilities."""
        check_is_fitted(self)
        table = read_table(self, X, reset=False, columns=self._input_columns())
        prediction = self.partial_vae_.predict(table)
        assert isinstance(prediction, Prediction)  # noqa: S101  # there is one target
        return prediction

    def fitted(self) -> FittedModel:
        """The fitted model, for interviews and simulations."""
        check_is_fitted(self)
        return self.partial_vae_.fitted()

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model as one file; `eddi.load` reads it as a `PartialVAE`."""
        check_is_fitted(self)
        self.partial_vae_.save(path)

    @abstractmethod
    def _describe_target(
        self, name: str, values: NDArray[Any], schema: Schema
    ) -> tuple[Variable, pa.Array]:
        """The variable of the target, and its cells."""

    def _find_target(self, table: pa.Table, y: Any) -> tuple[str, NDArray[Any]]:
        """The name of the target and its values [rows]."""
        if y is not None:
            values = column_or_1d(y, warn=True)
            check_consistent_length(table, values)
            return self.target or _free_name(y, table.column_names), values
        if self.target is None:
            raise TargetError(
                f"{type(self).__name__} requires y to be passed, but the target y is None. Give "
                "fit(X, y), or name the column of the table: target=..."
            )
        return self.target, _column_values(table, self.target)

    def _known_target(self, X: Any, y: Any) -> tuple[NDArray[np.bool_], NDArray[Any]]:
        """Which rows have a target [rows], and these targets."""
        check_is_fitted(self)
        if y is None:
            y = _column_values(
                read_table(self, X, reset=False, columns=self._input_columns()), self.target_name_
            )
        values = column_or_1d(y)
        is_known = ~_find_missing(values)
        if not is_known.any():
            raise TargetError(f"no row has a value of the target {self.target_name_!r}.")
        return is_known, values[is_known]

    def _input_columns(self) -> list[str]:
        return [name for name in self.fitted().training.columns if name != self.target_name_]

    def _inherited_parameters(self) -> list[str]:
        return [key for key in self.get_params(deep=False) if key not in ("schema", "target")]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "partial_vae_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.target_tags.required = True
        return tags


class PartialVAEClassifier(ClassifierMixin, TargetEstimator):  # type: ignore[misc]
    """A `PartialVAE` that predicts classes.

    Args:
        schema: the variables and questions; inferred from the table if None. The target need not be in it.
        target: the name of the target. If None: the name of ``y``, or "target".

    The other arguments are those of `PartialVAE`.

    Attributes:
        classes_: the classes, sorted.
        partial_vae_: the fitted `PartialVAE`.
        target_name_: the name of the target.
    """

    classes_: Labels

    def predict(self, X: Any) -> Labels:
        """The most likely class of each row [rows]."""
        best = self.predict_proba(X).argmax(1)
        return np.asarray(self.classes_[best])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class, in the order of ``classes_`` [rows, classes]."""
        prediction = self.predict_distribution(X)
        assert prediction.probabilities is not None  # noqa: S101  # the target has levels
        levels = prediction.variable.levels
        order = [level_position(levels, _to_level(value)) for value in self.classes_]
        probabilities = prediction.probabilities[:, np.array(order)]
        return np.asarray(probabilities / probabilities.sum(1, keepdims=True), dtype=np.float64)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Accuracy of the predicted classes, over the rows whose target is known."""
        is_known, values = self._known_target(X, y)
        weights = None if sample_weight is None else np.asarray(sample_weight)[is_known]
        return float(accuracy_score(values, self.predict(X)[is_known], sample_weight=weights))

    def _describe_target(
        self, name: str, values: NDArray[Any], schema: Schema
    ) -> tuple[Variable, pa.Array]:
        is_known = ~_find_missing(values)
        observed = values[is_known]
        _check_finite(name, observed)
        check_classification_targets(observed)
        self.classes_, codes = np.unique(observed, return_inverse=True)
        if len(self.classes_) < 2:
            raise TargetError(
                f"the target {name!r} has one class, {self.classes_.tolist()}; a classifier needs at "
                "least two. Give rows of other classes, too."
            )
        levels = [_to_level(value) for value in self.classes_]
        cells = np.full(len(values), None, dtype=object)
        cells[is_known] = np.array([str(level) for level in levels], dtype=object)[codes]
        return _class_variable(name, levels, schema), pa.array(cells.tolist(), pa.string())


class PartialVAERegressor(RegressorMixin, TargetEstimator):  # type: ignore[misc]
    """A `PartialVAE` that predicts a quantity.

    Args:
        schema: the variables and questions; inferred from the table if None. The target need not be in it.
        target: the name of the target. If None: the name of ``y``, or "target".

    The other arguments are those of `PartialVAE`.

    Attributes:
        partial_vae_: the fitted `PartialVAE`.
        target_name_: the name of the target.
    """

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The expected value of the target [rows]."""
        return self.predict_distribution(X).mean

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The coefficient of determination R^2, over the rows whose target is known."""
        is_known, values = self._known_target(X, y)
        weights = None if sample_weight is None else np.asarray(sample_weight)[is_known]
        numbers = values.astype(np.float64)
        return float(r2_score(numbers, self.predict(X)[is_known], sample_weight=weights))

    def _describe_target(
        self, name: str, values: NDArray[Any], schema: Schema
    ) -> tuple[Variable, pa.Array]:
        try:
            numbers = np.where(_find_missing(values), np.nan, values).astype(np.float64)
        except (TypeError, ValueError):
            raise TargetError(
                f"the target {name!r} must hold numbers, got {values.dtype} values such as "
                f"{values[0]!r}. Use PartialVAEClassifier to predict classes."
            ) from None
        _check_finite(name, numbers)
        known = schema[name] if name in schema.names else None
        is_quantity = known is not None and not known.kind.has_levels
        variable = known if known is not None and is_quantity else Variable(name, Kind.REAL)
        return variable, pa.array(numbers, from_pandas=True)


def _with_target(schema: Schema, variable: Variable) -> Schema:
    """The schema in which the target is this variable."""
    name = variable.name
    variables = [variable if own.name == name else own for own in schema.variables]
    return replace(
        schema,
        variables=tuple(variables if name in schema.names else [*variables, variable]),
        targets=(name,),
        set_aside=tuple(column for column in schema.set_aside if column.name != name),
    )


def _class_variable(name: str, levels: list[Level], schema: Schema) -> Variable:
    """The variable of a target with these levels; ordered if the schema orders them."""
    known = schema[name] if name in schema.names else None
    if known is not None and known.kind is Kind.ORDINAL:
        positions = [level_position(known.levels, level) for level in levels]
        if None not in positions:
            ordered = sorted(zip(positions, levels, strict=True), key=lambda pair: pair[0] or 0)
            return Variable(name, Kind.ORDINAL, tuple(level for _, level in ordered))
    return Variable(name, Kind.BINARY if len(levels) == 2 else Kind.CATEGORY, tuple(levels))


def _free_name(y: Any, columns: Sequence[str]) -> str:
    """The name of a target: its own, or one that no column has."""
    if hasattr(y, "name") and y.name is not None:
        return str(y.name)
    name = DEFAULT_TARGET
    while name in columns:
        name += "_"
    return name


def _column_values(table: pa.Table, name: str) -> NDArray[Any]:
    """The cleaned values of a column [rows]."""
    if name not in table.column_names:
        raise TargetError(
            f"the table has no column {name!r}, which is the target. Give its values as y instead."
        )
    cells = clean(table.column(name)).to_pylist()
    if all(isinstance(cell, int | float | None) for cell in cells) and None in cells:
        return np.array([np.nan if cell is None else cell for cell in cells], dtype=np.float64)
    array = np.array(cells)
    return array if array.dtype.kind in "biufU" and None not in cells else np.array(cells, dtype=object)


def _check_finite(name: str, values: NDArray[Any]) -> None:
    if values.dtype.kind == "f" and np.isinf(values).any():
        raise TargetError(
            f"Input y contains infinity: the target {name!r} must be finite. Correct it, or leave it out."
        )


def _find_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values))
    if values.dtype.kind == "O":
        return np.array([is_missing(value) for value in values], dtype=np.bool_)
    return np.zeros(len(values), dtype=np.bool_)


def _to_level(value: Any) -> Level:
    plain = value.item() if isinstance(value, np.generic) else value
    return plain if isinstance(plain, str | int | float | bool) else str(plain)
