"""Item banks in the workshop: known parameters as a table, their precision, and publishing."""
