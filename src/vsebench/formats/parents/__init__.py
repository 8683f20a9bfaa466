"""Adapters of the parents of labels, from which siblings follow."""
