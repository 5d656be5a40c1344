"""Reports on benchmark results as HTML, Markdown and JSON."""
