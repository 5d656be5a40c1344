"""How the kind of a column is guessed from its name and its values."""
