"""Cutting work into chunks. Where a sum runs over chunks, their size can change its last digits."""

Chunks = list[tuple[int, int]]


def even_chunks(n: int, size: int) -> Chunks:
    """Cut range(n) into pieces (start, stop) of `size`; the last one can be shorter."""
    return [(start, min(start + size, n)) for start in range(0, n, size)]
