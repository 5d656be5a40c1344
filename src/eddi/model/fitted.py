"""The fitted model: a trained network with its schema and coding, ready for inference."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from eddi.errors import TableError
from eddi.model.cache import Cache
from eddi.model.certificate import Certificate, CertificateKey
from eddi.model.inference.device_copy import copy_to
from eddi.model.inference.frozen import Encoding, FrozenNetwork
from eddi.model.inference.marginal_predictor import MarginalPredictor
from eddi.model.inference.predictive import PredictiveDistribution
from eddi.model.inference.sampling import sample_missing
from eddi.model.inference.summary import insert_observed, summarise
from eddi.model.learned_attributes import LearnedAttributes
from eddi.model.network.likelihood import N_QUANTILES
from eddi.model.network.network import Network
from eddi.model.network.posterior import Posterior
from eddi.model.network.quasi_random import MARGIN, joint_noise, standard_normal
from eddi.model.prediction import Prediction, Predictions
from eddi.model.quality import TargetQuality
from eddi.model.recipe import Recipe, SetEncoderName
from eddi.model.training.summary import TrainingSummary
from eddi.table import columns, fill, formats
from eddi.table.coding import Coding
from eddi.table.evidence import Evidence
from eddi.table.mismatches import Mismatches, Unknown
from eddi.table.schema import Schema
from eddi.table.text import format_names
from eddi.table.variable import Kind

N_DRAWS = 128  # of z behind a prediction: a power of two, as Sobol points require
CHUNK_CELLS = 4_000_000  # numbers per tensor when predicting: 16 MB
MAX_CACHED_NUMBERS = 65_536  # larger sets of random numbers are drawn again each time: 256 kB


@dataclass(eq=False)
class FittedModel(LearnedAttributes):
    """A trained Partial VAE. It implements the `Model` protocol.

    Args:
        schema: the variables and questions.
        coding: the map between the table's own units and coded values.
        recipe: how the network was built and trained.
        set_encoder: the name of the set encoder.
        target: the declared targets; empty if none was declared.
        network: the trained network.
        training: what it was trained on.
        certificates: results of `eddi.certify`, for risk-controlled stopping.
        quality: how well each declared target is predicted, by name.
        ignored_variables: variables that predictions of a target do not use, by target; see
            `training.folds.selection`.
        validation_rows: the rows that `fit` held out. Kept in memory only: model files contain no rows.
        folds: for cross-validated models, the network of each fold and the rows it did not see. Kept in
            memory only, and not pickled.
    """

    schema: Schema
    coding: Coding
    recipe: Recipe
    set_encoder: SetEncoderName
    target: tuple[str, ...]
    network: Network
    training: TrainingSummary
    certificates: dict[CertificateKey, Certificate] = field(default_factory=dict)
    quality: dict[str, TargetQuality] = field(default_factory=dict)
    ignored_variables: dict[str, tuple[str, ...]] = field(default_factory=dict)
    validation_rows: Evidence | None = None
    folds: Sequence[tuple[Network, Evidence]] = ()

    def __repr__(self) -> str:
        target = f", target {', '.join(self.target)}" if self.target else ""
        rows = f"{self.training.n_rows:,} rows" if self.training.n_rows else "beliefs alone"
        return f"<FittedModel: {len(self.schema.variables)} variables, trained on {rows}{target}>"

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the fields alone; packed weights and caches are computed again."""
        return {f.name: getattr(self, f.name) for f in fields(self)} | {"folds": ()}

    def fitted(self) -> "FittedModel":
        """This model."""
        return self

    def held_out(self) -> tuple[str, list[tuple["FittedModel", Evidence]]]:
        """What the held-out rows are, and models, each with rows that it was not trained on."""
        if self.validation_rows is not None:
            return "validation rows", [(self, self.validation_rows)]
        device = next(self.network.parameters()).device
        folds = [
            (replace(self, network=network.to(device), folds=()), rows) for network, rows in self.folds
        ]
        return "cross-validation", folds

    # Properties over cached ones: for type checkers, a `cached_property` is no property of a protocol.

    @property
    def frozen(self) -> FrozenNetwork:
        """The network with weights packed for inference."""
        return self._frozen

    @property
    def marginal_predictor(self) -> MarginalPredictor | None:
        """Marginal predictions without draws of z; None if the recipe does not learn them."""
        return self._marginal_predictor

    @property
    def cache(self) -> Cache:
        """Results that depend on the model alone; freed with it."""
        return self._cache

    @cached_property
    def _frozen(self) -> FrozenNetwork:
        return FrozenNetwork.from_network(self.network)

    @cached_property
    def _marginal_predictor(self) -> MarginalPredictor | None:
        return MarginalPredictor.from_network(self.network, self.frozen)

    @cached_property
    def _cache(self) -> Cache:
        return Cache()

    def evidence(
        self,
        table: Any,
        *,
        optional: Sequence[str] = (),
        hidden: Sequence[str] = (),
        unknown: Unknown = "ignore",
    ) -> Evidence:
        """The rows of a table as evidence.

        An array has no column names: its columns are those of the training table, in order, with or
        without all the optional and hidden ones.

        Args:
            table: rows that may differ from the training table.
            optional: variables whose column may be absent.
            hidden: variables that are not read, whatever the table contains.
            unknown: "ignore" treats unknown levels, values that are not numbers and absent columns as
                not observed, with one warning; "error" raises a `TableError`.
        """
        rows = formats.read(table)
        if formats.is_array(table):
            rows = rows.rename_columns(self._array_columns(len(rows.column_names), (*optional, *hidden)))
        mismatches = Mismatches.collect(unknown)
        numbers = columns.table_to_numbers(
            rows, self.schema, optional=optional, hidden=hidden, mismatches=mismatches
        )
        if mismatches is not None:
            mismatches.warn()
        return self.coding.encode(numbers)

    def _array_columns(self, n_columns: int, optional: Sequence[str]) -> list[str]:
        """The names of an array's columns."""
        names = list(self.training.columns)
        required = [name for name in names if name not in optional]
        for candidates in (names, required):
            if len(candidates) == n_columns:
                return candidates
        without = "" if required == names else f", or {len(required)} without {format_names(optional)}"
        raise TableError(
            f"the array has {n_columns} columns; the model was trained on {len(names)} columns{without}. "
            "Give the same columns in the same order."
        )

    def code(self, evidence: Evidence) -> Tensor:
        """The additive code of each row [rows, width]."""
        return self.frozen.code(*self.inputs(evidence))

    def find_ignored(self, variables: Sequence[int]) -> tuple[int, ...]:
        """Positions of the variables that no prediction of these variables (positions) uses."""
        if not self.ignored_variables:
            return ()
        names = (self.schema.names[variable] for variable in variables)
        ignored = [frozenset(self.ignored_variables.get(name, ())) for name in names]
        return tuple(self.schema.positions(sorted(frozenset.intersection(*ignored))) if ignored else ())

    def group_by_ignored(self, variables: Sequence[int]) -> list[list[int]]:
        """The variables (positions) in groups whose predictions ignore the same variables."""
        if not self.ignored_variables:
            return [list(variables)] if len(variables) else []
        groups: dict[tuple[int, ...], list[int]] = {}
        for variable in variables:
            groups.setdefault(self.find_ignored([variable]), []).append(variable)
        return list(groups.values())

    def relevant_evidence(self, evidence: Evidence, variables: Sequence[int]) -> Evidence:
        """What predictions of these variables (positions) use of the evidence."""
        ignored = self.find_ignored(variables)
        return evidence.hide(ignored) if ignored else evidence

    def encode(self, evidence: Evidence) -> Encoding:
        """The output of every layer for each row; that of the last evidence is remembered."""
        encodings = self.frozen.encodings
        return encodings.get(evidence, lambda: self.frozen.encode_inputs(*self.inputs(evidence)))

    def term(self, values: Tensor, variables: Sequence[int] | Tensor) -> Tensor:
        """The terms that coded answers [..., n] to n variables add to the code [..., n, width]."""
        return self.frozen.term(values, torch.as_tensor(variables, device=values.device))

    def posterior(self, code: Tensor) -> Posterior:
        """q(z | x_O) from the code of x_O, for any leading shape."""
        return self.frozen.posterior(code)

    def draw(self, posterior: Posterior, n_draws: int, *, seed: int) -> Tensor:
        """Joint draws of all variables in coded values [draws, ..., variables].

        All rows share the same random numbers, so a row's draws do not depend on its batch.
        """
        outputs, level = self._decode_draws(posterior, n_draws, seed)
        return self.network.quantile(outputs, level)

    def level_probabilities(self, posterior: Posterior, n_draws: int, *, seed: int) -> dict[int, Tensor]:
        """Probabilities of the levels behind the same draws [draws, ..., levels], by position."""
        if not self.network.has_levels:
            return {}
        outputs, _ = self._decode_draws(posterior, n_draws, seed)
        heads = (head for head in self.network.heads() if head.likelihood.has_levels)
        return {
            variable: probabilities[..., place, : self.network.specs[variable].n_levels]
            for head in heads
            for probabilities in [head.likelihood.probabilities(outputs[..., head.outputs])]
            for place, variable in enumerate(head.variables.tolist())
        }

    def _decode_draws(self, posterior: Posterior, n_draws: int, seed: int) -> tuple[Tensor, Tensor]:
        """Outputs for draws of z, and the uniform numbers at which variables are drawn."""
        device = posterior.mean.device
        noise, level = self.joint_noise(n_draws, seed)
        shape = (n_draws, *[1] * (posterior.mean.dim() - 1), -1)
        z = posterior.draw(noise.view(shape).to(device))
        return self.frozen.decode(z), level.view(shape).to(device)

    def joint_noise(self, n_draws: int, seed: int) -> tuple[Tensor, Tensor]:
        """Random numbers for z [draws, latent] and for variables [draws, variables]; do not modify them.

        Scrambled Sobol points take longer to compute than the rest of a decision, so they are cached.
        """
        n_latent, n_variables = self.network.latent, len(self.network.specs)

        def compute() -> tuple[Tensor, Tensor]:
            return joint_noise(n_draws, n_latent, n_variables, seed=seed)

        if n_draws * (n_latent + n_variables) > MAX_CACHED_NUMBERS:
            return compute()
        return self.cache.get(("joint_noise", n_draws, seed), compute)

    def predict_evidence(self, evidence: Evidence, names: Sequence[str]) -> Predictions:
        """Predictions of the named variables; observed values are predicted with certainty.

        An extreme value never makes a prediction more certain than it is without that value.
        """
        predictions = self._summarise(evidence, names)
        is_extreme = self.coding.find_extreme(evidence)
        if is_extreme.any():
            rows = np.asarray(is_extreme.any(1))
            without = self._summarise(evidence.hide(is_extreme), names)
            predictions = Predictions(
                {name: p.limit_certainty(without[name], rows) for name, p in predictions.items()}
            )
        positions = self.schema.positions(names)
        if not evidence.observed[:, positions].any():
            return predictions
        numbers = fill.round_to_valid(self.coding.decode(evidence.values), self.schema)
        return insert_observed(predictions, numbers[:, positions], evidence.observed[:, positions])

    def _summarise(self, evidence: Evidence, names: Sequence[str]) -> Predictions:
        parts: dict[str, Prediction] = {}
        for group in self.group_by_ignored(self.schema.positions(names)):
            own = [self.schema.names[variable] for variable in group]
            distributions = self.predictive_distributions(evidence, variables=group)
            parts |= summarise(distributions, self.schema, self.coding, own)
        return Predictions({name: parts[name] for name in names})

    def predictive_distributions(
        self, evidence: Evidence, *, variables: Sequence[int] | None = None, n_draws: int = N_DRAWS
    ) -> Iterator[PredictiveDistribution]:
        """The distributions of some variables (positions) or all, for consecutive chunks of rows.

        A model without marginal predictions gives those of all variables. If several variables are
        predicted at once, only what all of them ignore is ignored; see `relevant_evidence`.
        """
        predictor = self.marginal_predictor
        evidence = evidence if variables is None else self.relevant_evidence(evidence, variables)
        for chunk in self._chunks(evidence, n_draws if predictor is None else 1):
            if predictor is not None:
                yield predictor.distribution(self.encode(chunk).features, variables)
            else:
                code = self.code(chunk)
                # All rows share the draws, so a row's prediction does not depend on its batch.
                noise = self._prediction_noise(n_draws).to(code.device)[:, None]
                outputs = self.network.decode(self.posterior(code).draw(noise))
                yield PredictiveDistribution.from_outputs(self.network, outputs)

    def _prediction_noise(self, n_draws: int) -> Tensor:
        return self.cache.get(
            ("prediction_noise", n_draws),
            lambda: standard_normal(n_draws, self.network.latent, seed=0),
        )

    def log_prob(self, evidence: Evidence, truth: Evidence) -> NDArray[np.float64]:
        """log p(x_d | x_O) of the true values [rows, variables], in nats of the table's own units."""
        log_prob = self._coded_log_prob(evidence, truth)
        for target in self.schema.positions(self.ignored_variables):
            log_prob[:, target] = self._coded_log_prob(evidence, truth, [target])[:, 0]
        # A density in the table's own units is the coded density over the scale. A probability is not.
        is_density = np.array([spec.kind is Kind.REAL for spec in self.network.specs])
        log_scale = np.where(is_density, np.log(self.coding.scale), 0.0)
        return np.asarray(log_prob - log_scale)

    def _coded_log_prob(
        self, evidence: Evidence, truth: Evidence, variables: Sequence[int] | None = None
    ) -> NDArray[np.float64]:
        """log p(x_d | x_O) of some variables or all [rows, variables], in nats of coded units."""
        parts, start = [], 0
        for chunk in self.predictive_distributions(evidence, variables=variables):
            stop = start + chunk.n_rows
            values = self._tensors(truth[start:stop])[0]
            own = values if variables is None else values[:, list(variables)]
            parts.append(chunk.log_prob(own).cpu().numpy())
            start = stop
        return np.concatenate(parts).astype(np.float64)

    def draw_tables(self, evidence: Evidence, n_draws: int, *, seed: int) -> NDArray[np.float64]:
        """Joint draws in the table's own units, independent for each row [draws, rows, variables]."""
        random = torch.Generator().manual_seed(seed)
        parts = []
        for chunk in self._chunks(evidence, n_draws):
            shape = (n_draws, len(chunk), evidence.n_variables)
            level = torch.rand(shape, generator=random).clamp(MARGIN, 1 - MARGIN)
            with torch.inference_mode():
                drawn = self._draw_missing(chunk, level.to(self.frozen.device), random)
                parts.append(drawn.cpu().numpy())
        return fill.round_to_valid(self.coding.decode(np.concatenate(parts, axis=1)), self.schema)

    def _draw_missing(self, evidence: Evidence, level: Tensor, random: torch.Generator) -> Tensor:
        """Complete rows in coded values [draws, rows, variables]."""
        if self.marginal_predictor is not None:
            targets = self.schema.positions(self.ignored_variables)
            ignored = {target: self.find_ignored([target]) for target in targets}
            return sample_missing(
                self.marginal_predictor, *self.inputs(evidence), level, ignored=ignored
            )
        noise = torch.randn((*level.shape[:2], self.network.latent), generator=random)
        posterior = self.posterior(self.code(evidence))
        outputs = self.network.decode(posterior.draw(noise.to(level.device)))
        return self.network.quantile(outputs, level)

    def best_guesses(self, evidence: Evidence) -> NDArray[np.float64]:
        """The mean or most likely level of every cell in the table's own units [rows, variables]."""
        parts = []
        for chunk in self.predictive_distributions(evidence):
            guess = chunk.moments()[0].clone()
            for variable, probabilities in chunk.probabilities():
                guess[:, variable] = probabilities.argmax(-1).to(guess.dtype)
            parts.append(guess.cpu().numpy())
        guesses = np.concatenate(parts).astype(np.float64)
        for name, prediction in self._summarise(evidence, tuple(self.ignored_variables)).items():
            levels = prediction.probabilities
            guesses[:, self.schema.position(name)] = (
                prediction.mean if levels is None else levels.argmax(-1)
            )
        return fill.round_to_valid(guesses, self.schema)

    def _chunks(self, evidence: Evidence, n_draws: int) -> Iterator[Evidence]:
        n_counts = sum(spec.kind is Kind.COUNT for spec in self.network.specs)
        widest = max(self.network.n_outputs, N_QUANTILES * n_counts, *self.recipe.hidden)
        n_rows = max(1, CHUNK_CELLS // (n_draws * widest))
        if len(evidence) <= n_rows:
            return iter([evidence])
        return (evidence[start : start + n_rows] for start in range(0, len(evidence), n_rows))

    def inputs(self, evidence: Evidence) -> tuple[Tensor, Tensor]:
        """What the network sees of the evidence; see `Coding.limit`."""
        return self._tensors(self.coding.limit(evidence))

    def _tensors(self, evidence: Evidence) -> tuple[Tensor, Tensor]:
        device = self.frozen.device
        return copy_to(evidence.values, device), copy_to(evidence.observed, device).float()
