"""Analyses of fitted models, one module each (see `base`)."""

from vsebench.core.modules import modules_in


def known_analyses() -> tuple[str, ...]:
    """Return the names of all analyses, sorted."""
    return tuple(name for name in modules_in("evaluation/analyses") if name != "base")
