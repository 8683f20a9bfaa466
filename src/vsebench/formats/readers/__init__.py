"""Adapters that read annotations: one module per file format."""
