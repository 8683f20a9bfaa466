"""Check that downloaded files and the user's own files still have the sizes and checksums in `provenance.json`."""

import hashlib
from pathlib import Path, PurePath

from vsebench.core.errors import UserError
from vsebench.core.storage import read_json
from vsebench.formats.own_files import READ_IN_PLACE

RECORD = "provenance.json"


def check_recorded(raw: Path, run: Path = Path()) -> None:
    """Check that files still have the size and sha256 that are recorded in `raw`, the folder of downloads.

    The recorded paths of the user's own files may be relative to `run`, the folder of the run.

    If nothing was recorded, nothing is checked. A `UserError` names the first file that differs. A missing file is not
    an error, because users may delete large files after features were computed from them. A job that needs a missing
    file reports this itself.
    """
    record = raw / RECORD
    if not record.is_file():
        return
    for name, source, size, sha256 in files_recorded(record):
        path = raw / PurePath(name).name if source == READ_IN_PLACE else raw / name
        if source == READ_IN_PLACE and not path.is_file():
            path = run / Path(name).expanduser()
        if path.is_file() and (path.stat().st_size != size or sha256_of(path) != sha256):
            raise UserError(
                f"{path}: was changed after its sha256 was recorded in {record}; restore it, or delete {record.name} "
                "and repeat the command to use the file as it is"
            )


def files_recorded(record: Path) -> list[tuple[str, str, int, str]]:
    """Return the name, source, size in bytes and sha256 of each file that a download has recorded."""
    try:
        return [
            (file["name"], str(file["source"]), file["bytes"], file["sha256"]) for file in read_json(record)["files"]
        ]
    except (KeyError, TypeError):
        raise UserError(f"{record}: is not a valid record of a download; delete it and run again") from None


def sha256_of(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
