"""Adapters: one module a file format, and the simulator."""
