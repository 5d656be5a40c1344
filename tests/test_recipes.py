"""The public recipes, whose single settings can be changed."""

from dataclasses import replace

import eddi
from eddi import recipes


def test_single_settings_of_a_recipe_can_be_changed(people):
    recipe = replace(eddi.recipes.DEFAULT, hidden=(32, 32), term=16)
    model = eddi.PartialVAE(recipe=recipe, max_steps=2, random_state=0).fit(people(60, 0))
    assert model.recipe_.hidden == (32, 32)
    assert recipes.PAPER.latent == 10
