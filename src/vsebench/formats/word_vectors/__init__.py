"""Adapters of files of word vectors, and how a label gets its vector."""
