"""Recompute published numbers that follow from other published numbers."""
