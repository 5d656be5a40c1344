"""Inference with a trained network: packed weights, marginal predictions, answers, draws."""
