"""The number of operations of a VSE-fs iteration, and the machine's peak rate."""

import time

import numpy as np
from threadpoolctl import threadpool_limits

SIDE = 2048


def flops(images: int, labels: int, pairs: int, factors: int) -> float:
    """Return the least number of floating-point operations of an iteration of VSE-fs.

    On each side (images, labels), with K factors:
      2 K^2 per row   the products with the other side's K x K matrix, (H u)_f for all f
      K^2 per row     this side's own matrix, the sum of u u', of which half is enough
      8 K per pair    four multiply-adds per factor: score, residual's gradient, denominator, residual after the step
    """
    return 3.0 * (images + labels) * factors**2 + 2 * 8.0 * pairs * factors


def sgemm_rate(threads: int) -> float:
    """Return the operations per second in a product of two float32 matrices of 2048 x 2048."""
    left, right = np.ones((2, SIDE, SIDE), dtype=np.float32)
    out = np.empty((SIDE, SIDE), dtype=np.float32)
    with threadpool_limits(threads, user_api="blas"):
        start = time.perf_counter()
        np.matmul(left, right, out=out)
        return 2.0 * SIDE**3 / (time.perf_counter() - start)
