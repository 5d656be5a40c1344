"""Trained models: evaluation, decisions on held-out rows, and publishing as questionnaires."""
