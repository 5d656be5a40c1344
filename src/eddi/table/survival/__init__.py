"""Survival variables: the time until an event that may not have happened yet."""
