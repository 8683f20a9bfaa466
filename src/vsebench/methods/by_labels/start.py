"""Initial embeddings."""

import numpy as np

from vsebench.data.problem import Matrix
from vsebench.kernels.vectors import aligned, padded_size


def padded_start(n_rows: int, factors: int, deviation: float, rng: np.random.Generator) -> Matrix:
    """Return (n_rows, K) float32 from a normal distribution with mean 0 and the standard deviation `deviation`.

    K is `factors`, rounded up to a multiple of the kernels' LANES; the additional factors are 0.
    """
    start = aligned(n_rows, padded_size(factors))
    if start.shape[1] == factors:
        rng.standard_normal(out=start, dtype=np.float32)
    else:
        start[:, :factors] = rng.standard_normal((n_rows, factors), dtype=np.float32)
    start *= np.float32(deviation)
    return start


def project_rows(matrix: Matrix, maximum_norm: float) -> None:
    """Shorten the rows of a matrix, (n, K) float32, that are longer than `maximum_norm`; 0: no limit."""
    if maximum_norm > 0:
        lengths = np.sqrt(np.einsum("nk,nk->n", matrix, matrix))
        matrix *= (maximum_norm / np.maximum(lengths, maximum_norm))[:, np.newaxis]
