"""Compiled inner loops; tests/reference has a version of each in plain NumPy."""

from numba.np import linalg

from vsebench.kernels.content_cache import key_kernels_by_content

# Numba imports `scipy.linalg` when it loads the first kernel of a process, to find out whether SciPy is installed. The
# import takes a fifth of the time of a small job, so it is skipped here. SciPy is installed, because this package
# requires it, and Numba checks again when a kernel multiplies matrices. tests/kernels/test_numba_internals.py fails
# with a version of Numba that does not check again.
_look_for_scipy = linalg.ensure_blas
linalg.ensure_blas = lambda: None
try:
    import numba.np.arraymath  # noqa: F401
finally:
    linalg.ensure_blas = _look_for_scipy

key_kernels_by_content()
