"""Decisions: rules that choose an image's label set from scores."""
