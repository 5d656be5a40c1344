"""Migrations of model files from one format to the next."""

import json
from pathlib import Path

import pytest
import torch

from eddi.model.certificate import Certificate, CertificateKey, describe_strategy
from eddi.model.files.migrations import FORMAT_VERSION, RENAMED_WEIGHTS, ModelData, migrate
from eddi.strategy import FixedOrder, Information, Lasso, PerCost

CERTIFICATE = {"target": ["ill"], "within": None, "n_rows": 40}


def migrate_strategy(text):
    """The certificates of a file of format 5 whose certificate has this strategy."""
    metadata = {"certificates": [{**CERTIFICATE, "strategy": text}]}
    return migrate(ModelData(metadata, {}), 5).metadata["certificates"]


def test_the_present_format_is_not_changed():
    data = ModelData({"certificates": [CERTIFICATE]}, {"layer.own": torch.ones(1)})
    assert migrate(data, FORMAT_VERSION) is data


def test_format_5_renames_weights_by_the_last_part_of_their_name():
    weights = {f"part.own.{old}": torch.tensor([n]) for n, old in enumerate(RENAMED_WEIGHTS)}
    weights["layer.weight"] = torch.tensor([9])
    migrated = migrate(ModelData({}, weights), 5).weights
    expected = {f"part.own.{new}": n for n, new in enumerate(RENAMED_WEIGHTS.values())}
    assert {name: int(weight) for name, weight in migrated.items()} == {**expected, "layer.weight": 9}


def test_a_file_without_certificates_has_none_after_the_migration():
    metadata = migrate(ModelData({"n_rows": 3}, {}), 5).metadata
    assert metadata["n_rows"] == 3
    assert metadata["certificates"] == []


def test_old_files_ignore_no_variable_and_explore_as_models_do_now():
    old = {"half_after": 20, "share": 1.0, "continuation": 0.5}
    new = migrate(ModelData({"schema": {"exploration": old}}, {}), 10).metadata
    assert new["ignored_variables"] == {}
    assert new["schema"] == {"exploration": {"continuation": 0.5}}


def test_recipes_of_old_files_have_neither_factors_nor_cross_validation():
    recipe = migrate(ModelData({"recipe": {"latent": 4}}, {}), 6).metadata["recipe"]
    assert recipe == {"latent": 4, "set_encoder": "pnp", "factors": 0, "folds": 0}


@pytest.mark.parametrize(
    "strategy",
    [
        Information(),
        Information(reward="latent", n_draws=7, seed=3),
        PerCost(Information(reward="target")),
        FixedOrder(("age", "it's (a) town")),
        Lasso(("age",), seed=1),
    ],
    ids=lambda strategy: type(strategy).__name__,
)
def test_the_strategy_of_a_certificate_is_described_by_its_settings(strategy):
    (certificate,) = migrate_strategy(repr(strategy))
    assert certificate == {**CERTIFICATE, "strategy": describe_strategy(strategy)}
    json.dumps(certificate)


def test_strategies_within_a_tuple_are_described_as_well():
    (certificate,) = migrate_strategy("Vote(members=(Random(seed=1), Random(seed=2)))")
    members = [{"type": "Random", "seed": 1}, {"type": "Random", "seed": 2}]
    assert certificate["strategy"] == {"type": "Vote", "members": members}


def test_a_migrated_certificate_has_the_key_of_its_strategy():
    counts = {"thresholds": [0.9], "n_wrong": [1], "n_asked": [2.0]}
    (document,) = migrate_strategy("Information(reward=None, n_draws=50, seed=0)")
    certificate = Certificate.from_document({**document, **counts})
    assert certificate.key == CertificateKey.create(("ill",), Information(), None)


@pytest.mark.parametrize(
    "text",
    [
        "<__main__.Mine object at 0x7f3a2c0d5e10>",
        "Information(",
        "Information(50)",
        "'Information'",
        "(" * 1_000,
        "Path('created').touch()",
        "Information(seed=Path('created').touch())",
    ],
)
def test_certificates_of_strategies_that_cannot_be_identified_are_dropped(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert migrate_strategy(text) == []
    assert not Path("created").exists()


def test_predictions_of_old_files_contain_no_regression():
    weights = {
        "marginals.factor_share": torch.ones(5),
        "marginals.layer.weight": torch.ones(5, 8),
        "set_encoder.factors.flat_loadings": torch.ones(4 * 3),
        "set_encoder.factors.log_precision": torch.ones(4),
    }
    new = migrate(ModelData({}, weights), 11).weights
    assert new["marginals.level_regressions.loadings"].shape == (5, 3)
    assert new["marginals.level_regressions.constants"].shape == (5,)
    assert not new["marginals.level_regressions.mixing_weight"].any()
    assert migrate(ModelData({}, {}), 11).weights == {}  # without factors
