"""Precision-weighted factors: a Gaussian factor model of all variables, as part of the code."""
