"""A suite is a small TOML file: every combination is a run, and what is wrong with it is told by key."""

import json

import pytest

from eddi.errors import EddiError
from eddi_benchmarks.harness import suite as suites
from eddi_benchmarks.harness.experiment import Outcome
from eddi_benchmarks.harness.suite import Run, Suite, SuiteError, read_outcome, write_outcome

TEXT = """
title = "Two sets"
experiment = "uci"
[over]
dataset = ["boston", "yacht"]
set_encoder = ["zi-m", "pnp"]
seed = [0, 1]
[settings]
max_steps = 300
missing = [0.1, 0.5]
[quick.over]
seed = [0]
[quick.settings]
max_steps = 20
"""
HEAD = 'title = "T"\nexperiment = "uci"\n'


def test_every_combination_is_a_run_with_all_settings():
    suite = Suite.from_toml("two", TEXT)
    assert (suite.title, suite.experiment, len(suite.runs)) == ("Two sets", "uci", 8)
    assert suite.runs[1].name == "boston-zi-m-1"
    assert suite.runs[1].settings == {
        "max_steps": 300,
        "missing": [0.1, 0.5],
        "dataset": "boston",
        "set_encoder": "zi-m",
        "seed": 1,
    }


def test_a_quick_look_changes_only_what_it_names():
    quick = Suite.from_toml("two", TEXT, quick=True)
    assert [run.name for run in quick.runs] == [
        "boston-zi-m-0",
        "boston-pnp-0",
        "yacht-zi-m-0",
        "yacht-pnp-0",
    ]
    assert quick.runs[0].settings["max_steps"] == 20
    assert quick.runs[0].settings["missing"] == [0.1, 0.5]


def test_a_setting_may_concern_some_runs_alone():
    only = '[[only]]\nwhen = { set_encoder = "pnp" }\nsettings = { term = "published" }\n'
    terms = {run.name: run.settings.get("term") for run in Suite.from_toml("two", TEXT + only).runs}
    assert terms["boston-pnp-0"] == terms["yacht-pnp-1"] == "published"
    assert terms["boston-zi-m-0"] is None


def test_a_quick_look_has_a_folder_of_its_own(tmp_path):
    full, quick = (Suite.from_toml("two", TEXT, quick=quick) for quick in (False, True))
    assert full.folder(tmp_path) == tmp_path / "two"
    assert quick.folder(tmp_path) == tmp_path / "two-quick"


def test_a_suite_that_varies_nothing_is_one_run():
    suite = Suite.from_toml("one", HEAD + "[settings]\nseed = 3\n")
    assert suite.runs == (Run("run", {"seed": 3}),)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("title = ", "'broken' is not TOML"),
        ('experiment = "uci"', "needs a text as its 'title', got None"),
        ('title = "T"\nexperiment = 3', "needs a text as its 'experiment', got 3"),
        (HEAD + "[setings]\na = 1", "unknown key 'setings'"),
        (HEAD + "[quick.ovr]\na = [1]", "unknown key 'quick.ovr'"),
        (HEAD + "[over]\na = [1]\n[quick.over]\nb = [1]", "unknown key 'quick.over.b'"),
        (HEAD + "over = 3", r"needs a table \[over\], got 3"),
        (HEAD + "[over]\nseed = 3", "no list of values in over.seed: 3"),
        (HEAD + "[over]\nseed = []", r"no list of values in over.seed: \[\]"),
        (HEAD + "[over]\nseed = [1]\n[settings]\nseed = 1", "'seed' both in over and in settings"),
        (HEAD + "[over]\na = [[1, 2]]", r"has \[1, 2\] in over.a"),
        (HEAD + "[settings]\nday = 2020-01-01", "in settings.day"),
        (HEAD + "[settings]\nnothing = nan", "has nan in settings.nothing"),
        (HEAD + '[over]\na = ["x-y", "x"]\nb = ["z", "y-z"]', "two runs named 'x-y-z'"),
        (HEAD + '[over]\na = ["../up"]', "run named '../up' in over, which cannot be a file's name"),
    ],
)
def test_what_is_wrong_with_a_suite_is_told_by_its_key(text, words):
    with pytest.raises(SuiteError, match=words):
        Suite.from_toml("broken", text, quick=True)


def test_an_unknown_suite_is_told_its_nearest_name_and_all_there_are():
    with pytest.raises(EddiError) as caught:
        Suite.load("slef-test")
    assert "Did you mean 'self-test'?" in str(caught.value)
    assert all(name in str(caught.value) for name in suites.names())


@pytest.mark.parametrize("name", suites.names())
@pytest.mark.parametrize("quick", [False, True])
def test_every_suite_of_the_package_can_be_read(name, quick):
    suite = Suite.load(name, quick=quick)
    assert suite.runs
    assert all("seed" in run.settings for run in suite.runs)


def test_suites_come_in_the_order_of_the_paper_with_variants_behind_and_then_the_others(
    tmp_path, monkeypatch
):
    expected = ["paper-mnist", "paper-uci", "paper-uci-published", "paper-icu", "a", "paper-unheard"]
    for name in expected:
        (tmp_path / f"{name}.toml").touch()
    (tmp_path / "notes.txt").touch()
    monkeypatch.setattr(suites, "_FOLDER", tmp_path)
    assert suites.names() == expected


def test_an_outcome_is_kept_and_read_again(tmp_path):
    run = Run("yacht-0", {"dataset": "yacht", "seed": 0, "share": 0.5, "sizes": [1, 2]})
    write_outcome(tmp_path, Outcome(run.name, run.settings, {"rmse": [1.5]}, {"seconds": 2.0}))
    outcome = read_outcome(tmp_path, run)
    assert outcome == Outcome(
        run.name, run.settings, {"rmse": [1.5]}, {"seconds": 2.0}, tmp_path / "yacht-0"
    )
    assert set(json.loads((tmp_path / "yacht-0.json").read_text())) == {
        *("run", "settings", "figures", "circumstances")
    }


def test_only_whole_outcomes_of_the_same_settings_count_as_finished(tmp_path):
    suite = Suite.from_toml("two", TEXT)
    folder = suite.folder(tmp_path)
    first, second, third = suite.runs[:3]
    write_outcome(folder, Outcome(first.name, {**first.settings, "max_steps": 1}, {}, {}))
    write_outcome(folder, Outcome(second.name, second.settings, {}, {}))
    (folder / f"{third.name}.json").write_text('{"settings": ')
    assert [outcome.run for outcome in suite.outcomes(tmp_path)] == [second.name]
