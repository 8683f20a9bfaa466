"""Threads that share chunks of work; the result does not depend on the number of threads."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager

from threadpoolctl import threadpool_limits


class Workers:
    """Threads that run compiled kernels without the global interpreter lock; one of them is the calling thread."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None

    def run(self, task: Callable[[int, int], object], chunks: Sequence[tuple[int, int]]) -> None:
        """Call task(start, stop) for every chunk.

        If a chunk raises an error, this method raises it too, and no further chunk is started. Each free thread takes
        the next chunk. On some machines, other threads take milliseconds to wake up; meanwhile, the calling thread
        works alone.
        """
        remaining = iter(chunks)

        def work() -> None:
            try:
                while chunk := next(remaining, None):
                    task(*chunk)
            except BaseException:
                list(remaining)  # take the remaining chunks, so that the other threads find none
                raise

        n_helpers = min(self.threads, len(chunks)) - 1
        helpers = [self._pool.submit(work) for _ in range(n_helpers)] if self._pool else []
        try:
            work()
        finally:
            started = [helper for helper in helpers if not helper.cancel()]
            wait(started)
        for helper in started:
            helper.result()

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown()


@contextmanager
def workers(threads: int) -> Iterator[Workers]:
    """Yield a `Workers` with this number of threads.

    Inside the block, each matrix product runs on a single thread.
    """
    pool = Workers(threads)
    try:
        with threadpool_limits(1, user_api="blas"):
            yield pool
    finally:
        pool.close()
