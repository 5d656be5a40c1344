"""The options of the published code have their effects; the defaults are the paper's."""

import numpy as np
import pandas as pd
import pytest
import torch

import eddi
from eddi.errors import StrategyError
from eddi.model.network.posterior import Posterior
from eddi.model.recipe import PAPER
from eddi.strategy import Information
from eddi.table.evidence import Evidence
from eddi_benchmarks.harness.experiment import ExperimentError
from eddi_benchmarks.paper import authors_code
from eddi_benchmarks.paper.authors_code import PublishedReward, divergence

SETTINGS = {"seed": 1, "n_draws": 30, "max_steps": 40, "set_encoder": "pnp"}
PUBLISHED = {**SETTINGS, "kl": "published", "draws": "means", "masks": "published"}


def make_table(n_rows=150):
    random = np.random.default_rng(0)
    x = random.normal(size=(n_rows, 4))
    table = pd.DataFrame(x, columns=["a", "b", "c", "d"])
    table["y"] = x[:, 0] - x[:, 1] + 0.2 * random.normal(size=n_rows)
    return table


@pytest.fixture(scope="module")
def model():
    schema = eddi.Schema(tuple(eddi.Variable(name, "real") for name in ["a", "b", "c", "d", "y"]))
    schema = schema.with_question("both", reveals=["c", "d"])
    estimator = eddi.PartialVAE(schema, "y", recipe="paper", max_steps=400, random_state=0)
    return estimator.fit(make_table()).fitted()


@pytest.fixture(scope="module")
def evidence(model):
    """Rows with different observed variables; some have only c of the question about c and d."""
    observed = np.random.default_rng(1).random((40, 5)) < 0.4
    observed[:, 4] = False
    return model.evidence(make_table(40)).hide(~observed)


def test_with_default_options_the_reward_is_that_of_the_library(model, evidence):
    ours = PublishedReward("true", "noisy", n_draws=50, seed=2).score(model, evidence, ("y",))
    library = Information(n_draws=50, seed=2).score(model, evidence, ("y",))
    torch.testing.assert_close(ours, library, rtol=1e-3, atol=2e-5)
    assert ours.abs().max() > 0.01


def test_the_published_divergence_divides_by_the_standard_deviation():
    after = Posterior(torch.tensor([[1.0, 0.0]]), torch.tensor([[0.5, -1.0]]))
    before = Posterior(torch.tensor([[0.0, 0.0]]), torch.log(torch.tensor([[0.25, 1.0]])))
    true, published = (divergence(after, before, kl) for kl in ("true", "published"))
    torch.testing.assert_close(true, after.kl(before))
    # Only the first mean moved, by 1, with variance 1/4 before: ½ (1 / ¼ − 1 / ½).
    torch.testing.assert_close(true - published, torch.tensor([1.0]))


def test_means_have_no_noise_and_do_not_change_with_the_step(model):
    means, noisy = PublishedReward(draws="means"), PublishedReward(draws="noisy")
    posterior = model.posterior(model.code(Evidence.empty(3, 5)))
    with torch.no_grad():
        values = means._draw_values(model, posterior, 0)
        noise = noisy._draw_values(model, posterior, 0) - values
        assert torch.equal(means._draw_values(model, posterior, 3), values)
        first, later = (noisy._draw_values(model, posterior, n) for n in (0, 3))
        assert not torch.equal(first, later)
    assert values.std(0).mean() < noise.std()
    assert noise.std() == pytest.approx(PAPER.noise, rel=0.6)


def test_each_option_changes_the_reward(model, evidence):
    kinds = [("true", "noisy"), ("true", "means"), ("published", "noisy"), ("published", "means")]
    scores = [PublishedReward(kl, draws).score(model, evidence, ("y",)) for kl, draws in kinds]
    for i, score in enumerate(scores):
        assert torch.isfinite(score).all()
        assert all(not torch.allclose(score, other, rtol=1e-3) for other in scores[:i])


def test_the_score_of_a_row_does_not_depend_on_its_batch(model, evidence):
    strategy = PublishedReward()
    batch = strategy.score(model, evidence, ("y",))
    single = torch.cat([strategy.score(model, evidence[[row]], ("y",)) for row in range(5)])
    torch.testing.assert_close(single, batch[:5], rtol=1e-3, atol=1e-5)


def test_settings_determine_the_reward():
    assert authors_code.make_strategy(SETTINGS) == Information(reward="latent", n_draws=30, seed=1)
    assert authors_code.make_strategy(PUBLISHED) == PublishedReward("published", "means", 30, 1)
    only_kl = {**SETTINGS, "kl": "published"}
    assert authors_code.make_strategy(only_kl) == PublishedReward("published", "noisy", 30, 1)


def test_settings_determine_the_recipe():
    assert authors_code.make_recipe({**SETTINGS, "max_steps": 3000}) == PAPER
    assert authors_code.make_recipe(PUBLISHED).max_missing == 0
    assert authors_code.make_recipe({**SETTINGS, "network": "published"}).hidden == (500, 200)
    assert authors_code.make_recipe(SETTINGS).max_steps == 40
    recipe = authors_code.make_recipe({**SETTINGS, "term": "published"})
    assert (recipe.identity, recipe.offset) == (PAPER.identity + 1, 1)


def test_the_papers_masks_leave_the_table_unchanged():
    table = make_table()
    assert authors_code.training_table(table, SETTINGS) is table


def test_the_published_masks_hide_every_entry_independently_with_probability_one_half():
    table = make_table(150)
    copies = authors_code.training_table(table, PUBLISHED)
    assert len(copies) == 4050  # 40 steps of 100 rows, in whole copies
    hidden = copies.isna().to_numpy()
    np.testing.assert_allclose(hidden.mean(0), 0.5, atol=0.04)
    np.testing.assert_allclose(np.corrcoef(hidden.T), np.eye(5), atol=0.06)
    repeated = np.tile(table.to_numpy(), (27, 1))
    assert (copies.to_numpy()[~hidden] == repeated[~hidden]).all()
    assert copies.equals(authors_code.training_table(table, PUBLISHED))


def test_the_error_of_a_wrong_option_names_it():
    with pytest.raises(ExperimentError, match="masks must be 'paper' or 'published', got 'theirs'"):
        authors_code.read_options({**SETTINGS, "masks": "theirs"})
    with pytest.raises(StrategyError, match="kl must be 'true' or 'published', got 'false'"):
        PublishedReward(kl="false")


def test_means_need_the_coding_of_the_paper():
    estimator = eddi.PartialVAE(target="y", max_steps=1, random_state=0)
    default = estimator.fit(make_table(40)).fitted()
    with pytest.raises(StrategyError, match='recipe="paper"'):
        PublishedReward(draws="means").score(default, Evidence.empty(1, 5), ("y",))


def test_only_changes_from_the_paper_are_described():
    assert authors_code.describe_changes({"max_steps": 3000, "n_draws": 50}) == ()
    settings = {"max_steps": 10_000, "kl": "published", "draws": "means"}
    (text,) = authors_code.describe_changes(settings)
    assert "standard deviation instead of the variance" in text
    assert "10,000 training steps" in text
    assert "hidden independently" not in text
