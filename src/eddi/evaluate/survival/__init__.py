"""Metrics of survival predictions: concordance, integrated Brier score, calibration at horizons."""
