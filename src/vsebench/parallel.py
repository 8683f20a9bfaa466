"""Work in fixed chunks on several threads: the result does not depend on how many there are."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from threadpoolctl import threadpool_limits

Chunks = list[tuple[int, int]]


def even_chunks(n: int, size: int) -> Chunks:
    """Cut range(n) into pieces of `size`."""
    return [(start, min(start + size, n)) for start in range(0, n, size)]


class Workers:
    """Threads that call compiled kernels, which release Python's global lock."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def run(self, task: Callable[[int, int], object], chunks: Chunks) -> None:
        """Call task(start, stop) for every chunk; an error in one is raised here."""
        if self._pool is None:
            for start, stop in chunks:
                task(start, stop)
            return
        for future in [self._pool.submit(task, start, stop) for start, stop in chunks]:
            future.result()

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown()


@contextmanager
def workers(threads: int) -> Iterator[Workers]:
    """Yield `threads` workers; each matrix product meanwhile runs on the thread that asks for it."""
    pool = Workers(threads)
    try:
        with threadpool_limits(1, user_api="blas"):
            yield pool
    finally:
        pool.close()
