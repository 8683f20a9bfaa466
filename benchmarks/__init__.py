"""Compare the methods with third-party packages for the same task: `python -m benchmarks`, or `make benchmark`."""
