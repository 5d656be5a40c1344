"""Interviews for language models: tools of the Model Context Protocol."""
