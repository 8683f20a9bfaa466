"""How much of a machine's peak an iteration of VSE-fs needs."""

import time

import numpy as np
from threadpoolctl import threadpool_limits

SIDE = 2048


def flops(images: int, labels: int, pairs: int, factors: int) -> float:
    """Return the floating-point operations that one iteration of VSE-fs cannot do without.

    On each side (images, labels), with K factors:
      2 K^2 a row   the products with the other side's K x K matrix, (H u)_f for every f
      K^2 a row     this side's own matrix, sum of u u', of which half is enough
      8 K a pair    four multiply-adds a factor: score, residual's gradient, denominator, residual after the step
    """
    return 3.0 * (images + labels) * factors**2 + 2 * 8.0 * pairs * factors


def sgemm_rate(threads: int) -> float:
    """Return the operations a second of a product of two 2048 x 2048 matrices, float32."""
    left, right = np.ones((2, SIDE, SIDE), dtype=np.float32)
    out = np.empty((SIDE, SIDE), dtype=np.float32)
    with threadpool_limits(threads, user_api="blas"):
        start = time.perf_counter()
        np.matmul(left, right, out=out)
        return 2.0 * SIDE**3 / (time.perf_counter() - start)
