"""Accounts of analysts: sign-in, access to questionnaires, and the log of what they did."""
