"""The Partial VAE as scikit-learn knows a model: the constructor stores, `fit` checks and learns."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import Tensor

from eddi.errors import TableError, TrainingError
from eddi.model import recipe as recipes
from eddi.model.certificate import Certificate, Key
from eddi.model.inference.frozen import Settled
from eddi.model.inference.marginal_predictor import Direct
from eddi.model.inference.predictive import Belief, shared_noise, standard_normal
from eddi.model.inference.sampling import completed
from eddi.model.inference.single_row import Alone
from eddi.model.inference.summary import known, summarise
from eddi.model.network.likelihood import N_QUANTILES, LevelLikelihood
from eddi.model.network.network import Network
from eddi.model.network.posterior import Posterior
from eddi.model.prediction import Predictions
from eddi.model.recipe import Recipe
from eddi.model.training import preparation
from eddi.model.training.checkpoint import Checkpoint, Progress
from eddi.model.training.distributed import own_device
from eddi.model.training.loop import OnProgress, draw_kept, split, train
from eddi.table import columns, formats
from eddi.table.coding import Coding
from eddi.table.evidence import Evidence
from eddi.table.schema import Schema
from eddi.table.streaming import open_table
from eddi.table.variable import Kind

N_DRAWS = 128  # of z behind a prediction: a power of two, as Sobol points like
CHUNK_CELLS = 4_000_000  # numbers in flight at once when predicting: 16 MB a tensor


class PartialVAE(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A variational autoencoder that takes rows with any part of them unseen.

    Args:
        schema: what the columns are; inferred from the table where None.
        target: one or more variables that training should attend to. Any other variable can still be
            the target of a prediction or an interview.
        recipe: "default" (the best we have), "paper" (Ma et al. 2019 to the letter), or a `Recipe`.
        set_encoder: "zi", "zi-m", "pn" or "pnp".
        max_steps: training steps, where the recipe's own number is not wanted.
        random_state: a seed; the same seed gives the same model.
        device: "auto" (a GPU where there is one), "cpu", "cuda", ...
        checkpoint: a file in which training is kept, and from which it goes on after a kill.
        on_progress: called with a `Progress` after every hundred steps.
    """

    def __init__(
        self,
        schema: Schema | None = None,
        target: str | Sequence[str] | None = None,
        *,
        recipe: str | Recipe = "default",
        set_encoder: str = "pnp",
        max_steps: int | None = None,
        random_state: Any = None,
        device: str = "auto",
        checkpoint: str | PathLike[str] | None = None,
        on_progress: OnProgress | None = None,
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

    # Learned by fit.
    schema_: Schema
    recipe_: Recipe
    coding_: Coding
    network_: Network
    settled_: Settled
    alone_: Alone | None
    direct_: Direct | None
    target_: tuple[str, ...]
    fingerprint_: str
    history_: list[Progress]
    columns_: tuple[str, ...]
    n_rows_: int
    validation_: Evidence | None  # in memory only: model files keep nobody's rows
    certificates_: dict[Key, Certificate]

    def fit(self, X: Any, y: Any = None) -> "PartialVAE":  # noqa: ARG002  # scikit-learn's signature
        """Learn from a table in which NaN means not observed.

        Args:
            X: pandas, polars or pyarrow; an array; or the path of a CSV, TSV, Parquet or Excel file. A
                Parquet file of more than 20 million cells is read as training goes, never whole.
            y: ignored; a target is a column of the table.
        """
        recipe = self._resolved_recipe()
        recipes.check_set_encoder(self.set_encoder)
        device = preparation.find_device(own_device(self.device))
        table = self._read(X, reset=True)
        self.schema_ = self.schema or Schema.infer(table, targets=_names(self.target))
        self.target_ = self.schema_.target_names(self.target)
        seed = self._seed()
        prepared = preparation.prepare(table, self.schema_, recipe, seed=seed)
        recipe = self._for_rows(recipe, prepared.n_rows)
        self.recipe_, self.coding_, self.n_rows_ = recipe, prepared.coding, prepared.n_rows
        self.network_ = preparation.build(
            self.schema_, self.coding_, self.set_encoder, recipe, seed=seed, rows=prepared.rows
        )
        self.fingerprint_ = prepared.fingerprint
        self.history_ = train(
            self.network_,
            prepared.rows,
            recipe,
            seed=seed,
            device=device,
            targets=self.schema_.positions(self.target_),
            checkpoint=self._checkpoint(seed),
            on_progress=self.on_progress,
        )
        self.validation_, self.certificates_ = split(prepared.rows, recipe, seed)[1], {}
        self._settle()
        return self

    def transform(self, X: Any) -> Any:
        """The table with its holes filled by the best guess; what was observed is untouched.

        The container is the one given. Columns that were set aside pass through as they are.
        """
        table, evidence = self._table_and_evidence(X)
        filled = columns.fill_missing(table, self.schema_, self.guesses(evidence))
        library = _get_output_config("transform", self)["dense"]
        if library == "default":
            return formats.convert_like(filled, X)
        return preparation.framed(filled, X, library, self.columns_)

    def impute(self, X: Any, *, n_draws: int = 5, random_state: Any = 0) -> list[Any]:
        """``n_draws`` completed tables, each filled with one joint draw (multiple imputation)."""
        if n_draws < 1:
            raise TableError(f"n_draws must be at least 1, got {n_draws}.")
        table, evidence = self._table_and_evidence(X)
        seed = int(check_random_state(random_state).randint(2**31))
        drawn = self.draw_tables(evidence, n_draws, seed=seed)
        return [formats.convert_like(columns.fill_missing(table, self.schema_, one), X) for one in drawn]

    def predict(self, X: Any, target: str | Sequence[str] | None = None) -> Any:
        """Beliefs about the target given what each row shows of the rest.

        Args:
            X: a table; the target's own columns may be absent, and are hidden where present.
            target: a name gives a `Prediction`, several a mapping of them. None means the declared
                target or, where none was declared, every variable, given all that the row shows.
        """
        check_is_fitted(self)
        wanted = self.target if target is None else target
        hidden = self.target_ if wanted is None else self.schema_.target_names(wanted)
        _, evidence = self._table_and_evidence(X, optional=hidden)
        names = hidden or self.schema_.names
        beliefs = self.predict_evidence(evidence.hide(self.schema_.positions(hidden)), names)
        return beliefs[names[0]] if isinstance(wanted, str) else beliefs

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002  # scikit-learn's signature
        """Held-out log-likelihood: mean nats an entry, of entries hidden at random from each row.

        Entries are hidden by the recipe's own missing rates, always the same ones. Densities are in
        the table's units, so models with different codings can be compared.
        """
        _, evidence = self._table_and_evidence(X)
        random = torch.Generator().manual_seed(0)
        shape = (1, len(evidence), evidence.n_variables)
        kept = draw_kept(shape, self.recipe_, random)[0].numpy() > 0
        seen = evidence.hide(~kept)
        hidden = evidence.observed & ~seen.observed
        log_prob = self.log_prob(seen, evidence)
        return float(log_prob[hidden].mean()) if hidden.any() else 0.0

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model as one file that cannot run code; `eddi.load` reads it."""
        from eddi.model.files import archive

        check_is_fitted(self)
        archive.save(self, Path(path))

    def restore(self, coding: Coding, target: tuple[str, ...], weights: Mapping[str, Tensor]) -> None:
        """Become the model that these learned facts describe; `archive.load` calls it."""
        assert self.schema is not None  # noqa: S101  # archive.load always gives one
        self.schema_ = self.schema
        self.recipe_, self.coding_ = self._resolved_recipe(), coding
        self.target_ = self.schema_.target_names(target)
        self.network_ = preparation.build(self.schema_, coding, self.set_encoder, self.recipe_, seed=0)
        self.network_.load_state_dict(weights)
        self.network_.to(preparation.find_device(self.device))
        self.validation_, self.certificates_ = None, {}
        self._settle()

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:  # noqa: ARG002
        """The names of `transform`'s columns: those of the table given to `fit`."""
        check_is_fitted(self)
        return np.array(self.columns_, dtype=object)

    def evidence(self, X: Any, *, optional: Sequence[str] = ()) -> Evidence:
        """A table's rows as evidence; columns named in ``optional`` may be absent."""
        return self._table_and_evidence(X, optional=optional)[1]

    def code(self, evidence: Evidence) -> Tensor:
        """The additive code of each row [rows, width]."""
        return self.settled_.code(*self._tensors(evidence))

    def term(self, values: Tensor, variables: Sequence[int] | Tensor) -> Tensor:
        """What coded answers [..., n] to n variables add to the code [..., n, width]."""
        return self.settled_.term(values, torch.as_tensor(variables, device=values.device))

    def posterior(self, code: Tensor) -> Posterior:
        """q(z | x_O) from the code of x_O, for any leading shape."""
        return self.settled_.posterior(code)

    def draw(self, posterior: Posterior, n_draws: int, *, seed: int) -> Tensor:
        """Joint coded values of all variables, noise and all [draws, ..., variables].

        The same random numbers serve every row, so a row's draws do not depend on its company.
        """
        outputs, level = self._decoded(posterior, n_draws, seed)
        return self.network_.quantile(outputs, level)

    def chances(self, posterior: Posterior, n_draws: int, *, seed: int) -> dict[int, Tensor]:
        """How likely each level is behind the same draws, for variables of levels by position."""
        if not self.network_.has_levels:
            return {}
        found = ((head, head.likelihood) for head in self.network_.heads())
        levelled = [(head, kind) for head, kind in found if isinstance(kind, LevelLikelihood)]
        outputs, _ = self._decoded(posterior, n_draws, seed)
        return {
            variable: shares[..., place, : self.network_.forms[variable].n_levels]
            for head, kind in levelled
            for shares in [kind.probabilities(outputs[..., head.outputs])]
            for place, variable in enumerate(head.variables.tolist())
        }

    def _decoded(self, posterior: Posterior, n_draws: int, seed: int) -> tuple[Tensor, Tensor]:
        """Outputs for draws of z, and uniform levels, the same for all rows, to draw variables by."""
        device, network = posterior.mean.device, self.network_
        noise, level = shared_noise(n_draws, network.latent, len(network.forms), seed=seed)
        each = (n_draws, *[1] * (posterior.mean.dim() - 1), -1)
        z = posterior.draw(noise.view(each).to(device))
        return self.settled_.decode(z), level.view(each).to(device)

    def predict_evidence(self, evidence: Evidence, names: Sequence[str]) -> Predictions:
        """Beliefs about these variables given exactly this evidence; what it shows is known."""
        beliefs = summarise(self.beliefs(evidence), self.schema_, self.coding_, names)
        positions = self.schema_.positions(names)
        if not evidence.observed[:, positions].any():
            return beliefs
        numbers = columns.round_to_valid(self.coding_.decode(evidence.values), self.schema_)
        return known(beliefs, numbers[:, positions], evidence.observed[:, positions])

    def log_prob(self, evidence: Evidence, truth: Evidence) -> NDArray[np.float64]:
        """log p(x_d | x_O) of the true values [rows, variables], in nats of the table's units."""
        parts, start = [], 0
        for belief in self.beliefs(evidence):
            stop = start + belief.outputs.shape[1]
            parts.append(belief.log_prob(self._tensors(truth[start:stop])[0]).cpu().numpy())
            start = stop
        # A density in the table's units is the coded one over the scale; a probability is as it is.
        density = np.array([form.kind is Kind.REAL for form in self.network_.forms])
        per_unit = np.where(density, np.log(self.coding_.scale), 0.0)
        return np.concatenate(parts).astype(np.float64) - per_unit

    def draw_tables(self, evidence: Evidence, n_draws: int, *, seed: int) -> NDArray[np.float64]:
        """Joint draws in the table's own numbers, fresh ones for each row [draws, rows, variables]."""
        random = torch.Generator().manual_seed(seed)
        parts = []
        for chunk in self._chunks(evidence, n_draws):
            shape = (n_draws, len(chunk), evidence.n_variables)
            level = torch.rand(shape, generator=random).clamp(1e-6, 1 - 1e-6).to(self.settled_.device)
            with torch.inference_mode():
                parts.append(self._completed(chunk, level, random).cpu().numpy())
        return columns.round_to_valid(self.coding_.decode(np.concatenate(parts, axis=1)), self.schema_)

    def _completed(self, evidence: Evidence, level: Tensor, random: torch.Generator) -> Tensor:
        if self.direct_ is not None:
            return completed(self.direct_, *self._tensors(evidence), level)
        noise = torch.randn((*level.shape[:2], self.network_.latent), generator=random)
        posterior = self.posterior(self.code(evidence))
        outputs = self.network_.decode(posterior.draw(noise.to(level.device)))
        return self.network_.quantile(outputs, level)

    def guesses(self, evidence: Evidence) -> NDArray[np.float64]:
        """The best single guess of every cell in the table's own numbers [rows, variables]."""
        parts = []
        for belief in self.beliefs(evidence):
            guess = belief.moments()[0].clone()
            for variable, chances in belief.probabilities():
                guess[:, variable] = chances.argmax(-1).to(guess.dtype)
            parts.append(guess.cpu().numpy())
        return columns.round_to_valid(np.concatenate(parts).astype(np.float64), self.schema_)

    def beliefs(self, evidence: Evidence, n_draws: int = N_DRAWS) -> Iterator[Belief]:
        """What is believed of every variable, for a chunk of rows after the other."""
        marginals = self.network_.marginals
        noise = standard_normal(n_draws, self.network_.latent, seed=0)
        for chunk in self._chunks(evidence, n_draws if marginals is None else 1):
            code = self.code(chunk)
            if marginals is not None:
                outputs = marginals(self.settled_.hidden(code))[None]
                yield Belief(marginals, outputs, marginals.left_out(outputs))
            else:
                yield Belief.of(self.network_, self.posterior(code), noise.to(code.device))

    def _chunks(self, evidence: Evidence, n_draws: int) -> Iterator[Evidence]:
        n_counts = sum(form.kind is Kind.COUNT for form in self.network_.forms)
        widest = max(self.network_.n_outputs, N_QUANTILES * n_counts, *self.recipe_.hidden)
        rows = max(1, CHUNK_CELLS // (n_draws * widest))
        starts = range(0, max(len(evidence), 1), rows)  # no rows are one empty chunk
        return (evidence[start : start + rows] for start in starts)

    def _tensors(self, evidence: Evidence) -> tuple[Tensor, Tensor]:
        values, observed = torch.from_numpy(evidence.values), torch.from_numpy(evidence.observed)
        return values.to(self.settled_.device), observed.to(self.settled_.device, torch.float32)

    def _table_and_evidence(self, X: Any, optional: Sequence[str] = ()) -> tuple[Any, Evidence]:
        check_is_fitted(self)
        table = self._read(X, reset=False)
        numbers = columns.table_to_numbers(table, self.schema_, optional=optional)
        return table, self.coding_.encode(numbers)

    def _read(self, X: Any, *, reset: bool) -> Any:
        if formats.is_array(X):
            # scikit-learn's own checks, so that arrays fail with the words its users know.
            least = 2 if reset else 1
            array = validate_data(
                self, X, reset=reset, ensure_all_finite="allow-nan", ensure_min_samples=least
            )
            table = formats.read(array)
            if not reset:  # an array has no names of its own: its columns are those of fit, in order
                table = table.rename_columns(self.columns_)
        else:
            table = open_table(X) if reset else formats.read(X)
            if reset:
                self.n_features_in_ = len(table.column_names)
                self.feature_names_in_ = np.array(table.column_names, dtype=object)
        if reset:
            self.columns_ = tuple(table.column_names)
        return table

    def _resolved_recipe(self) -> Recipe:
        if self.max_steps is not None and self.max_steps < 1:
            raise TrainingError(f"max_steps must be at least 1, got {self.max_steps}.")
        return recipes.resolve(self.recipe)

    def _for_rows(self, recipe: Recipe, n_rows: int) -> Recipe:
        """The recipe for a table of so many rows, with as many steps as the user wants."""
        fit = recipes.for_rows(recipe, n_rows)
        return fit if self.max_steps is None else replace(fit, max_steps=int(self.max_steps))

    def _settle(self) -> None:
        """Give each weight its own memory: a pickle would hold training's shared one once for each."""
        for weight in self.network_.requires_grad_(False).parameters():
            weight.data, weight.grad = weight.data.clone(), None
        self.settled_ = Settled.of(self.network_)
        self.alone_ = Alone.of(self.network_, self.settled_)
        self.direct_ = Direct.of(self.network_, self.settled_)

    def _seed(self) -> int:
        if self.random_state is None and self.checkpoint is not None:
            return 0  # a run that may be taken up again must know its seed again
        return int(check_random_state(self.random_state).randint(2**31))

    def _checkpoint(self, seed: int) -> Checkpoint | None:
        if self.checkpoint is None:
            return None
        settings = f"{self.fingerprint_} {self.recipe_} {self.set_encoder} {self.target_} {seed}"
        return Checkpoint(Path(self.checkpoint), hashlib.sha256(settings.encode()).hexdigest())

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def _names(target: str | Sequence[str] | None) -> tuple[str, ...]:
    if target is None:
        return ()
    return (target,) if isinstance(target, str) else tuple(target)
