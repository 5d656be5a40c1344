"""Off-policy evaluation: what a model and strategy would have achieved in interviews that others led."""
