from threading import Lock

import pytest

from vsebench.core.workers import workers
from vsebench.data.chunks import even_chunks


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("n", [0, 1, 7, 1000])
def test_every_chunk_is_worked_on_once(threads, n):
    seen, lock = [], Lock()

    def task(start, stop):
        with lock:
            seen.extend(range(start, stop))

    with workers(threads) as pool:
        pool.run(task, even_chunks(n, 3))
    assert sorted(seen) == list(range(n))


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("bad", [0, 57, 99])
def test_an_error_in_any_chunk_is_raised_and_ends_the_work(threads, bad):
    begun = []

    def task(start, stop):
        begun.append(start)
        if start == bad:
            raise ValueError(f"chunk {start}")

    with workers(threads) as pool:
        with pytest.raises(ValueError, match=f"chunk {bad}"):
            pool.run(task, even_chunks(100, 1))
        pool.run(task, [(200, 201)])
    assert begun[-1] == 200
    if threads == 1:
        assert begun == [*range(bad + 1), 200]
