"""Learning from stored interviews: training rows, and the comparison with the current version."""
