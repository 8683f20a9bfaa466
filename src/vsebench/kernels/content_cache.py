"""Tell numba where to keep the compiled kernels of this package, and under which names.

By default, numba takes a kernel from its cache if the kernel's own file is unchanged. It does so even if the kernel
calls a function in another file, and that file has been edited. Here, the name of a compiled kernel contains a hash of
its file and of all files of this package that it imports.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba import config
from numba.core import caching

from vsebench.core.modules import PACKAGE
from vsebench.core.sources import content_hash


class ByContent(caching._CacheLocator):
    """The folder of a compiled kernel: `NUMBA_CACHE_DIR`, `__pycache__`, or the user's cache folder for numba."""

    def __init__(self, function: Callable[..., Any], file: Path, folder: Path) -> None:
        self.line = function.__code__.co_firstlineno
        self.content = content_hash(file)
        self.folder = folder

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> "ByContent | None":
        """Return the locator of a function, or None if the function is not in this package or no folder is writable."""
        file = Path(py_file)
        if not (file.is_relative_to(PACKAGE) and file.is_file()):
            return None
        of_user = Path(caching.AppDirs(appname="numba", appauthor=False).user_cache_dir) / "vsebench"
        for folder in [Path(config.CACHE_DIR)] if config.CACHE_DIR else [file.parent / "__pycache__", of_user]:
            locator = cls(py_func, file, folder)
            with suppress(OSError):
                locator.ensure_cache_path()
                return locator
        return None

    def get_cache_path(self) -> str:
        return os.fspath(self.folder)

    def get_source_stamp(self) -> str:
        return self.content

    def get_disambiguator(self) -> str:
        return f"{self.line}-{self.content}"


def key_kernels_by_content() -> None:
    """Let numba find the compiled kernels of this package under names that contain hashes of their source files."""
    if ByContent not in caching.CacheImpl._locator_classes:
        caching.CacheImpl._locator_classes.insert(0, ByContent)
