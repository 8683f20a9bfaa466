"""Delete incomplete files of Python's compiled modules.

If a disk is full while Python 3.11 writes such a file, an incomplete file can stay there. Each import of the module
then ends in an EOFError, even after there is space again.
"""

import sys
from contextlib import suppress
from importlib.machinery import SourcelessFileLoader
from pathlib import Path

from vsebench.core.modules import PACKAGE


def delete_incomplete(folder: Path = PACKAGE) -> None:
    """Delete the compiled modules below a folder that this Python would try to import, but cannot read."""
    for path in folder.rglob(f"__pycache__/*.{sys.implementation.cache_tag}.pyc"):
        with suppress(OSError):  # another process may replace or delete it
            try:
                SourcelessFileLoader("module", str(path)).get_code("module")  # reads it, and executes nothing
            except (EOFError, ImportError, TypeError, ValueError):
                path.unlink()
