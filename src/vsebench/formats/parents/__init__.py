"""Adapters that read the parents of labels, from which siblings follow."""
