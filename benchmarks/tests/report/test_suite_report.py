"""A suite as a chapter: what is finished of it, and its numbers as plain JSON."""

import json
from dataclasses import replace

from eddi_benchmarks.harness.experiment import Experiment
from eddi_benchmarks.report.suite_report import Chapter


def test_a_chapter_says_how_much_of_the_suite_it_is(chapter, suite):
    assert chapter.size == "2 of 3 runs"
    assert replace(chapter, n_finished=3).size == "3 runs"
    quick = replace(chapter, suite=replace(suite, quick=True), n_finished=3)
    assert quick.size == "3 runs of a quick look"


def test_the_document_of_a_chapter_holds_its_numbers_and_their_circumstances(chapter):
    document = json.loads(json.dumps(chapter.to_document()))
    assert document["suite"] == "paper-made-up"
    assert document["runs"] == {"finished": 2, "all": 3}
    assert document["circumstances"]["data"] == {"boston": ["ab" * 32]}
    (grid,) = document["grids"]
    assert grid["section"] == "Ranks"
    assert grid["rows"][0][:3] == ["EDDI | first", "5.10 ± 0.02", "5.08"]
    assert grid["best"] == [[0, 1]]


def test_a_chapter_without_pictures_leaves_no_folder(suite, outcomes, tmp_path):
    silent = Experiment(lambda *_: {}, lambda _: (), lambda *_: [])
    Chapter.of(suite, outcomes, silent, tmp_path / "pictures")
    assert not (tmp_path / "pictures").exists()
