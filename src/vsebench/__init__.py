"""Reproducible benchmarks for image annotation by label ranking and visual-semantic embedding.

The functions of the library are `fit`, `load`, `evaluate`, `read` and `list_methods`; see `vsebench.library`.
"""

import importlib
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vsebench.core.errors import UserError
    from vsebench.library import Fitted, Results, evaluate, fit, list_methods, load, read

__all__ = ["Fitted", "Results", "UserError", "evaluate", "fit", "list_methods", "load", "read"]


def __getattr__(name: str) -> Any:
    """Import a name of the library on first use, since importing numba and polars takes most of a second."""
    if name == "__version__":
        return version("vsebench")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "vsebench.core.errors" if name == "UserError" else "vsebench.library"
    return getattr(importlib.import_module(module), name)


def __dir__() -> list[str]:
    """Return the names of the library, so that a notebook can complete a name that has not been used yet."""
    return sorted([*__all__, "__version__"])
