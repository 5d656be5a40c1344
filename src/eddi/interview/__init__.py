"""Interviews: rules, the next step, the ask/tell loop, and risk-controlled stopping."""
