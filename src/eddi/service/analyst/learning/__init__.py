"""Learning from stored interviews: training rows, and the comparison of a candidate with the current version."""
