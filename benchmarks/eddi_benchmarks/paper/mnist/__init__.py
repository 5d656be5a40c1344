"""Inpainting of handwritten digits (section 4.1 of the paper)."""
