"""What the discriminative baselines share."""

import torch

from eddi_benchmarks.baselines.masked import (
    Course,
    Layout,
    MaskedNetwork,
    Pace,
    Rows,
    improve,
    random_masks,
    random_states,
    states,
    walk,
)

LAYOUT = Layout(torch.tensor([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), 0)  # the first question reveals two


def rows(n=6, holes=()):
    random = torch.Generator().manual_seed(0)
    answerable = torch.ones((n, 2), dtype=torch.bool)
    for row, question in holes:
        answerable[row, question] = False
    columns = torch.randn((n, 3), generator=random)
    return Rows(columns, answerable, columns[:, 0])


def test_what_was_not_asked_cannot_matter():
    network = MaskedNetwork(LAYOUT, 1, Pace(width=8)).eval()
    some = rows()
    mask = torch.tensor([[0.0, 1.0]]).repeat(len(some), 1)
    changed = some.columns.clone()
    changed[:, :2] = 99.0
    assert torch.equal(network(some.columns, mask), network(changed, mask))
    changed[:, 2] = 99.0
    assert not torch.equal(network(some.columns, mask), network(changed, mask))


def test_a_row_is_asked_the_best_open_question_and_none_it_has_no_answer_to():
    some = rows(3, holes=[(1, 0), (2, 0), (2, 1)])
    masks, asked = walk(some, lambda _, mask: torch.tensor([2.0, 1.0]).expand(mask.shape), 2)
    assert asked.T.tolist() == [[0, 1], [1, -1], [-1, -1]]
    assert masks[-1].tolist() == [[1, 1], [0, 1], [0, 0]]


def test_masks_hold_only_what_can_be_answered_and_any_number_of_it():
    some = rows(400, holes=[(row, 0) for row in range(200)])
    masks = random_masks(some, torch.Generator().manual_seed(0))
    assert not masks[:200, 0].any()
    counts = masks[200:].sum(1).long().bincount(minlength=3) / 200
    assert counts.min() > 0.25  # none, one and two equally often


def test_states_are_those_of_the_walk_in_which_something_was_asked():
    some = rows(4, holes=[(0, 0), (0, 1)])
    course = Course(LAYOUT, 2, Pace(n_states=100), torch.Generator().manual_seed(0))
    network = MaskedNetwork(LAYOUT, 2, course.pace)
    found = states(some, network, course, network)
    assert len(found.asked) == len(found.rows) == 6  # two questions to each of the three that answer
    assert torch.equal((found.after - found.before).argmax(1), found.asked)
    assert found.rows.answerable.all()


def test_in_a_random_state_any_open_question_is_asked():
    some = rows(300, holes=[(row, 0) for row in range(100)])
    found = random_states(some, torch.Generator().manual_seed(0))
    assert torch.equal((found.after - found.before).argmax(1), found.asked)
    assert found.rows.answerable.gather(1, found.asked[:, None]).all()
    assert len(found.rows) < 300  # of some rows everything was known
    assert set(found.asked.tolist()) == {0, 1}


def test_training_keeps_the_weights_that_the_validation_rows_liked_best():
    network = torch.nn.Linear(1, 1)
    seen = []

    def judge():
        seen.append((len(seen) - 2) ** 2)  # best at the third look
        kept.append(network.weight.item())
        return float(seen[-1])

    kept: list[float] = []
    course = Course(LAYOUT, 1, Pace(every=1, patience=3, max_steps=50), torch.Generator())
    improve([network], rows(), lambda batch: network(batch.columns[:, :1]).square().sum(), judge, course)
    assert len(seen) == 6  # three looks in vain after the best
    assert network.weight.item() == kept[2]
