"""Evaluation of adaptive tests: information of items, standard errors, exposure."""
