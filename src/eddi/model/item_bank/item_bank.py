"""An item bank as a model: exact posteriors of traits from item parameters, without training."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from eddi.errors import SchemaError, TableError
from eddi.model.cache import Cache
from eddi.model.certificate import Certificate, CertificateKey
from eddi.model.inference.predictive import PredictiveDistribution
from eddi.model.inference.summary import insert_observed, summarise
from eddi.model.item_bank.grid_distribution import GridDistribution
from eddi.model.item_bank.item import Item
from eddi.model.item_bank.response_table import Numbers, ResponseTable
from eddi.model.item_bank.trait import Trait
from eddi.model.network.heads import Heads
from eddi.model.network.likelihood import Categorical, VariableSpec
from eddi.model.prediction import Predictions
from eddi.table import columns, fill, formats
from eddi.table.coding import Coding
from eddi.table.evidence import Evidence
from eddi.table.mismatches import Mismatches, Unknown
from eddi.table.schema import Schema
from eddi.table.variable import Kind

CHUNK_CELLS = 4_000_000  # numbers per array: 32 MB
MIN_WEIGHT = 1e-300  # of a point of the grid, so that its logarithm is finite
CERTAIN = -1e4  # log weight of points other than a known value of the trait


@dataclass(eq=False)
class ItemBank:
    """Items with known parameters. It implements the `Model` protocol.

    The schema has one variable and one question per item, and one variable per trait, which is never
    asked. Each item measures one trait, and traits are independent. A posterior is computed on a grid,
    without approximation.

    Args:
        schema: the variables and questions.
        items: the parameters of the items.
        traits: the traits.
        target: the traits, or items, to predict; all traits if empty.
        certificates: results of `eddi.certify`, for risk-controlled stopping.
    """

    schema: Schema
    items: tuple[Item, ...]
    traits: tuple[Trait, ...]
    target: tuple[str, ...] = ()
    certificates: dict[CertificateKey, Certificate] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_parts(self.schema, self.items, self.traits)
        names = tuple(trait.name for trait in self.traits)
        self.target = self.schema.target_names(self.target or names)

    @classmethod
    def from_csv(cls, path: str | PathLike[str], *, trait: Trait | None = None) -> "ItemBank":
        """Read an item bank from a table with one item per row; see `item_file.read`."""
        from eddi.model.item_bank.item_file import read

        return read(path, trait=trait)

    def __repr__(self) -> str:
        return f"<ItemBank: {len(self.items)} items, target {', '.join(self.target)}>"

    def fitted(self) -> "ItemBank":
        """This item bank: its parameters are known."""
        return self

    @property
    def validation_rows(self) -> Evidence | None:
        """None: an item bank is not trained."""
        return None

    @property
    def n_rows_(self) -> int:
        """0: an item bank is not trained."""
        return 0

    @property
    def n_answers_(self) -> NDArray[np.float64]:
        """Infinite: the parameters of an item bank are known [variables]."""
        return np.full(len(self.schema.variables), np.inf)

    @property
    def cache(self) -> Cache:
        """Results that depend on the item bank alone."""
        return self._cache

    @cached_property
    def _cache(self) -> Cache:
        return Cache()

    @property
    def coding(self) -> Coding:
        """The map between reported scores and the scale of the item parameters; levels are positions."""
        return self._coding

    @cached_property
    def _coding(self) -> Coding:
        by_name = {trait.name: trait for trait in self.traits}
        units = [
            (by_name[name].report_mean, by_name[name].report_sd) if name in by_name else (0.0, 1.0)
            for name in self.schema.names
        ]
        shift, scale = np.array(units).T
        coding = Coding(shift, scale, np.zeros(len(units), dtype=bool))
        return coding.with_schema_range(self.schema)

    @cached_property
    def responses(self) -> ResponseTable:
        """The response probabilities of the items."""
        return ResponseTable(self.items, self.traits)

    @cached_property
    def _item_positions(self) -> list[int]:
        return self.schema.positions(item.name for item in self.items)

    @cached_property
    def _trait_positions(self) -> list[int]:
        return self.schema.positions(trait.name for trait in self.traits)

    @cached_property
    def _item_questions(self) -> NDArray[np.int64]:
        """The position of each item's question [items]."""
        reveals = self.schema.reveals_mask[:, self._item_positions]  # [questions, items]
        return np.asarray(reveals.argmax(0))

    def evidence(
        self,
        table: Any,
        *,
        optional: Sequence[str] = (),
        hidden: Sequence[str] = (),
        unknown: Unknown = "ignore",
    ) -> Evidence:
        """The rows of a table as evidence; see `Model.evidence`.

        Columns of traits may be absent. An array has the items in order, with or without the traits.
        """
        rows = formats.read(table)
        traits = [trait.name for trait in self.traits]
        if formats.is_array(table):
            rows = rows.rename_columns(self._array_columns(len(rows.column_names)))
        mismatches = Mismatches.collect(unknown)
        numbers = columns.table_to_numbers(
            rows, self.schema, optional=(*optional, *traits), hidden=hidden, mismatches=mismatches
        )
        if mismatches is not None:
            mismatches.warn()
        return self.coding.encode(numbers)

    def _array_columns(self, n_columns: int) -> list[str]:
        for names in ([item.name for item in self.items], list(self.schema.names)):
            if len(names) == n_columns:
                return names
        raise TableError(
            f"the array has {n_columns} columns; the item bank has {len(self.items)} items. "
            "Give one column per item, in order."
        )

    def trait_weights(self, evidence: Evidence) -> Numbers:
        """Posterior probabilities of the points of every trait's grid [rows, traits, points]."""
        levels = evidence.values[:, self._item_positions].round().astype(np.int64)
        total = self.responses.log_posterior(levels, evidence.observed[:, self._item_positions])
        for place, position in enumerate(self._trait_positions):
            is_known = evidence.observed[:, position]
            if is_known.any():
                grid = self.traits[place].grid
                nearest = np.abs(grid - evidence.values[is_known, position, None]).argmin(1)
                total[is_known, place] = np.where(np.arange(len(grid)) == nearest[:, None], 0.0, CERTAIN)
        weights = np.exp(total - total.max(-1, keepdims=True))
        return np.asarray(weights / weights.sum(-1, keepdims=True))

    def mutual_information(self, evidence: Evidence, target: Sequence[str]) -> Tensor:
        """Expected information of each question about the target, in nats [rows, questions]: exact.

        The information about several targets is added up.
        """
        total = np.zeros((len(evidence), len(self.schema.questions)))
        parts = [self._item_rewards(chunk, target) for chunk in self._chunks(evidence)]
        total[:, self._item_questions] = np.concatenate(parts)
        return torch.from_numpy(total)

    def _item_rewards(self, evidence: Evidence, target: Sequence[str]) -> Numbers:
        """Expected information of each item about the targets that are not observed [rows, items]."""
        weights = self.trait_weights(evidence)
        rewards = np.zeros((len(evidence), len(self.items)))
        for name in dict.fromkeys(target):
            position = self.schema.position(name)
            if position in self._trait_positions:
                place = self._trait_positions.index(position)
                information = self.responses.trait_information(weights, place)
            else:
                place = self._item_positions.index(position)
                information = self.responses.item_information(weights, place)
                information[:, place] = 0.0  # the target itself is not asked
            rewards += np.where(evidence.observed[:, [position]], 0.0, information)
        return np.where(evidence.observed[:, self._item_positions], 0.0, rewards)

    def fisher_information(self, evidence: Evidence, target: Sequence[str]) -> Tensor:
        """Fisher information of each question at the posterior means [rows, questions].

        It is 0 for items that do not measure a trait among the targets. Traits have the scale of the item
        parameters.
        """
        weights = self.trait_weights(evidence)
        means = [weights[:, place] @ trait.grid for place, trait in enumerate(self.traits)]
        total = np.zeros((len(evidence), len(self.schema.questions)))
        measures_target = np.array([item.trait in target for item in self.items])
        total[:, self._item_questions] = self.responses.fisher_information(means) * measures_target
        return torch.from_numpy(total)

    def predict_evidence(self, evidence: Evidence, names: Sequence[str]) -> Predictions:
        """Predictions of the named variables; observed values are predicted with certainty."""
        distributions = self.predictive_distributions(evidence)
        predictions = summarise(distributions, self.schema, self.coding, names)
        positions = self.schema.positions(names)
        observed = evidence.observed[:, positions]
        if not observed.any():
            return predictions
        numbers = fill.round_to_valid(self.coding.decode(evidence.values), self.schema)
        return insert_observed(predictions, numbers[:, positions], observed)

    def predictive_distributions(
        self,
        evidence: Evidence,
        *,
        variables: Sequence[int] | None = None,  # noqa: ARG002  # those of all are computed together
    ) -> Iterator[PredictiveDistribution]:
        """The distribution of every variable, for consecutive chunks of rows."""
        for chunk in self._chunks(evidence):
            weights = self.trait_weights(chunk)
            levels = np.maximum(self.responses.predict(weights), MIN_WEIGHT)
            ordered = np.maximum(weights[:, np.argsort(self._trait_positions)], MIN_WEIGHT)
            by_kind = [np.log(ordered).reshape(len(chunk), -1)]
            by_kind += [np.log(levels[:, place, : item.n_levels]) for place, item in self._sorted_items]
            outputs = torch.from_numpy(np.concatenate(by_kind, axis=1))
            yield PredictiveDistribution.from_outputs(self._heads, outputs[None])

    @cached_property
    def _sorted_items(self) -> list[tuple[int, Item]]:
        """The items with their places, in the order of the outputs of the heads."""
        order = self._heads.by_kind.tolist()
        places = {position: place for place, position in enumerate(self._item_positions)}
        return [(places[p], self.items[places[p]]) for p in order if p in places]

    @cached_property
    def _heads(self) -> Heads:
        specs = [
            VariableSpec(v.kind, v.n_levels, shift, scale)
            for v, shift, scale in zip(
                self.schema.variables, self.coding.shift, self.coding.scale, strict=True
            )
        ]
        order = np.argsort(self._trait_positions)
        grids = torch.from_numpy(np.stack([self.traits[place].grid for place in order]))
        return Heads(
            specs,
            {
                Kind.REAL: lambda group: GridDistribution(group, grids),
                Kind.BINARY: Categorical,
                Kind.ORDINAL: Categorical,
            },
        )

    def log_prob(self, evidence: Evidence, truth: Evidence) -> Numbers:
        """log p(x_d | x_O) of the true values [rows, variables], in nats of the reported units."""
        parts, start = [], 0
        for chunk in self.predictive_distributions(evidence):
            values = torch.from_numpy(truth.values[start : start + chunk.n_rows])
            parts.append(chunk.log_prob(values).numpy())
            start += chunk.n_rows
        return np.concatenate(parts) - np.log(self.coding.scale)

    def draw_tables(self, evidence: Evidence, n_draws: int, *, seed: int) -> Numbers:
        """Joint draws in reported units, independent for each row [draws, rows, variables]."""
        random = np.random.default_rng(seed)
        weights = self.trait_weights(evidence)
        numbers = np.tile(evidence.numbers(), (n_draws, 1, 1))
        shape = (n_draws, len(evidence))
        points = [_draw(weights[:, place], random.random(shape)) for place in range(len(self.traits))]
        for place, position in enumerate(self._trait_positions):
            numbers[..., position] = self.traits[place].grid[points[place]]
        for place, position in enumerate(self._item_positions):
            at_points = self.responses.probabilities[place].T[points[self.responses.trait_of[place]]]
            numbers[..., position] = _draw(at_points, random.random(shape))
        completed = np.where(evidence.observed, evidence.values, numbers)
        return fill.round_to_valid(self.coding.decode(completed), self.schema)

    def schema_answers(self, numbers: Numbers) -> NDArray[np.object_]:
        """Numbers of a table [rows, variables] as answers: levels and scores."""
        answers = np.empty(numbers.shape, dtype=object)
        for column, variable in enumerate(self.schema.variables):
            answers[:, column] = [variable.answer(number) for number in numbers[:, column]]
        return answers

    def best_guesses(self, evidence: Evidence) -> Numbers:
        """The mean or most likely level of every cell in reported units [rows, variables]."""
        parts = []
        for chunk in self.predictive_distributions(evidence):
            guess = chunk.moments()[0].clone()
            for variable, probabilities in chunk.probabilities():
                guess[:, variable] = probabilities.argmax(-1).to(guess.dtype)
            parts.append(guess.numpy())
        return fill.round_to_valid(np.concatenate(parts), self.schema)

    def _chunks(self, evidence: Evidence) -> Iterator[Evidence]:
        n_rows = max(1, CHUNK_CELLS // self.responses.probabilities.size)
        starts = range(0, max(len(evidence), 1), n_rows)  # an empty table is one empty chunk
        return (evidence[start : start + n_rows] for start in starts)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the item bank to a model file, which `eddi.load` reads."""
        from eddi.model.item_bank.bank_file import write_item_bank

        write_item_bank(self, Path(path))

    def to_document(self) -> dict[str, Any]:
        """The item bank as plain JSON."""
        return {
            "schema": self.schema.to_document(),
            "items": [asdict(item) for item in self.items],
            "traits": [asdict(trait) for trait in self.traits],
            "target": list(self.target),
            "certificates": [certificate.to_document() for certificate in self.certificates.values()],
        }

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> "ItemBank":
        """The item bank that `to_document` describes."""
        certificates = map(Certificate.from_document, document["certificates"])
        return cls(
            Schema.from_document(document["schema"]),
            tuple(Item(**item) for item in document["items"]),
            tuple(Trait(**trait) for trait in document["traits"]),
            tuple(document["target"]),
            {certificate.key: certificate for certificate in certificates},
        )


def _draw(probabilities: Numbers, uniform: Numbers) -> NDArray[np.int64]:
    """Positions drawn from probabilities [..., positions] with uniform numbers [...]."""
    below = probabilities.cumsum(-1)
    reached = (below < uniform[..., None] * below[..., -1:]).sum(-1)
    return np.asarray(np.minimum(reached, probabilities.shape[-1] - 1), dtype=np.int64)


def _check_parts(schema: Schema, items: Sequence[Item], traits: Sequence[Trait]) -> None:
    """Raise a `SchemaError` if items, traits and variables do not belong together."""
    if not items or not traits:
        raise SchemaError("an item bank needs at least one item and one trait.")
    names = {trait.name for trait in traits}
    expected = sorted([*(item.name for item in items), *(trait.name for trait in traits)])
    if expected != sorted(schema.names):
        raise SchemaError("the variables of an item bank are its items and its traits, each once.")
    for item in items:
        variable = schema[item.name]
        if item.trait not in names:
            raise SchemaError(f"item {item.name!r} measures {item.trait!r}, which is not a trait.")
        if variable.n_levels != item.n_levels or variable.kind not in (Kind.BINARY, Kind.ORDINAL):
            raise SchemaError(
                f"item {item.name!r} has {item.n_levels - 1} thresholds, so its variable must be ordinal "
                f"or binary with {item.n_levels} levels, not {variable.kind} with {variable.n_levels}."
            )
    for trait in traits:
        if schema[trait.name].kind is not Kind.REAL:
            raise SchemaError(f"trait {trait.name!r} must be real, not {schema[trait.name].kind}.")
    if any(len(question.reveals) > 1 for question in schema.questions):
        raise SchemaError("a question of an item bank reveals one variable.")
