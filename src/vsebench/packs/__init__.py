"""Packs: files with the results of a run, for comparisons, for the tables of other runs, and for leaderboards."""
