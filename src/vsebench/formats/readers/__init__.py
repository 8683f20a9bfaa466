"""Adapters of annotations: one module per file format."""
