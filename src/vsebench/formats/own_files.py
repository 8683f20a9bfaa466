"""Find files that are read without being copied: the user's own files, and files that come with the project."""

from pathlib import Path, PurePath
from typing import Any

from vsebench.core.errors import UserError, no_file
from vsebench.formats.download.verify import digest_of

READ_IN_PLACE = "a file that is read where it is"


def find(raw: Path, name: str) -> Path:
    """Return the path of a file that the user named.

    The file is either at the path `name` or, with the same file name, in `raw`, the folder of downloaded files. A
    `UserError` is raised if there is no such file, or if there are two, even with the same content.
    """
    paths = [path for path in (raw / PurePath(name).name, Path(name).expanduser()) if path.is_file()]
    if not paths:
        raise UserError(f"{name}: no such file in {raw}, and {no_file(Path(name).expanduser())}; correct its name")
    if len(paths) == 2 and not paths[0].samefile(paths[1]):
        raise UserError(f"{name}: both {paths[0]} and {paths[1]} exist; move or rename one of them")
    return paths[0]


def record(raw: Path, name: str) -> dict[str, Any]:
    """Return the provenance record of a file that is read in place, with its name, size and checksums."""
    return {"name": name, "source": READ_IN_PLACE, **digest_of(find(raw, name))._asdict()}
