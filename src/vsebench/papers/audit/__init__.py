"""Recomputing from the published numbers whatever follows from other published numbers."""
