"""Threads that share chunks of work; the result does not depend on the number of threads."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager

from threadpoolctl import threadpool_limits


class Workers:
    """Threads that call compiled kernels, which release Python's global lock; the caller is one of them."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._others = ThreadPoolExecutor(threads - 1) if threads > 1 else None

    def run(self, task: Callable[[int, int], object], chunks: Sequence[tuple[int, int]]) -> None:
        """Call task(start, stop) for every chunk; an error in one is raised here, and no other is started.

        Each thread takes the next chunk when it is free. So the caller already works while the others wake up, which
        takes milliseconds on some machines.
        """
        left = iter(chunks)

        def work() -> None:
            try:
                while chunk := next(left, None):
                    task(*chunk)
            except BaseException:
                list(left)  # leaves no chunk for the other threads
                raise

        needed = min(self.threads, len(chunks)) - 1
        others = [self._others.submit(work) for _ in range(needed)] if self._others else []
        try:
            work()
        finally:
            begun = [other for other in others if not other.cancel()]
            wait(begun)
        for other in begun:
            other.result()

    def close(self) -> None:
        if self._others is not None:
            self._others.shutdown()


@contextmanager
def workers(threads: int) -> Iterator[Workers]:
    """Yield `threads` workers; until the block ends, a matrix product runs on the calling thread alone."""
    pool = Workers(threads)
    try:
        with threadpool_limits(1, user_api="blas"):
            yield pool
    finally:
        pool.close()
