"""EDDI on six UCI tables (section 4.2 of the paper)."""
