"""What an expert can state about the tables of the cold-start suite before any data are collected.

The statements follow from what the variables mean, as their codebooks describe them, and from common
knowledge of the field. Strengths were not fitted, and no statement was changed after a run. The tables are
public and well known, so their author was not without knowledge of what was found in them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import eddi
from eddi.table.beliefs.statements import Belief, Effect, Relation, Strength
from eddi_benchmarks.data.class_tables import PHQ_ITEMS


@dataclass(frozen=True)
class ExpertBeliefs:
    """Beliefs about single variables, and about their relations."""

    beliefs: tuple[Belief, ...]
    relations: tuple[Relation, ...]

    def add_to(self, schema: eddi.Schema) -> eddi.Schema:
        """The schema with these statements."""
        return replace(schema, beliefs=self.beliefs, relations=self.relations)


def _relate(names: Sequence[str], to: str, effect: Effect, strength: Strength) -> list[Relation]:
    """The same relation of several variables to another one."""
    return [Relation(name, to, effect, strength) for name in names]


PHQ9 = ExpertBeliefs(
    # The target is a threshold on the sum of the items, all of which are symptoms of the same illness. About
    # one adult in twelve is depressed (National Center for Health Statistics), and most have no symptom.
    beliefs=(
        Belief("depression_ge10", shares=(0.92, 0.08)),
        *(Belief(item, shares=(0.7, 0.2, 0.06, 0.04)) for item in PHQ_ITEMS),
    ),
    relations=(
        *_relate(PHQ_ITEMS, "depression_ge10", "raises", "strong"),
        *(Relation(item, other, "raises", "strong") for item, other in combinations(PHQ_ITEMS, 2)),
    ),
)
WINE = ExpertBeliefs(
    beliefs=(Belief("quality", typical=5.5, spread=1.0),),
    relations=(
        # Volatile acidity is a fault. Ripe grapes give alcohol, sulphates protect from oxidation, citric acid
        # adds freshness, and much sulphur dioxide can be tasted.
        Relation("alcohol", "quality", "raises", "moderate"),
        Relation("volatile_acidity", "quality", "lowers", "moderate"),
        *_relate(["sulphates", "citric_acid"], "quality", "raises", "weak"),
        Relation("total_sulfur_dioxide", "quality", "lowers", "weak"),
        # Chemistry: alcohol is lighter than water, acids lower the pH, and a total contains its part.
        Relation("alcohol", "density", "lowers", "moderate"),
        *_relate(["fixed_acidity", "citric_acid"], "pH", "lowers", "moderate"),
        Relation("free_sulfur_dioxide", "total_sulfur_dioxide", "raises", "strong"),
    ),
)
BANK = ExpertBeliefs(
    # One call in ten succeeds. Savings and earlier contacts help, debts and repeated calls do not.
    beliefs=(Belief("y", shares=(0.9, 0.1)),),
    relations=(
        *_relate(["balance", "previous", "pdays"], "y", "raises", "weak"),
        *_relate(["housing", "loan", "campaign"], "y", "lowers", "weak"),
        Relation("pdays", "previous", "raises", "strong"),
    ),
)
EXPERT_BELIEFS = {"phq9_nhanes": PHQ9, "wine_red": WINE, "bank_marketing": BANK}
"""By dataset."""
