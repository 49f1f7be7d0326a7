"""The three benchmarks, one module each."""
