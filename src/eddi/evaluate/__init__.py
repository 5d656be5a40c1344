"""Evaluation: simulated interviews, information curves, calibration, comparisons and plots."""
