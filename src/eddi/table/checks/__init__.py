"""Checks of a table before a model is trained on it."""
