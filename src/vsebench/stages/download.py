"""Download the files of a data set, and record the source of each file.

A valid file that is already in the folder is kept. Otherwise the stage tries the mirror (the folder or http(s) address
in the environment variable VSEBENCH_MIRROR), and then the configured sources in their order. A file gets its final name
only after passing its checks. `provenance.json` lists the name, source, sha256, md5, size in bytes and time of download
(UTC) of each file. It also lists the user's own files.

If no official checksum of a file is known, data/included/first-downloads.yaml may list the checksum of the file's first
download. All later downloads from the file's sources must have this checksum. Copies from a mirror need not have it,
because mirrors may repack archives.

The package pooch is not used, because it can neither resume a transfer nor try several sources.
"""

import argparse
import shutil
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from vsebench.config.dataset import DatasetDefinition, FirstDownloads, SourceFile, read_definition
from vsebench.core.errors import UserError, without_password
from vsebench.core.storage import move, read_json, replacing, write_json
from vsebench.core.yaml_files import check, read_config
from vsebench.formats import own_files
from vsebench.formats.adapters import knows, load_adapter
from vsebench.formats.download import transfer
from vsebench.formats.download.mirror import MIRROR, mirror
from vsebench.formats.download.verify import BadContentError, Digest, verify

IN_PLACE = "found in place"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--name", required=True, help="the data set, or the source of siblings or word vectors")
    parser.add_argument("--definition", required=True, help="JSON object with keys of the data set's or source's file")
    parser.add_argument("--first-downloads", type=Path, help="file with checksums of first downloads; may be missing")
    parser.add_argument("--out", type=Path, required=True, help="folder for the files")


def run(arguments: argparse.Namespace) -> None:
    definition = read_definition(arguments.definition, arguments.name)
    first = read_first_downloads(arguments.first_downloads)
    try:
        download(arguments.name, definition, arguments.out, mirror(), first)
    except OSError as error:
        raise UserError(f"{error.filename or arguments.out}: {error.strerror or error}") from None


def read_first_downloads(path: Path | None) -> dict[str, str]:
    """Return the name and sha256 of each file whose first download is recorded."""
    return read_config(FirstDownloads, path).sha256 if path is not None and path.exists() else {}


def download(
    name: str, definition: DatasetDefinition, out: Path, mirror: Path | str | None, first: Mapping[str, str]
) -> None:
    """Put the files of a data set into the folder `out`, and write provenance.json there.

    `first` maps the name of a file to the sha256 of its first download.
    """
    out.mkdir(parents=True, exist_ok=True)
    known = _known_records(out / "provenance.json")
    records = []
    for file, record in obtain_all(definition.files, alternatives(name, definition), out, mirror, first):
        if record["source"] == IN_PLACE and known.get(file.name, {}).get("sha256") == record["sha256"]:
            record = known[file.name]  # the earlier record states the file's source
        records.append(record)
    provenance: dict[str, Any] = {"dataset": name, "files": records}
    if knows(definition.adapter):
        provenance["note"] = "simulated: there is nothing to download"
    records += [own_files.record(out, path) for path in definition.own_files.values()]
    write_json(provenance, out / "provenance.json")


def alternatives(name: str, definition: DatasetDefinition) -> list[str]:
    """Return the names of alternative files, best first; only one of these files is needed.

    The adapter's function `alternatives` lists the names. If the adapter has no such function, the result is empty.
    """
    adapter = load_adapter(definition.adapter, name, "Options")
    if not hasattr(adapter, "alternatives"):
        return []
    return list(adapter.alternatives(check(adapter.Options, definition.options, f"{name}: options")))


def obtain_all(
    files: list[SourceFile], alternatives: list[str], out: Path, mirror: Path | str | None, first: Mapping[str, str]
) -> Iterator[tuple[SourceFile, dict[str, Any]]]:
    """Yield each file with its record; of the alternatives, yield only the first one that is available."""
    faults: list[str] = []
    by_name = {file.name: file for file in files}
    for name in alternatives:
        try:
            yield by_name[name], obtain(by_name[name], out, mirror, first.get(name))
        except UserError as fault:
            faults.append(str(fault))
        else:
            break
    if alternatives and len(faults) == len(alternatives):
        raise UserError("none of these files was found; one is needed: " + "; ".join(faults))
    for file in files:
        if file.name not in alternatives:
            yield file, obtain(file, out, mirror, first.get(file.name))


def obtain(file: SourceFile, out: Path, mirror: Path | str | None, first: str | None) -> dict[str, Any]:
    """Put a file into `out` from the first location that has a valid copy, and return the file's record.

    `first` is the sha256 of the file's first download, or None if it is not known. If `first` is given and no official
    checksum is known, downloads from the file's sources must have this sha256. If no location has a valid copy, a
    `UserError` says what went wrong at each location.
    """
    target = out / file.name
    as_first = file if first is None or file.has_checksum else file.model_copy(update={"sha256": first})
    answers = []
    for source, location in _locations(file, target, mirror):
        expected = as_first if location in file.sources else file
        try:
            digest = verify(target, file) if location == target else _fetch(location, target, expected)
        except (BadContentError, transfer.TransferError) as fault:
            answers.append(f"{source} ({fault})")
        else:
            print(f"{file.name}: {source}", file=sys.stderr)
            time = datetime.now(UTC).isoformat(timespec="seconds")
            return {"name": file.name, "source": source, "time": time, **digest._asdict()}
    tried = ", ".join(answers) or "nothing, because no address is known"
    if as_first is not file:
        tried += f"; the sha256 must be {first}, as at its first download (first-downloads.yaml)"
    raise UserError(
        f"could not download {file.name}; tried {tried}; put the file into {out} or set {MIRROR} to a folder or "
        "address that contains it"
    )


def _locations(file: SourceFile, target: Path, mirror: Path | str | None) -> Iterator[tuple[str, Path | str]]:
    """Yield the possible locations of a file, in the order in which they are tried.

    Each location is a pair: the source as it is recorded, and a path or address.
    """
    if target.exists():
        yield IN_PLACE, target
    if mirror is not None:
        location = f"{mirror}/{file.name}" if isinstance(mirror, str) else mirror / file.name
        yield f"mirror: {without_password(location) if isinstance(location, str) else location}", location
    for address in file.sources:
        yield address, address


def _fetch(location: Path | str, target: Path, file: SourceFile) -> Digest:
    """Copy or download a file to `target` if it passes its checks."""
    if isinstance(location, str):
        return _download(location, target, file)
    if not location.is_file():
        raise BadContentError("no such file")
    with replacing(target) as temporary:
        shutil.copyfile(location, temporary)
        return verify(temporary, file)


def _download(address: str, target: Path, file: SourceFile) -> Digest:
    part = target.with_name(target.name + ".part")
    resumed = part.exists()
    transfer.fetch(address, part, has_checksum=file.has_checksum)
    try:
        digest = verify(part, file)
    except BadContentError:
        transfer.discard(part)
        if not resumed:
            raise
        # An earlier attempt may have left wrong bytes.
        return _download(address, target, file)
    move(part, target)
    transfer.discard(part)
    return digest


def _known_records(provenance: Path) -> dict[str, Any]:
    """Return the record of each file from an earlier run, by the name of the file."""
    try:
        return {record["name"]: record for record in read_json(provenance)["files"]}
    except (UserError, KeyError, TypeError):  # there is no such file, or this package did not write it
        return {}
