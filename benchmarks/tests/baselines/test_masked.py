"""Networks and interviews that GDFS and DIME share."""

import torch

from eddi_benchmarks.baselines.masked import (
    Layout,
    MaskedNetwork,
    Rows,
    Task,
    TrainingSettings,
    random_masks,
    random_states,
    simulate_interviews,
    visited_states,
)

LAYOUT = Layout(
    torch.tensor([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), 0
)  # the first question reveals two columns


def make_rows(n=6, unanswerable=()):
    random = torch.Generator().manual_seed(0)
    answerable = torch.ones((n, 2), dtype=torch.bool)
    for row, question in unanswerable:
        answerable[row, question] = False
    columns = torch.randn((n, 3), generator=random)
    return Rows(columns, answerable, columns[:, 0])


def test_columns_that_were_not_asked_have_no_effect():
    network = MaskedNetwork(LAYOUT, 1, width=8, dropout=0.1).eval()
    rows = make_rows()
    mask = torch.tensor([[0.0, 1.0]]).repeat(len(rows), 1)
    changed = rows.columns.clone()
    changed[:, :2] = 99.0
    assert torch.equal(network(rows.columns, mask), network(changed, mask))
    changed[:, 2] = 99.0
    assert not torch.equal(network(rows.columns, mask), network(changed, mask))


def test_a_row_is_asked_the_best_question_that_it_has_an_answer_to():
    rows = make_rows(3, unanswerable=[(1, 0), (2, 0), (2, 1)])
    masks, asked = simulate_interviews(
        rows, lambda _, mask: torch.tensor([2.0, 1.0]).expand(mask.shape), 2
    )
    assert asked.T.tolist() == [[0, 1], [1, -1], [-1, -1]]
    assert masks[-1].tolist() == [[1, 1], [0, 1], [0, 0]]


def test_random_masks_contain_answerable_questions_of_every_number():
    rows = make_rows(400, unanswerable=[(row, 0) for row in range(200)])
    masks = random_masks(rows, torch.Generator().manual_seed(0))
    assert not masks[:200, 0].any()
    counts = masks[200:].sum(1).long().bincount(minlength=3) / 200
    assert counts.min() > 0.25  # zero, one and two equally often


def test_visited_states_are_those_in_which_a_question_was_asked():
    rows = make_rows(4, unanswerable=[(0, 0), (0, 1)])
    task = Task(LAYOUT, 2, TrainingSettings(n_states=100), torch.Generator().manual_seed(0))
    network = MaskedNetwork(LAYOUT, 2, width=8, dropout=0.0)
    states = visited_states(rows, network, task, network)
    assert len(states.asked) == len(states.rows) == 6  # two questions to each of three rows
    assert torch.equal((states.after - states.before).argmax(1), states.asked)
    assert states.rows.answerable.all()


def test_in_a_random_state_any_open_question_is_asked():
    rows = make_rows(300, unanswerable=[(row, 0) for row in range(100)])
    states = random_states(rows, torch.Generator().manual_seed(0))
    assert torch.equal((states.after - states.before).argmax(1), states.asked)
    assert states.rows.answerable.gather(1, states.asked[:, None]).all()
    assert len(states.rows) < 300  # the others have no open question
    assert set(states.asked.tolist()) == {0, 1}


def test_small_tables_are_validated_after_every_pass_but_not_all_the_time():
    settings = TrainingSettings(batch_size=64, validate_every=50)
    assert [settings.steps_between_validations(n) for n in (40, 1280, 100_000)] == [10, 20, 50]
