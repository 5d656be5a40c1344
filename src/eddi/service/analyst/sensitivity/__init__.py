"""What if values are missing for a reason: the sensitivity analysis of a model, on a page."""
