"""Compiled inner loops. Each has a plain-NumPy twin in tests/reference."""

from numba.np import linalg

# Numba imports `scipy.linalg` when it loads the first kernel of a process, only to learn whether it is installed. That
# takes a fifth of a small job. It is installed, since this package requires it, and Numba looks again when a kernel
# multiplies matrices. tests/kernels/test_numba_internals.py fails when a version of Numba does otherwise.
_look_for_scipy = linalg.ensure_blas
linalg.ensure_blas = lambda: None
try:
    import numba.np.arraymath  # noqa: F401
finally:
    linalg.ensure_blas = _look_for_scipy
