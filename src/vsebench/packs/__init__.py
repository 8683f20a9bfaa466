"""Packs: the results of a run in one file, which other runs compare with, show beside their own, or rank."""
