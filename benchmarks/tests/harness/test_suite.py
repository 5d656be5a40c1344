"""Suites: every combination of values is a run, and errors name the key that is wrong."""

import pytest

from eddi.errors import EddiError
from eddi_benchmarks.harness import suite as suites
from eddi_benchmarks.harness.run_result import RunResult, write_result
from eddi_benchmarks.harness.suite import Run, Suite, SuiteError

TEXT = """
title = "Two datasets"
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
    assert (suite.title, suite.experiment, len(suite.runs)) == ("Two datasets", "uci", 8)
    assert suite.runs[1].name == "boston-zi-m-1"
    assert suite.runs[1].settings == {
        "max_steps": 300,
        "missing": [0.1, 0.5],
        "dataset": "boston",
        "set_encoder": "zi-m",
        "seed": 1,
    }


def test_the_quick_size_changes_only_what_it_names():
    quick = Suite.from_toml("two", TEXT, quick=True)
    assert [run.name for run in quick.runs] == [
        "boston-zi-m-0",
        "boston-pnp-0",
        "yacht-zi-m-0",
        "yacht-pnp-0",
    ]
    assert quick.runs[0].settings["max_steps"] == 20
    assert quick.runs[0].settings["missing"] == [0.1, 0.5]


def test_a_setting_can_apply_to_some_runs_only():
    only = '[[only]]\nwhen = { set_encoder = "pnp" }\nsettings = { term = "published" }\n'
    terms = {run.name: run.settings.get("term") for run in Suite.from_toml("two", TEXT + only).runs}
    assert terms["boston-pnp-0"] == terms["yacht-pnp-1"] == "published"
    assert terms["boston-zi-m-0"] is None


def test_the_quick_size_has_its_own_folder(tmp_path):
    full, quick = (Suite.from_toml("two", TEXT, quick=quick) for quick in (False, True))
    assert full.folder(tmp_path) == tmp_path / "two"
    assert quick.folder(tmp_path) == tmp_path / "two-quick"


def test_a_suite_that_varies_nothing_has_one_run():
    suite = Suite.from_toml("one", HEAD + "[settings]\nseed = 3\n")
    assert suite.runs == (Run("run", {"seed": 3}),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("title = ", "'broken' is not TOML"),
        ('experiment = "uci"', "needs a text as its 'title', got None"),
        ('title = "T"\nexperiment = 3', "needs a text as its 'experiment', got 3"),
        (HEAD + "[setings]\na = 1", "unknown key 'setings'. Allowed keys: title, experiment, over"),
        (HEAD + "[quick.ovr]\na = [1]", "unknown key 'quick.ovr'"),
        (HEAD + "[over]\na = [1]\n[quick.over]\nb = [1]", "unknown key 'quick.over.b'"),
        (HEAD + "over = 3", r"needs a table \[over\], got 3"),
        (HEAD + "[over]\nseed = 3", "needs a list of values in over.seed, got 3"),
        (HEAD + "[over]\nseed = []", r"needs a list of values in over.seed, got \[\]"),
        (HEAD + "[over]\nseed = [1]\n[settings]\nseed = 1", "'seed' both in over and in settings"),
        (HEAD + "[over]\na = [[1, 2]]", r"has \[1, 2\] in over.a"),
        (HEAD + "[settings]\nday = 2020-01-01", "in settings.day"),
        (HEAD + "[settings]\nnothing = nan", "has nan in settings.nothing"),
        (HEAD + '[over]\na = ["x-y", "x"]\nb = ["z", "y-z"]', "two runs named 'x-y-z'"),
        (HEAD + '[over]\na = ["../up"]', "run named '../up' in over, which cannot be a file name"),
    ],
)
def test_the_error_of_an_invalid_suite_names_the_key(text, message):
    with pytest.raises(SuiteError, match=message):
        Suite.from_toml("broken", text, quick=True)


def test_the_error_of_an_unknown_suite_suggests_the_closest_and_lists_all():
    with pytest.raises(EddiError) as caught:
        Suite.load("slef-test")
    assert "Did you mean 'self-test'?" in str(caught.value)
    assert all(name in str(caught.value) for name in suites.suite_names())


@pytest.mark.parametrize("name", suites.suite_names())
@pytest.mark.parametrize("quick", [False, True])
def test_every_suite_of_the_package_is_valid(name, quick):
    suite = Suite.load(name, quick=quick)
    assert suite.runs
    assert all("seed" in run.settings for run in suite.runs)


def test_suites_are_in_the_order_of_the_paper_then_alphabetical(tmp_path, monkeypatch):
    expected = ["paper-mnist", "paper-uci", "paper-uci-published", "paper-icu", "a", "paper-unknown"]
    for name in expected:
        (tmp_path / f"{name}.toml").touch()
    (tmp_path / "notes.txt").touch()
    monkeypatch.setattr(suites, "_SUITE_FOLDER", tmp_path)
    assert suites.suite_names() == expected


def test_only_complete_results_of_the_current_settings_count_as_finished(tmp_path):
    suite = Suite.from_toml("two", TEXT)
    folder = suite.folder(tmp_path)
    first, second, third = suite.runs[:3]
    write_result(folder, RunResult(first.name, {**first.settings, "max_steps": 1}, {}, {}))
    write_result(folder, RunResult(second.name, second.settings, {}, {}))
    (folder / f"{third.name}.json").write_text('{"settings": ')
    assert [result.run for result in suite.results(tmp_path)] == [second.name]


def test_conditions_select_runs():
    suite = Suite.from_toml("two", TEXT).select(["dataset=boston", "seed=0,1", "set_encoder=pnp"])
    assert [run.name for run in suite.runs] == ["boston-pnp-0", "boston-pnp-1"]
    assert len(Suite.from_toml("two", TEXT).select([]).runs) == 8


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        (
            ["data=boston"],
            r"no setting 'data', in 'data=boston'\. Write KEY=VALUE.*dataset, set_encoder",
        ),
        (["dataset"], r"has dataset=\. Available values: boston, yacht"),
        (
            ["seed=0", "dataset=wine"],
            r"no run of 'two' has dataset=wine\. Available values: boston, yacht",
        ),
        (["seed=0", "seed=1"], r"no run of 'two' meets all of seed=0, seed=1"),
    ],
)
def test_the_error_of_a_condition_names_the_settings_and_values(conditions, message):
    with pytest.raises(SuiteError, match=message):
        Suite.from_toml("two", TEXT).select(conditions)
