"""Kinds of tables (see `rendering.kinds`); related kinds share a module."""
