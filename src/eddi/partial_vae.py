"""`PartialVAE`: the scikit-learn estimator. `fit` trains a model; inference happens in `FittedModel`."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Self, TypeVar, overload

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted

from eddi.errors import EddiWarning, TableError, TrainingDataWarning, TrainingError
from eddi.estimator_input import (
    Missingness,
    count_prior_rows,
    empty_table,
    have_same_values,
    join_target,
    model_missingness,
    read_table,
)
from eddi.interview.risk_control import certify_validation_rows
from eddi.interview.target_quality import measure_quality
from eddi.model import recipe as recipes
from eddi.model.files import archive
from eddi.model.fit import FitSettings, fit_model
from eddi.model.fitted import FittedModel
from eddi.model.item_bank import ItemBank
from eddi.model.learned_attributes import LearnedAttributes
from eddi.model.prediction import Prediction, Predictions
from eddi.model.quality import TargetQuality
from eddi.model.recipe import Recipe
from eddi.model.training import preparation
from eddi.model.training.batches import draw_visible
from eddi.model.training.distributed import local_device
from eddi.model.training.loop import OnProgress
from eddi.model.training.question_weights import QuestionWeights
from eddi.strategy.exploration import Exploration
from eddi.strategy.stopping import Stop
from eddi.table import fill, formats
from eddi.table.evidence import Evidence
from eddi.table.mismatches import Unknown
from eddi.table.schema import Schema
from eddi.table.survival.in_schema import copy_bins

Table = TypeVar("Table")  # given a path, the result is an Arrow table, which has no type hints

Y_NOT_USED = (
    "y is not used: PartialVAE learns the columns of X alike. Join y to the table and declare it with "
    "target=..., or use PartialVAEClassifier or PartialVAERegressor, which predict y."
)


class PartialVAE(LearnedAttributes, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A variational autoencoder for rows with any subset of values observed.

    Args:
        schema: the variables and questions; inferred from the table if None.
        target: one or more variables that training should focus on. Any other variable can still be
            the target of a prediction or an interview.
        recipe: "default" (the best model we have), "paper" (exactly Ma et al. 2019), or a `Recipe`.
        set_encoder: "zi", "zi-m", "pn", "pnp", or "precision", which is PNP with precision-weighted
            factors, for collinear variables and small tables. None means that of the recipe: "precision"
            by default, "pnp" in the paper.
        max_steps: number of training steps; the recipe's own number if None.
        prior_rows: how many rows of data the beliefs of the schema count as; 0 to ignore them. None means
            20 if the schema states any, else 0. Quantities without a belief need a range.
        missingness: "ignore" treats missing values as missing at random, given what is observed. "model"
            adds an indicator for each incomplete variable, which tells whether it has a value, so that
            predictions use the reason why a value is missing. See `eddi.table.missingness`.
        warm_start: whether `fit` starts from the weights of the previous fit, or of the loaded model, which
            takes a tenth of the steps. The coding and the size of the network stay, so fit anew once the
            table has grown a lot. Rows are then held out by their content, so that earlier fits with
            ``warm_start`` have not seen them.
        random_state: a seed; the same seed gives the same model.
        device: "auto" (a GPU if there is one), "cpu", "cuda", ...
        checkpoint: a file in which training saves its state; an interrupted run resumes from it.
        on_progress: called with a `Progress` after every hundred steps.
        unknown: what `predict`, `transform` and `score` do with unknown levels, values that are not
            numbers, and absent columns: "ignore" treats them as not observed, with one warning; "error"
            raises an error.

    Attributes:
        model_: the `FittedModel` that all predictions come from.
    """

    def __init__(
        self,
        schema: Schema | None = None,
        target: str | Sequence[str] | None = None,
        *,
        recipe: str | Recipe = "default",
        set_encoder: str | None = None,
        max_steps: int | None = None,
        prior_rows: int | None = None,
        missingness: Missingness = "ignore",
        warm_start: bool = False,
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
        self.prior_rows = prior_rows
        self.missingness = missingness
        self.warm_start = warm_start
        self.random_state = random_state
        self.device = device
        self.checkpoint = checkpoint
        self.on_progress = on_progress
        self.unknown = unknown

    model_: FittedModel

    def fit(self, X: Any, y: Any = None, *, question_weights: QuestionWeights | None = None) -> Self:
        """Learn from a table in which NaN means not observed.

        Args:
            X: pandas, polars or pyarrow; an array; or the path of a CSV, TSV, Parquet or Excel file. A
                Parquet file of more than 20 million cells is streamed from disk. None for a model of
                the beliefs of the schema alone.
            y: the target, if one is declared and is not a column of the table. Otherwise it is not used,
                with a warning; see `PartialVAEClassifier` and `PartialVAERegressor`.
            question_weights: of rows that are interviews, whose questions were chosen with known
                probabilities; see `eddi.evaluate.off_policy.question_weights`.

        Warns:
            TrainingDataWarning: the table has few rows, rare classes of the target, repeated rows, or
                variables that determine the target. One warning lists all of them.
        """
        table = read_table(self, X if X is not None else empty_table(self.schema), reset=True)
        joined = None if y is None else join_target(table, y, self.target)
        if y is not None and joined is None:
            warnings.warn(Y_NOT_USED, EddiWarning, stacklevel=2)
        return self._fit(X, table if joined is None else joined, question_weights)

    @overload
    def fit_transform(self, X: str | PathLike[str], y: Any = None) -> Any: ...

    @overload
    def fit_transform(self, X: Table, y: Any = None) -> Table: ...

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit to a table and impute it, as the step of a pipeline.

        ``y`` is the target of a later step. It is used only if the declared target is not a column.
        """
        joined = None if y is None else join_target(read_table(self, X, reset=True), y, self.target)
        return self.fit(X, None if joined is None else y).transform(X)

    def _fit(self, X: Any, table: Any, question_weights: QuestionWeights | None) -> Self:
        recipe = recipes.resolve(self.recipe)
        schema = self.schema or Schema.infer(table, targets=_as_names(self.target))
        schema = model_missingness(schema, table, self.missingness, targets=_as_names(self.target))
        Stop.from_document(schema.stop)  # raises before training if a condition is not valid
        Exploration.from_document(schema.exploration)
        settings = FitSettings(
            target=schema.target_names(self.target),
            recipe=recipe,
            set_encoder=recipes.check_set_encoder(self.set_encoder or recipe.set_encoder),
            seed=self._seed(),
            device=preparation.find_device(local_device(self.device)),
            max_steps=self.max_steps,
            prior_rows=count_prior_rows(self.prior_rows, schema, has_table=X is not None),
            checkpoint=None if self.checkpoint is None else Path(self.checkpoint),
            on_progress=self.on_progress,
            is_warm_start=self.warm_start,
            start=self._start(schema) if self.warm_start else None,
            question_weights=question_weights,
        )
        model = fit_model(table, schema, settings, on_warnings=_warn)
        summary = replace(
            model.training,
            has_column_names=not formats.is_array(X),
            has_single_target=isinstance(self.target, str),
        )
        self.model_ = replace(model, training=summary)
        return self

    @classmethod
    def from_fitted(
        cls, model: FittedModel, *, device: str = "auto", unknown: Unknown = "ignore"
    ) -> "PartialVAE":
        """The estimator of a model that was read from a file."""
        is_single = model.training.has_single_target
        estimator = cls(
            schema=model.schema,
            target=model.target[0] if is_single else (model.target or None),
            recipe=model.recipe,
            set_encoder=model.set_encoder,
            device=device,
            unknown=unknown,
        )
        estimator.model_ = model
        estimator.n_features_in_ = len(model.training.columns)
        if model.training.has_column_names:
            estimator.feature_names_in_ = np.array(model.training.columns, dtype=object)
        return estimator

    def fitted(self) -> FittedModel:
        """The fitted model.

        Raises:
            sklearn.exceptions.NotFittedError: `fit` was not called yet.
        """
        check_is_fitted(self)
        return self.model_

    @overload
    def transform(self, X: str | PathLike[str]) -> Any: ...

    @overload
    def transform(self, X: Table) -> Table: ...

    def transform(self, X: Any) -> Any:
        """Fill the missing values of a table with the best guess; observed values do not change.

        The result has the type of ``X``. Columns that are not modelled are passed through.
        """
        table, evidence = self._table_and_evidence(X)
        filled = fill.fill_missing(table, self.schema_, self.model_.best_guesses(evidence))
        library = _get_output_config("transform", self)["dense"]
        if library == "default":
            return formats.convert_like(filled, X)
        return preparation.to_frame(filled, X, library, self.model_.training.columns)

    @overload
    def impute(
        self, X: str | PathLike[str], *, n_draws: int = 5, random_state: Any = 0
    ) -> list[Any]: ...

    @overload
    def impute(self, X: Table, *, n_draws: int = 5, random_state: Any = 0) -> list[Table]: ...

    def impute(self, X: Any, *, n_draws: int = 5, random_state: Any = 0) -> list[Any]:
        """Fill the missing values ``n_draws`` times with joint draws (multiple imputation)."""
        if n_draws < 1:
            raise TableError(f"n_draws must be at least 1, got {n_draws}.")
        table, evidence = self._table_and_evidence(X)
        seed = int(check_random_state(random_state).randint(2**31))
        draws = self.model_.draw_tables(evidence, n_draws, seed=seed)
        return [formats.convert_like(fill.fill_missing(table, self.schema_, draw), X) for draw in draws]

    @overload
    def predict(self, X: Any, target: str) -> Prediction: ...

    @overload
    def predict(self, X: Any, target: list[str] | tuple[str, ...]) -> Predictions: ...

    @overload
    def predict(self, X: Any, target: Sequence[str] | None = None) -> Prediction | Predictions: ...

    def predict(self, X: Any, target: str | Sequence[str] | None = None) -> Prediction | Predictions:
        """Predict the target from the rest of each row.

        Args:
            X: a table; the target's columns may be absent, and are ignored if present. Unknown levels
                and other absent columns are treated as not observed; see ``unknown`` of the estimator.
            target: a name gives a `Prediction`, several give a mapping of them. None means the declared
                target or, if none was declared, every variable given all observed values.
        """
        check_is_fitted(self)
        requested = self.target if target is None else target
        hidden = self.target_ if requested is None else self.schema_.target_names(requested)
        evidence = self._table_and_evidence(X, hidden=hidden)[1]
        names = hidden or self.schema_.names
        predictions = self.model_.predict_evidence(evidence, names)
        return predictions[names[0]] if isinstance(requested, str) else predictions

    def score(self, X: Any, y: Any = None) -> float:
        """Log-likelihood of the declared target, given the rest of each row: mean nats per value.

        Without a declared target: of entries hidden at random from each row, at the recipe's missing
        rates and with a fixed seed. Densities are in the table's own units, so models with different
        codings can be compared.

        Args:
            X: rows that training did not use.
            y: the target, if it is not a column of the table.
        """
        check_is_fitted(self)
        table = read_table(self, X, reset=False, columns=self.model_.training.columns)
        joined = None if y is None else join_target(table, y, self.target)
        evidence = self.model_.evidence(table if joined is None else joined, unknown=self.unknown)
        if self.target_:
            visible = evidence.hide(self.schema_.positions(self.target_))
        else:
            random = torch.Generator().manual_seed(0)
            shape = (1, len(evidence), evidence.n_variables)
            visible = evidence.hide(draw_visible(shape, self.recipe_, random)[0].numpy() == 0)
        hidden = evidence.observed & ~visible.observed
        log_prob = self.model_.log_prob(visible, evidence)
        return float(log_prob[hidden].mean()) if hidden.any() else 0.0

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model as one file that cannot run code; `eddi.load` reads it.

        A declared target with levels is certified on the validation rows first, so that
        ``Stop(risk=...)`` works with the file. The quality of its predictions is measured for the card.
        """
        certify_validation_rows(self.fitted())
        if not self.model_.quality:
            self.measure_quality()
        archive.save(self.model_, Path(path))

    def measure_quality(self, X: Any = None) -> dict[str, TargetQuality]:
        """How well each declared target is predicted, compared with the trivial prediction.

        The model card keeps the result.

        Args:
            X: test rows. If None: the rows that `fit` held out, or the folds of its cross-validation.
        """
        source, held_out = self.fitted().held_out()
        if X is not None:
            source, held_out = "test rows", [(self.model_, self.evidence(X, optional=self.target_))]
        targets = self.target_ if held_out else ()
        measured = [measure_quality(held_out, name, source, targets=targets) for name in targets]
        self.model_.quality = {quality.target: quality for quality in measured if quality is not None}
        return self.model_.quality

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:  # noqa: ARG002
        """The names of `transform`'s columns: those of the table given to `fit`."""
        check_is_fitted(self)
        return np.array(self.model_.training.columns, dtype=object)

    def evidence(self, X: Any, *, optional: Sequence[str] = ()) -> Evidence:
        """The rows of a table as evidence; columns in ``optional`` may be absent."""
        check_is_fitted(self)
        table = read_table(self, X, reset=False, columns=self.model_.training.columns)
        return self.model_.evidence(table, optional=optional, unknown=self.unknown)

    def _table_and_evidence(self, X: Any, hidden: Sequence[str] = ()) -> tuple[Any, Evidence]:
        check_is_fitted(self)
        table = read_table(self, X, reset=False, columns=self.model_.training.columns)
        return table, self.model_.evidence(table, hidden=hidden, unknown=self.unknown)

    def _start(self, schema: Schema) -> FittedModel | None:
        """The model of the previous fit, if there is one."""
        if not self.__sklearn_is_fitted__():
            return None
        earlier = self.model_.schema
        if not have_same_values(earlier, copy_bins(schema, earlier)):
            raise TrainingError(
                "warm_start needs the variables of the previous fit, with the same kinds and levels. Set "
                "warm_start=False to fit a new model."
            )
        return self.model_

    def _seed(self) -> int:
        if self.random_state is None and self.checkpoint is not None:
            return 0  # a run that may be resumed must have the same seed again
        return int(check_random_state(self.random_state).randint(2**31))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def load(
    path: str | PathLike[str], *, device: str = "auto", unknown: Unknown = "ignore"
) -> PartialVAE | Any:
    """Read a model written by `PartialVAE.save`, or an `ItemBank`; ``unknown`` is that of the estimator.

    Raises:
        ModelFileError: the file is missing, damaged, edited, too large, too new, or not a model.
    """
    model = archive.load(path, device=device)
    if isinstance(model, ItemBank):
        return model
    return PartialVAE.from_fitted(model, device=device, unknown=unknown)


def _warn(messages: tuple[str, ...]) -> None:
    warnings.warn(TrainingDataWarning(*messages), stacklevel=5)  # where `fit` was called


def _as_names(target: str | Sequence[str] | None) -> tuple[str, ...]:
    if target is None:
        return ()
    return (target,) if isinstance(target, str) else tuple(target)
