"""Survival predictions on pages: the curve as a chart, and risks in words."""
