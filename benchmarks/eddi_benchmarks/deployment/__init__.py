"""Simulated deployments: respondents arrive one by one, and a model learns from their answers."""
