"""Check that the files of results, data or packs were not edited or renamed, and that they belong together."""

import argparse
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import Any

from tqdm import tqdm

from vsebench.core.errors import UserError, one_line
from vsebench.core.seals import below, checked, is_in_run, is_path
from vsebench.core.storage import seal_of
from vsebench.formats.download.recorded import RECORD, check_recorded
from vsebench.packs.archive import unpack

SEALED = {".json", ".npy", ".npz", ".parquet"}
DOWNLOADED = {"raw", "siblings", "word_vectors"}  # folders of downloaded data, which has records instead of seals
INCLUDED = "included"  # data that comes with the project
OF_OTHER_FORMATS = {"croissant.json", "ro-crate-metadata.json"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", type=Path, nargs="*", help="folders or packs (default: results and data)")


def run(arguments: argparse.Namespace) -> None:
    paths = arguments.paths or [path for path in (Path("results"), Path("data")) if path.is_dir()]
    if not paths:
        raise UserError("there is no folder results or data here; name a folder or a pack")
    problems, number = [], 0
    with ExitStack() as stack:
        folders = {path: opened(path, stack) for path in paths}
        files = [(path, folder, file) for path, folder in folders.items() for file in files_in(folder)]
        seals: dict[str, dict[str, Any]] = {}
        places = {}
        for path, folder, file in tqdm(files, desc="verify", unit="file", mininterval=5):
            number += 1
            place = place_of(file, folder)
            shown = str(file if folder == path else f"{path}: {file.relative_to(folder)}")
            try:
                if file.name == RECORD:
                    check_recorded(file.parent)
                seals[place], places[place] = checked_at(file, place), shown
            except UserError as error:
                problems.append(str(error).replace(str(file), shown))
    for place, made in of_other_versions(seals).items():
        count = f"{len(made)} files were" if len(made) > 1 else "a file was"
        first = places[made[0]] + (" ..." if len(made) > 1 else "")
        problems.append(f"{places[place]}: {count} made with another version of it: {first}")
    if problems:
        print("\n".join(problems))
        raise UserError(f"{len(problems)} problems in {number} checked files; delete the files above and run again")
    print(f"{number} files fit")


def opened(path: Path, stack: ExitStack) -> Path:
    """Return the path if it is a folder. If it is a pack, unpack it into a temporary folder, and return that folder."""
    if path.is_dir():
        return path
    folder = Path(stack.enter_context(TemporaryDirectory(prefix="vsebench-")))
    unpack(path, folder)
    return folder


def place_of(file: Path, folder: Path) -> str:
    """Return a file's path below the folder of results or data or, in a copy or a pack, below `folder`."""
    return below(file) if is_in_run(folder / "file") else str(file.relative_to(folder))


def files_in(folder: Path) -> Iterator[Path]:
    """Yield the sealed files in a folder, and the records of downloaded files."""
    for file in sorted(folder.rglob("*")):
        parts = PurePath(place_of(file, folder)).parts
        if parts[0] in DOWNLOADED:
            if file.name == RECORD:
                yield file
        elif file.suffix in SEALED and file.name not in OF_OTHER_FORMATS and parts[0] != INCLUDED and is_shown(parts):
            yield file


def is_shown(parts: tuple[str, ...]) -> bool:
    """Return False if a part of a path begins with a dot: temporary files and files of Snakemake are not checked."""
    return not any(part.startswith(".") for part in parts)


def checked_at(file: Path, place: str) -> dict[str, Any]:
    """Return the seal of a file if it fits the content and the path (`place`), else raise a `UserError`."""
    try:
        seal = checked(file, seal_of(file))
    except UserError:
        raise
    except Exception as error:  # readers raise a dozen kinds of errors for a damaged file
        raise UserError(f"{file}: cannot be read ({one_line(error)}); delete it and run again") from None
    if not is_path(seal["path"], place):
        raise UserError(f"{file}: written as {seal['path']}, then renamed or copied; delete it and run again")
    return seal


def of_other_versions(seals: dict[str, dict[str, Any]]) -> dict[str, list[str]]:
    """Map the path of each file to the paths of all files that were made with another version of it."""
    found: dict[str, list[str]] = {}
    for place, seal in seals.items():
        of_pack = place.removesuffix(seal["path"])  # the folder of an unpacked pack; empty for other files
        for name, checksum in seal["made_with"].items():
            other = seals.get(of_pack + name)
            if other and other["checksum"] != checksum:
                found.setdefault(of_pack + name, []).append(place)
    return found
