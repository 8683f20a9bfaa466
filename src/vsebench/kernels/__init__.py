"""Compiled inner loops. Each has a plain-NumPy twin in tests/reference."""
