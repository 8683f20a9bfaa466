"""Read .npy and .npz files that NumPy, SciPy or a user's program wrote."""

import zipfile
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vsebench.core.errors import UserError, one_line


def load(path: Path, names: Collection[str] = ()) -> Any:
    """Return the memory-mapped array of a .npy file, or a dict of arrays of an .npz file.

    The dict contains only the arrays that `names` lists and that the file has. Pickled objects are not loaded. If the
    file is missing or damaged, or if a member in `names` is not an array, a `UserError` says so.
    """
    try:
        content = np.load(path, mmap_mode="r", allow_pickle=False)
        if isinstance(content, np.ndarray):
            return content
        with content:
            return {name: _member(content.zip, f"{name}.npy") for name in names if name in content.files}
    except Exception as error:  # damaged bytes make NumPy's reader raise a dozen kinds of errors
        raise UserError(f"{path}: not a readable {path.suffix} file ({one_line(error)})") from None


def _member(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    with archive.open(name) as member:
        magic = np.lib.format.MAGIC_PREFIX
        if not member.peek(len(magic)).startswith(magic):  # type: ignore[attr-defined]  # ZipExtFile has peek
            raise ValueError(f"{name} is not an array")
        array: NDArray[Any] = np.lib.format.read_array(member, allow_pickle=False)
        if member.read(1):  # at the end of the member, this read also verifies its checksum
            raise ValueError(f"{name} is longer than its header states")
    return array


def texts(array: NDArray[Any], where: str) -> list[str]:
    """Convert an array of text, UTF-8 bytes or whole numbers to strings; error messages begin with `where`."""
    try:
        return [value.decode() if isinstance(value, bytes) else str(value) for value in array.tolist()]
    except (ValueError, SystemError):  # a SystemError: NumPy found a number that is not the code of a character
        raise UserError(f"{where}: contains something that is not Unicode text") from None
