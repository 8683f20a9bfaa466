"""Checks of published numbers, one module per family.

A check is a public function that has a single parameter `cells` (a `PrintedCells`) and yields a `Finding` for each
number that it judges. `papers.audit.checking` finds all checks; there is no list of them.
"""
