"""Stages of training that several networks take at once."""
