"""Protocols: which labels or images a method learns from, chooses its settings on, and is tested on."""
