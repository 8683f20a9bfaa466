"""Compare the methods with those of third-party packages: `python -m benchmarks`, or `make benchmark`."""
