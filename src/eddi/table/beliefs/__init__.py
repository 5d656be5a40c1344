"""Prior beliefs, for a start without data."""
