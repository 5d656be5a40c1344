"""The published code's switches: each does what it says; without them the reward is the library's."""

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
from eddi_benchmarks.paper import authors_code as published
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
    fitted = eddi.PartialVAE(schema, "y", recipe="paper", max_steps=400, random_state=0)
    return fitted.fit(make_table())


@pytest.fixture(scope="module")
def seen(model):
    """Rows of which different parts are known, c alone of the question about c and d among them."""
    observed = np.random.default_rng(1).random((40, 5)) < 0.4
    observed[:, 4] = False
    return model.evidence(make_table(40)).hide(~observed)


def test_without_switches_the_reward_is_the_librarys(model, seen):
    ours = PublishedReward("true", "noisy", n_draws=50, seed=2).score(model, seen, ("y",))
    theirs = Information(n_draws=50, seed=2).score(model, seen, ("y",))
    # A question about nothing new is worth 0 in both.
    torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=2e-5)
    assert ours.abs().max() > 0.01


def test_the_published_divergence_divides_by_the_standard_deviation():
    asked = Posterior(torch.tensor([[1.0, 0.0]]), torch.tensor([[0.5, -1.0]]))
    before = Posterior(torch.tensor([[0.0, 0.0]]), torch.log(torch.tensor([[0.25, 1.0]])))
    true, code = (divergence(asked, before, kl) for kl in ("true", "published"))
    torch.testing.assert_close(true, asked.kl(before))
    # only the first mean moved, by 1, with variance 1/4 before: ½ (1 / ¼ − 1 / ½)
    torch.testing.assert_close(true - code, torch.tensor([1.0]))


def test_means_have_no_noise_and_do_not_change_with_the_step(model):
    nobody = Evidence.nothing(3, 5)
    means, noisy = PublishedReward(draws="means"), PublishedReward(draws="noisy")
    now = model.posterior(model.code(nobody))
    with torch.no_grad():
        values = means._values(model, now, 0)
        noise = noisy._values(model, now, 0) - values
        assert torch.equal(means._values(model, now, 3), values)
        assert not torch.equal(noisy._values(model, now, 3), noisy._values(model, now, 0))
    assert values.std(0).mean() < noise.std()
    assert noise.std() == pytest.approx(PAPER.noise, rel=0.6)


def test_each_switch_changes_the_reward(model, seen):
    kinds = [("true", "noisy"), ("true", "means"), ("published", "noisy"), ("published", "means")]
    scores = [PublishedReward(kl, draws).score(model, seen, ("y",)) for kl, draws in kinds]
    for place, one in enumerate(scores):
        assert torch.isfinite(one).all()
        assert all(not torch.allclose(one, other, rtol=1e-3) for other in scores[:place])


def test_a_row_scores_the_same_in_any_company(model, seen):
    strategy = PublishedReward()
    together = strategy.score(model, seen, ("y",))
    alone = torch.cat([strategy.score(model, seen[[row]], ("y",)) for row in range(5)])
    torch.testing.assert_close(alone, together[:5], rtol=1e-3, atol=1e-5)


def test_settings_choose_the_reward():
    assert published.information(SETTINGS) == Information(reward="latent", n_draws=30, seed=1)
    assert published.information(PUBLISHED) == PublishedReward("published", "means", 30, 1)
    only_kl = {**SETTINGS, "kl": "published"}
    assert published.information(only_kl) == PublishedReward("published", "noisy", 30, 1)


def test_settings_choose_the_recipe():
    assert published.recipe({**SETTINGS, "max_steps": 3000}) == PAPER
    assert published.recipe(PUBLISHED).max_missing == 0
    assert published.recipe({**SETTINGS, "network": "published"}).hidden == (500, 200)
    assert published.recipe(SETTINGS).max_steps == 40
    own = published.recipe({**SETTINGS, "term": "published"})
    assert (own.identity, own.offset) == (PAPER.identity + 1, 1)


def test_the_papers_masks_leave_the_table_alone():
    table = make_table()
    assert published.training_table(table, SETTINGS) is table


def test_the_published_masks_hide_half_of_every_entry_by_itself():
    table = make_table(150)
    copies = published.training_table(table, PUBLISHED)
    assert len(copies) == 4050  # 40 steps of 100 rows, in whole copies
    hidden = copies.isna().to_numpy()
    np.testing.assert_allclose(hidden.mean(0), 0.5, atol=0.04)
    np.testing.assert_allclose(np.corrcoef(hidden.T), np.eye(5), atol=0.06)
    again = np.tile(table.to_numpy(), (27, 1))
    assert (copies.to_numpy()[~hidden] == again[~hidden]).all()
    assert copies.equals(published.training_table(table, PUBLISHED))


def test_a_wrong_switch_is_named():
    with pytest.raises(ExperimentError, match="masks must be 'paper' or 'published', got 'theirs'"):
        published.switches({**SETTINGS, "masks": "theirs"})
    with pytest.raises(StrategyError, match="kl must be 'true' or 'published', got 'false'"):
        PublishedReward(kl="false")


def test_means_need_the_papers_coding(people_model):
    other = people_model()
    nobody = Evidence.nothing(1, len(other.schema_.variables))
    with pytest.raises(StrategyError, match='recipe="paper"'):
        PublishedReward(draws="means").score(other, nobody, ("stage",))


def test_what_is_not_the_papers_is_said_and_nothing_else():
    assert published.said({"max_steps": 3000, "n_draws": 50}) == ()
    (words,) = published.said({"max_steps": 10_000, "kl": "published", "draws": "means"})
    assert "standard deviation instead of the variance" in words
    assert "10,000 training steps" in words
    assert "hidden with chance" not in words
