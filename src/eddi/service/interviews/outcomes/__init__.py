"""Outcomes: the true values of the target of a person, which become known after the interview."""
