"""Finding the adapter of a data set by the name of its module."""

import importlib
from pathlib import Path
from types import ModuleType

from vsebench.core.errors import UserError


def load_adapter(name: str, where: str) -> ModuleType:
    """Import the adapter of a data set: a module of vsebench.formats with `Options` and `read`.

    Raises a `UserError` that begins with `where`, the data set's file, if there is no such module.
    """
    known = (Path(__file__).parent / f"{name}.py").is_file()
    module = importlib.import_module(f"vsebench.formats.{name}") if known else None
    if module is None or not hasattr(module, "Options"):
        raise UserError(f"{where}: adapter: there is no adapter named {name!r} in vsebench.formats")
    return module
