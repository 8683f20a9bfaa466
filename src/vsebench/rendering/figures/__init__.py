"""Kinds of figures (see `rendering.kinds`); related kinds share a module."""
