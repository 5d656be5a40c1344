"""Fault injection: hostile files, each handled by a process with limits, on this machine only."""
