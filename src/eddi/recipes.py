"""The recipes of `PartialVAE`.

Change single settings with `dataclasses.replace`::

    recipe = dataclasses.replace(eddi.recipes.DEFAULT, max_steps=2000)
    model = eddi.PartialVAE(recipe=recipe)
"""

from eddi.model.recipe import DEFAULT, PAPER, Recipe

__all__ = ["DEFAULT", "PAPER", "Recipe"]
