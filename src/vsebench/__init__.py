"""Reproducible benchmarks for image annotation by label ranking and visual-semantic embedding."""
