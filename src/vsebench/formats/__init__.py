"""Adapters: one module per file format, and the simulator."""
