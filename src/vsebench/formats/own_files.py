"""The user's own files, and those that come with the project, which are read in place."""

from pathlib import Path, PurePath
from typing import Any

from vsebench.core.errors import UserError
from vsebench.formats.download.verify import digest_of


def find(raw: Path, name: str) -> Path:
    """Return the path of a file: in `raw`, the folder of downloaded files, or the user's own path.

    Raises a `UserError` if it is in neither place, or a different file in each.
    """
    places = [path for path in (raw / PurePath(name).name, Path(name).expanduser()) if path.is_file()]
    if not places:
        raise UserError(f"{name}: no such file (seen from {Path.cwd()}, and not in {raw})")
    if len(places) == 2 and not places[0].samefile(places[1]):
        raise UserError(f"{name}: is {places[0]} or {places[1]} meant? move or rename one")
    return places[0]


def record(raw: Path, name: str) -> dict[str, Any]:
    """Return the record of a user's file for the provenance: its path, and what identifies its content."""
    return {"name": name, "source": "a file that is read in place", **digest_of(find(raw, name))._asdict()}
