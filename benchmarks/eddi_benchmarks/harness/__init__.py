"""The benchmark harness: suites, experiments, and running them with stored results."""
