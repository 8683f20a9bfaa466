"""Draw initial embeddings; those that would take too much memory are stored in a temporary file."""

import math
import os
from mmap import mmap
from tempfile import TemporaryFile

import numpy as np

from vsebench.core.errors import UserError
from vsebench.core.storage import is_large
from vsebench.data.problem import Matrix
from vsebench.kernels.vectors import aligned, padded_size


def padded_start(n_rows: int, factors: int, deviation: float, rng: np.random.Generator) -> Matrix:
    """Draw a matrix, (n_rows, K) float32, from a normal distribution with mean 0 and standard deviation `deviation`.

    K is `factors`, rounded up to a multiple of the kernels' LANES; the additional factors are 0.
    """
    start = roomy(n_rows, padded_size(factors))
    if start.shape[1] == factors:
        rng.standard_normal(out=start, dtype=np.float32)
    else:
        start[:, :factors] = rng.standard_normal((n_rows, factors), dtype=np.float32)
    start *= np.float32(deviation)
    return start


def start_memory(n_images: int, n_labels: int, factors: int) -> int:
    """Return the bytes that the vectors of images and labels take; vectors in a temporary file are not counted."""
    tables = (4 * n_rows * factors for n_rows in (n_images, n_labels))
    return sum(n_bytes for n_bytes in tables if not is_large(n_bytes))


def roomy(*shape: int) -> Matrix:
    """Return float32 zeros of the given shape, the first of which starts a cache line.

    An array that would take too much memory is stored in a memory-mapped file in the folder for temporary files
    (TMPDIR). The file has no name, so it vanishes with the array. If it cannot be created, a `UserError` is raised.
    """
    n_bytes = 4 * math.prod(shape)
    if not is_large(n_bytes):
        return aligned(*shape)
    try:
        with TemporaryFile() as file:
            file.truncate(n_bytes)
            # Reserve the space now; if the disk filled up later, the process would be killed.
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, n_bytes)
            return np.frombuffer(mmap(file.fileno(), n_bytes), dtype=np.float32).reshape(shape)
    except OSError as error:
        size = f"{n_bytes / 2**30:,.1f} GiB"
        raise UserError(
            f"vectors of {size} do not fit into a temporary file ({error}); set TMPDIR to a folder on a larger disk"
        ) from None


def project_rows(matrix: Matrix, maximum_norm: float) -> None:
    """Shorten each row of a matrix, (n, K) float32, in place, to a length of at most `maximum_norm`.

    If `maximum_norm` is 0, nothing is changed.
    """
    if maximum_norm > 0:
        lengths = np.sqrt(np.einsum("nk,nk->n", matrix, matrix))
        matrix *= (maximum_norm / np.maximum(lengths, maximum_norm))[:, np.newaxis]
