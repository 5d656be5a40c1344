"""Texts of a schema in other languages."""
