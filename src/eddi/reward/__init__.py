"""Rewards: the expected information of an answer about the target."""
