"""Analyses of fitted models, one module each (see `base`)."""

from vsebench.core.modules import modules_in


def known_analyses() -> tuple[str, ...]:
    """Return the sorted names of all analyses."""
    return tuple(name for name in modules_in("evaluation/analyses") if name != "base")
