"""Public datasets, artificial tables, and small Bayesian networks with known answers."""
