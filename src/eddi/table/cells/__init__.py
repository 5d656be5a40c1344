"""How the text of a cell is read: number formats, missing values, and several options in one cell."""
