"""The web server: connections with limits, worker processes, and their metrics."""
