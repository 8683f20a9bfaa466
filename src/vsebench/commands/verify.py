"""Check that the files of results, data or packs were not edited or renamed, and that they belong together."""

import argparse
import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import Any

from tqdm import tqdm

from vsebench.core.csv_files import OF_CSV, read_csv
from vsebench.core.errors import UserError, one_line
from vsebench.core.seals import FOLDERS, below, checked, is_in_run, is_path
from vsebench.core.storage import seal_of
from vsebench.formats.download.recorded import RECORD, check_recorded
from vsebench.packs.archive import unpack

SEALED = {".json", ".npy", ".npz", ".parquet"}
DOWNLOADED = {"raw", "siblings", "word_vectors"}  # folders of downloaded data, which have records instead of seals
INCLUDED = "included"  # data that come with the project
OF_OTHER_FORMATS = {"croissant.json", "ro-crate-metadata.json"}
SHARED = re.compile(r"prepared/([^/]+)-[0-9a-f]{12}/")  # the name of a folder that plan/sharing.py makes
Key = tuple[Path, str]  # the folder of a run, and a file's path in its seal


def add_arguments(parser: argparse.ArgumentParser) -> None:
    paths = "packs, or folders of runs, results or data (default: the run in this folder)"
    parser.add_argument("paths", type=Path, nargs="*", help=paths)


def run(arguments: argparse.Namespace) -> None:
    if not arguments.paths and not any(Path(name).is_dir() for name in FOLDERS):
        raise UserError("there is no folder results or data here; name a folder or a pack")
    problems = []
    seals: dict[Key, dict[str, Any]] = {}
    places = {}
    with ExitStack() as stack:
        files = [found for path in arguments.paths or [Path()] for found in files_to_check(path, stack)]
        for folder, file, shown in tqdm(files, desc="verify", unit="file", mininterval=5):
            try:
                seal = checked_at(file, place_of(file, folder))
                key = run_of(file, seal["path"], folder), seal["path"]
                seals[key], places[key] = seal, shown
                if file.name.endswith(OF_CSV):
                    read_csv(file.with_suffix(""))
                if file.name == RECORD:
                    check_recorded(file.parent, key[0])
            except UserError as error:
                problems.append(str(error).replace(str(file), shown))
    for key, made in of_other_versions(seals).items():
        count = f"{len(made)} files were" if len(made) > 1 else "a file was"
        first = places[made[0]] + (" ..." if len(made) > 1 else "")
        problems.append(f"{places[key]}: not the version with which {count} made: {first}")
    if problems:
        print("\n".join(problems))
        raise UserError(
            f"{len(files)} files checked, problems found: {len(problems)}; delete the file at the start of each line "
            "above, and repeat the run"
        )
    print(f"{len(files)} files checked: all match their checksums")


def files_to_check(path: Path, stack: ExitStack) -> list[tuple[Path, Path, str]]:
    """Return the sealed files and the records of downloads in a run's folder, another folder or a pack.

    An entry of the result contains the folder below which a file was found, the file, and the path to show to the user.
    A pack is unpacked into a temporary folder.
    """
    folders = [path / name for name in FOLDERS if (path / name).is_dir()] or [path]
    if not path.is_dir():
        folders = [Path(stack.enter_context(TemporaryDirectory(prefix="vsebench-")))]
        unpack(path, folders[0])
    found = [
        (folder, file, str(file) if path.is_dir() else f"{path}: {file.relative_to(folder)}")
        for folder in folders
        for file in files_in(folder)
        if is_checked(file, PurePath(place_of(file, folder)).parts)
    ]
    if not found:
        raise UserError(f"{path}: has no file to check; name a folder of results or data, or a pack")
    return found


def place_of(file: Path, folder: Path) -> str:
    """Return a file's path below the folder of results or data that contains it.

    If no such folder contains the file, as in a copy or a pack, return the path below `folder`. For a file in a folder
    of prepared data that several runs share, return the path that the file has in each of these runs.
    """
    relative = file.relative_to(folder)
    place = below(relative) if is_in_run(relative) else below(file) if is_in_run(file) else relative.as_posix()
    return SHARED.sub(r"processed/\1/", place)


def run_of(file: Path, sealed: str, folder: Path) -> Path:
    """Return the folder of the run that wrote a file.

    `sealed` is the path in the file's seal. If the file's own path does not end in `sealed`, return `folder`. A folder
    of shared prepared data counts as a run of its own, because several such folders can contain the same data set.
    """
    path, depth = file.absolute(), len(PurePath(sealed).parts)
    if SHARED.match("/".join(path.parts[-depth:])):
        return path.parents[depth - 3].resolve()
    if path.parts[-depth:] != PurePath(sealed).parts:
        return folder
    above = path.parents[depth - 1]
    return (above.parent if above.name in FOLDERS else above).resolve()


def files_in(folder: Path, above: frozenset[Path] = frozenset()) -> Iterator[Path]:
    """Yield all files below a folder; follow links, because the folder of a run can contain links to the run's data.

    above : the folders that contain this one; a link that leads back to one of them is not followed
    """
    real = folder.resolve()
    for path in [] if real in above else sorted(folder.iterdir()):
        if path.is_dir():
            yield from files_in(path, above | {real})
        else:
            yield path


def is_checked(file: Path, parts: tuple[str, ...]) -> bool:
    """Return whether a file is sealed or is a record of downloads; `parts` are the parts of its path in a run."""
    if not is_shown(parts):
        return False
    if parts[0] in DOWNLOADED:
        return file.name == RECORD
    return file.suffix in SEALED and file.name not in OF_OTHER_FORMATS and parts[0] != INCLUDED


def is_shown(parts: tuple[str, ...]) -> bool:
    """Return False if a part of a path begins with a dot, and True otherwise.

    Paths of temporary files and of Snakemake's own files have such a part. These files are not checked.
    """
    return not any(part.startswith(".") for part in parts)


def checked_at(file: Path, place: str) -> dict[str, Any]:
    """Return the seal of a file; raise a `UserError` if the seal does not fit the file's content or path (`place`)."""
    try:
        seal = checked(file, seal_of(file))
    except UserError:
        raise
    except Exception as error:  # readers raise a dozen kinds of errors for a damaged file
        raise UserError(f"{file}: cannot be read ({one_line(error)}); delete it and run again") from None
    if not is_path(seal["path"], place):
        raise UserError(f"{file}: written as {seal['path']}, then renamed or copied; delete it and run again")
    return seal


def of_other_versions(seals: dict[Key, dict[str, Any]]) -> dict[Key, list[Key]]:
    """Find files that do not fit the files with which they were made.

    The result maps a file to all files of the same run that were made with another version of this file. If there are
    no such files, the file is left out.
    """
    found: dict[Key, list[Key]] = {}
    for (folder, path), seal in seals.items():
        for name, checksum in seal["made_with"].items():
            other = seals.get((folder, name))
            if other and other["checksum"] != checksum:
                found.setdefault((folder, name), []).append((folder, path))
    return found
