"""Simulated interviews over time: measurements that were recorded answer the questions."""
