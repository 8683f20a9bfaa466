"""A file that stands for the source files of a job, so that Snakemake looks at one input instead of dozens."""

import os
from functools import cache
from hashlib import sha256
from pathlib import Path

from vsebench.core.storage import replacing

FOLDER = Path(".snakemake", "sources")


def record_of(files: list[str]) -> str:
    """Write the checksums of source files into a record, unless it has them already, and return the record's path.

    A record that was missing gets the modification time of the newest source file. If the folder of records is
    removed, results that are newer than the code therefore stay, and older results are made again. After an edit of
    a source file, the record gets the current time.
    """
    return _record_of(Path.cwd(), tuple(files))


@cache
def _record_of(folder: Path, files: tuple[str, ...]) -> str:
    # Each record has a folder of its own, since Snakemake lists the files of a folder only once.
    path = FOLDER / sha256(" ".join(files).encode()).hexdigest()[:16] / "checksums.txt"
    text = "".join(f"{_checksum(folder / file)}  {file}\n" for file in files)
    is_new = not path.is_file()
    if is_new or path.read_text(encoding="utf-8") != text:
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8")
            if is_new:
                newest = max((folder / file).stat().st_mtime_ns for file in files)
                os.utime(temporary, ns=(newest, newest))
    return str(path)


@cache
def _checksum(file: Path) -> str:
    return sha256(file.read_bytes()).hexdigest()
