"""Ranks, metrics and their uncertainty."""
