"""Candidate answers: expectations over the answers to each question."""

import torch

from eddi.reward.candidate_answers import CandidateAnswers

ROWS, QUESTIONS = torch.tensor([0, 0, 1, 1]), torch.tensor([2, 2, 0, 0])
PROBABILITIES = torch.tensor([0.25, 0.75, 0.5, 0.5])


def test_an_expectation_is_added_to_its_row_and_question():
    total = torch.ones(2, 3)
    CandidateAnswers(ROWS, QUESTIONS, PROBABILITIES).add_expectation(
        torch.tensor([4.0, 8.0, 1.0, 3.0]), total
    )
    assert total.tolist() == [[1, 1, 8], [3, 1, 1]]


def test_several_numbers_have_one_expectation_each():
    total = torch.zeros(2, 3, 1, 2)
    values = torch.tensor([[4.0, 0.0], [8.0, 0.0], [1.0, 2.0], [3.0, 6.0]])[:, None]
    CandidateAnswers(ROWS, QUESTIONS, PROBABILITIES).add_expectation(values, total)
    assert total[:, :, 0].tolist() == [[[0, 0], [0, 0], [7, 0]], [[2, 4], [0, 0], [0, 0]]]


def test_answers_of_a_single_row_are_counted_by_question():
    total = torch.zeros(1, 3)
    answers = CandidateAnswers(torch.zeros(2, dtype=torch.long), QUESTIONS[:2], PROBABILITIES[:2])
    answers.add_expectation(torch.tensor([4.0, 8.0]), total)
    assert total.tolist() == [[0, 0, 7]]


def test_only_answers_that_reveal_several_variables_are_drawn():
    answers = CandidateAnswers(ROWS, QUESTIONS, PROBABILITIES, values=torch.zeros(4))
    assert not answers.is_drawn
    assert CandidateAnswers(ROWS, QUESTIONS, PROBABILITIES, code_terms=torch.zeros(4, 2)).is_drawn
