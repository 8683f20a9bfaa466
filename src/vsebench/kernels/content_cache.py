"""Tell numba where to keep the compiled kernels of this package, under which names, and in which files.

By default, numba takes a kernel from its cache if the kernel's own file is unchanged. It does so even if the kernel
calls a function in another file that has been edited. Here, the name of a compiled kernel contains a hash of its file
and of all files of this package that this file imports.

By default, numba numbers the signatures of a kernel, and keeps the numbers in an index. If two processes compile two
signatures at the same time, these may get the same number, and then a third process loads code for the wrong one.
Here, each signature has its own file, without an index, and a checksum reveals damaged files.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from numba import config
from numba.core import caching
from numba.core.caching import IndexDataCacheFile

from vsebench.core.modules import PACKAGE
from vsebench.core.sources import content_hash

CHECKSUM_LENGTH = sha256().digest_size


class ByContent(caching._CacheLocator):
    """The folder of a compiled kernel.

    This folder is `NUMBA_CACHE_DIR` if that variable is set. Otherwise, it is `__pycache__`, or the user's cache folder
    for numba if `__pycache__` is not writable.
    """

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


class SignatureFiles(IndexDataCacheFile):
    """The compiled code of a kernel: one file per signature, with the signature's key and a checksum."""

    def save(self, key: Any, data: Any) -> None:
        self._save_data(self._name(key), (key, data))

    def load(self, key: Any) -> Any:
        """Return the code with this key; None if its file is missing or damaged: numba then compiles the kernel."""
        name = self._name(key)
        if not self._is_whole(name):
            return None
        saved_key, data = self._load_data(name)
        return data if saved_key == key else None

    def _name(self, key: Any) -> str:
        return str(self._data_name(int(sha256(repr(key).encode()).hexdigest()[:12], 16)))

    def _is_whole(self, name: str) -> bool:
        try:
            content = Path(self._data_path(name)).read_bytes()
        except OSError:
            return False
        return sha256(content[:-CHECKSUM_LENGTH]).digest() == content[-CHECKSUM_LENGTH:]

    def _dump(self, obj: Any) -> bytes:
        dumped: bytes = super()._dump(obj)
        return dumped + sha256(dumped).digest()  # what follows the end of a pickled object is ignored


def files_of(cache_path: str, filename_base: str, source_stamp: Any) -> IndexDataCacheFile:
    """Return the files of a compiled function; for functions of other packages, numba's own class is used."""
    of_this_package = isinstance(source_stamp, str) and f"-{source_stamp}." in filename_base
    kind = SignatureFiles if of_this_package else IndexDataCacheFile
    return kind(cache_path, filename_base, source_stamp)


def key_kernels_by_content() -> None:
    """Let numba find the compiled kernels of this package under names that contain hashes of their source files."""
    if ByContent not in caching.CacheImpl._locator_classes:
        caching.CacheImpl._locator_classes.insert(0, ByContent)
        caching.IndexDataCacheFile = files_of
