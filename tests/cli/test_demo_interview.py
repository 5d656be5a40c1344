"""The interview of `eddi demo` shows real questions, real answers and the true result."""

import io

import pytest
from rich.console import Console

from eddi import demo
from eddi.cli import demo_interview
from eddi.errors import EddiError

from .conftest import DemoRun


def interview(run: DemoRun, person: int, width: int = 100) -> str:
    out = io.StringIO()
    demo_interview.interview_person(Console(file=out, width=width), run.model, person)
    return out.getvalue()


@pytest.mark.usefixtures("small_demo")
@pytest.mark.parametrize("width", [80, 100])
def test_it_asks_in_words_and_prints_the_true_result(demo_run: DemoRun, width: int) -> None:
    text = interview(demo_run, 3, width)
    _, held_out = demo.split_table(demo.load_table())
    person = held_out.slice(2, 1).to_pylist()[0]
    joined = " ".join(text.split())
    assert f"showed: {person['blood sugar'].lower()}" in joined
    assert f"(HbA1c {person['HbA1c']}%." in joined
    assert "of 30 questions" in joined
    assert max(map(len, text.splitlines())) <= width


@pytest.mark.usefixtures("small_demo")
def test_a_missing_answer_is_not_known(demo_run: DemoRun, monkeypatch: pytest.MonkeyPatch) -> None:
    table = demo.load_table().slice(0, 5)
    empty = table.drop_columns(
        [name for name in table.column_names if name not in ("blood sugar", "HbA1c")]
    )
    for name in demo.load_schema().names[:-1]:
        empty = empty.append_column(name, [[None] * 5])
    monkeypatch.setattr(demo, "split_table", lambda _: (empty, empty))
    text = interview(demo_run, 1)
    assert "not known" in text
    assert "stopped after 26 of 30 questions" in text  # four depend on an answer


def test_a_person_is_counted_from_1_to_the_number_of_held_out_people() -> None:
    demo_interview.check_person(859)
    with pytest.raises(EddiError, match="between 1 and 859, got 860"):
        demo_interview.check_person(860)
