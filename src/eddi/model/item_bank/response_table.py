"""Probabilities of all answers to all items on the grids of their traits, and what follows from them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from eddi.model.item_bank.item import MIN_PROBABILITY, Item
from eddi.model.item_bank.trait import Trait

Numbers = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ResponseTable:
    """The response probabilities of the items of an item bank.

    The log posterior of a trait is additive: an answer adds the logarithms of its probabilities.

    Args:
        items: the items.
        traits: the traits that they measure.
    """

    items: tuple[Item, ...]
    traits: tuple[Trait, ...]

    @cached_property
    def trait_of(self) -> NDArray[np.int64]:
        """The position of each item's trait [items]."""
        positions = {trait.name: place for place, trait in enumerate(self.traits)}
        return np.array([positions[item.trait] for item in self.items], dtype=np.int64)

    @cached_property
    def probabilities(self) -> Numbers:
        """P(level | point of the trait's grid) [items, levels, points]; 0 where an item has no level."""
        n_levels = max(item.n_levels for item in self.items)
        table = np.zeros((len(self.items), n_levels, len(self.traits[0].grid)))
        for row, item, trait in zip(table, self.items, self.trait_of, strict=True):
            row[: item.n_levels] = item.probabilities(self.traits[trait].grid).T
        return table

    @cached_property
    def log_probabilities(self) -> Numbers:
        """Logarithms of `probabilities` [items, levels, points]."""
        return np.log(np.maximum(self.probabilities, MIN_PROBABILITY))

    @cached_property
    def entropies(self) -> Numbers:
        """Entropy of the answer at each point of the trait's grid, in nats [items, points]."""
        return np.asarray(-(self.probabilities * self.log_probabilities).sum(1))

    def log_posterior(self, levels: NDArray[np.int64], observed: Mask) -> Numbers:
        """Log posterior of every trait [rows, traits, points], not normalised.

        Args:
            levels: of the answers [rows, items]; ignored where they are not observed.
            observed: True where an item was answered [rows, items].
        """
        prior = np.stack([trait.log_prior for trait in self.traits])
        total = np.tile(prior, (len(levels), 1, 1))
        for place in np.flatnonzero(observed.any(0)):
            rows = np.flatnonzero(observed[:, place])
            total[rows, self.trait_of[place]] += self.log_probabilities[place, levels[rows, place]]
        return total

    def predict(self, weights: Numbers) -> Numbers:
        """Probabilities of the levels of every item [rows, items, levels].

        Args:
            weights: probabilities of the points of every trait's grid [rows, traits, points].
        """
        by_item = weights[:, self.trait_of]  # [rows, items, points]
        return np.asarray(np.einsum("rip,ilp->ril", by_item, self.probabilities, optimize=True))

    def trait_information(self, weights: Numbers, trait: int) -> Numbers:
        """Expected information of every answer about a trait, in nats [rows, items].

        It is the entropy of the predicted answer minus its expected entropy if the trait were known.
        """
        conditional = np.einsum("rip,ip->ri", weights[:, self.trait_of], self.entropies, optimize=True)
        information = _entropy(self.predict(weights)) - conditional
        return np.where(self.trait_of == trait, np.maximum(information, 0.0), 0.0)

    def item_information(self, weights: Numbers, target: int) -> Numbers:
        """Expected information of every answer about the answer to another item, in nats [rows, items]."""
        trait = self.trait_of[target]
        weighted = (
            weights[:, trait, None, :] * self.probabilities[target]
        )  # [rows, target levels, points]
        joint = np.einsum("rtp,ilp->ritl", weighted, self.probabilities, optimize=True)
        n_rows, n_items = joint.shape[:2]
        separate = _entropy(joint.sum(3)) + _entropy(joint.sum(2))
        information = separate - _entropy(joint.reshape(n_rows, n_items, -1))
        return np.where(self.trait_of == trait, np.maximum(information, 0.0), 0.0)

    def fisher_information(self, theta: Sequence[Numbers]) -> Numbers:
        """Fisher information of every item about its trait [rows, items].

        Args:
            theta: values of each trait, on the scale of the item parameters [rows].
        """
        columns = [
            item.fisher_information(theta[trait])
            for item, trait in zip(self.items, self.trait_of.tolist(), strict=True)
        ]
        return np.stack(columns, axis=-1)


def _entropy(probabilities: Numbers) -> Numbers:
    """Entropy over the last axis, in nats."""
    return np.asarray(-(probabilities * np.log(np.maximum(probabilities, MIN_PROBABILITY))).sum(-1))
