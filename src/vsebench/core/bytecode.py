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
    """Delete the compiled modules below a folder that this version of Python would try to import but cannot read."""
    for path in folder.rglob(f"__pycache__/*.{sys.implementation.cache_tag}.pyc"):
        with suppress(OSError):  # another process may replace or delete it
            try:
                SourcelessFileLoader("module", str(path)).get_code("module")  # reads it, and executes nothing
            except (EOFError, ImportError, TypeError, ValueError):
                path.unlink()
