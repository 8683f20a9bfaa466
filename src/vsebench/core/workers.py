"""Threads that share out chunks of work: the result does not depend on how many there are."""

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
        """Call task(start, stop) for every chunk; an error in one is raised here and keeps others from being begun.

        The threads take one chunk after the other. So the caller works on while others still wake up, which takes
        milliseconds on some machines.
        """
        left = iter(chunks)

        def work() -> None:
            try:
                while chunk := next(left, None):
                    task(*chunk)
            except BaseException:
                list(left)  # takes them away from everyone
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
    """Yield `threads` workers; each matrix product meanwhile runs on the thread that asks for it."""
    pool = Workers(threads)
    try:
        with threadpool_limits(1, user_api="blas"):
            yield pool
    finally:
        pool.close()
