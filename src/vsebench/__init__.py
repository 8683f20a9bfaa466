"""Reproducible benchmarks for image annotation by label ranking and visual-semantic embedding.

As a library: `fit`, `load`, `evaluate`, `read` and `methods`, described in `vsebench.library`.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vsebench.core.errors import UserError
    from vsebench.library import Fitted, Results, evaluate, fit, load, methods, read

__all__ = ["Fitted", "Results", "UserError", "evaluate", "fit", "load", "methods", "read"]


def __getattr__(name: str) -> Any:
    """Import a name of the library when it is first used, because importing numba and polars takes almost a second."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "vsebench.core.errors" if name == "UserError" else "vsebench.library"
    return getattr(importlib.import_module(module), name)
