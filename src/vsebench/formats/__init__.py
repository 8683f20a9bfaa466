"""Adapters: one module per file format or simulator."""
