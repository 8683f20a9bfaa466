"""Read big text files in blocks of whole lines."""

from collections.abc import Iterator
from typing import IO


def line_blocks(stream: IO[bytes], size: int = 1 << 22) -> Iterator[bytes]:
    """Yield blocks of about `size` bytes that end with a line; a missing last newline is added."""
    rest = b""
    while block := stream.read(size):
        lines, newline, tail = block.rpartition(b"\n")
        if newline:
            yield rest + lines + newline
            rest = tail
        else:
            rest += block
    if rest:
        yield rest + b"\n"
