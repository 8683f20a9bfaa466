"""Analyses of fitted models: each is one module of this folder, found by its name; `base` states the contract."""

from vsebench.core.modules import modules_in


def known_analyses() -> tuple[str, ...]:
    """Return the names of all analyses, sorted."""
    return tuple(name for name in modules_in("evaluation/analyses") if name != "base")
