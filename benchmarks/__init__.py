"""The methods beside other packages that do the same job: `python -m benchmarks`, or `make benchmark`."""
