"""Tell numba in which folders, and under which names, to keep the compiled kernels of this package.

By default, numba takes a kernel from its cache if the kernel's own file is unchanged. It does so even if the kernel
calls a function in another file that has been edited. Here, the name of a compiled kernel contains a hash of its file
and of all files of this package that this file imports, directly or not.

By default, numba numbers the signatures of a kernel, and keeps the numbers in an index. If two processes compile two
signatures at the same time, both signatures may get the same number. A third process may then load the code of the
wrong signature. Here, the name of a file depends on the signature, so no index is needed. A checksum reveals damaged
files.
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
    """The folder of a compiled kernel, and the hash in its file names.

    The folder is `NUMBA_CACHE_DIR` if this environment variable is set. If not, the folder is `__pycache__`. If
    `__pycache__` is not writable, the folder is `vsebench` in the user's cache folder for numba.
    """

    def __init__(self, function: Callable[..., Any], file: Path, folder: Path) -> None:
        self.line = function.__code__.co_firstlineno
        self.content = content_hash(file)
        self.folder = folder

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> "ByContent | None":
        """Return the `ByContent` of a function, or None if it is not in this package or no folder is writable."""
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
    """The files with the compiled code of a kernel, one for each signature.

    A file contains the key of the signature, the code and a checksum.
    """

    def save(self, key: Any, data: Any) -> None:
        self._save_data(self._name(key), (key, data))

    def load(self, key: Any) -> Any:
        """Return the code of the signature with this key, or None if the file is missing, damaged or for another key.

        If the result is None, numba compiles the kernel.
        """
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
    """Return the `SignatureFiles` of a function of this package, or an object of numba's class for other functions."""
    of_this_package = isinstance(source_stamp, str) and f"-{source_stamp}." in filename_base
    kind = SignatureFiles if of_this_package else IndexDataCacheFile
    return kind(cache_path, filename_base, source_stamp)


def key_kernels_by_content() -> None:
    """Let numba find the compiled kernels of this package under names that contain hashes of their source files."""
    if ByContent not in caching.CacheImpl._locator_classes:
        caching.CacheImpl._locator_classes.insert(0, ByContent)
        caching.IndexDataCacheFile = files_of
