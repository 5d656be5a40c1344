"""Repeated measurements: long tables and visit tables become rows, one per person and decision time."""
