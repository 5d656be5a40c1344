"""Benchmark suites, baselines and reports for EDDI. See `benchmarks/README.md`."""
