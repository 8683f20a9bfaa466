"""Cut work into chunks.

The size of the chunks can change the last digits of a sum over all chunks.
"""

Chunks = list[tuple[int, int]]


def even_chunks(n: int, size: int) -> Chunks:
    """Cut range(n) into pieces (start, stop) of length `size`; the last piece can be shorter."""
    return [(start, min(start + size, n)) for start in range(0, n, size)]
