"""Checks of published numbers, one module per family.

A check is a public function with one parameter, `cells` (a `PrintedCells`), that yields a `Finding` for each number
that it judges. `papers.audit.checking` finds it by its name; nothing lists the checks.
"""
