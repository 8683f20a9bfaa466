"""Delete incomplete files of compiled Python modules (.pyc).

If the disk is full while Python 3.11 writes a .pyc file, the file can remain incomplete. Every import of the module
then raises an EOFError, even when the disk has space again.
"""

import sys
from contextlib import suppress
from importlib.machinery import SourcelessFileLoader
from pathlib import Path

from vsebench.core.modules import PACKAGE


def delete_incomplete(folder: Path = PACKAGE) -> None:
    """Delete unreadable compiled modules in a folder and its sub-folders.

    Only modules that this version of Python would load are checked.
    """
    for path in folder.rglob(f"__pycache__/*.{sys.implementation.cache_tag}.pyc"):
        with suppress(OSError):  # another process may replace or delete it
            try:
                SourcelessFileLoader("module", str(path)).get_code("module")  # reads it, and executes nothing
            except (EOFError, ImportError, TypeError, ValueError):
                path.unlink()
