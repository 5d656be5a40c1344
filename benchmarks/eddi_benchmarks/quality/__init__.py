"""Benchmarks of quality: imputation, missing training values, exact information, risk control."""
