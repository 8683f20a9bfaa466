"""Write and read CSV files of results, and check that they were not changed.

A CSV file has no place for a seal, so its checksum is in a sealed JSON file beside it.
"""

from hashlib import sha256
from pathlib import Path

from vsebench.core.errors import UserError
from vsebench.core.seals import DELETE, is_in_run, is_of_pack
from vsebench.core.storage import read_json, replacing, write_json

OF_CSV = ".csv.json"  # the end of the name of the JSON file with the checksum


def write_csv(text: str, path: Path) -> None:
    """Write `text` to a CSV file, and the checksum of this file to a second file (see `checksum_file`)."""
    content = text.encode()
    with replacing(path) as temporary:
        temporary.write_bytes(content)
    write_json({"sha256": sha256(content).hexdigest()}, checksum_file(path))


def read_csv(path: Path) -> bytes:
    """Return the content of a CSV file that `write_csv` wrote.

    A `UserError` is raised if the file or its checksum is missing, or if the content does not match the checksum. In
    packs and outside a run's folders, CSV files need no checksum.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    beside = checksum_file(path)
    if not beside.is_file():
        if is_of_pack(path) or not is_in_run(path):
            return content
        raise UserError(f"{path}: has no checksum, because {beside.name} is missing; {DELETE}")
    if read_json(beside) != {"sha256": sha256(content).hexdigest()}:
        raise UserError(f"{path}: it was changed after it was written, or is damaged; {DELETE}")
    return content


def checksum_file(path: Path) -> Path:
    """Return the path of the file with the checksum of a CSV file.

    >>> checksum_file(Path("results/claims.csv")).name
    'claims.csv.json'
    """
    return path.with_name(f"{path.name}.json")
