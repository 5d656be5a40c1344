"""How requests with JSON are read."""
