"""Write the results of a run to a pack; the same results give the same bytes."""

import json
import zipfile
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from vsebench.core.csv_files import read_csv
from vsebench.core.storage import as_sealed_json, read_json, replacing
from vsebench.core.tasks import Case, Entry
from vsebench.packs.archive import MEMBER, NEEDED, checked
from vsebench.packs.manifest import MANIFEST, Manifest, files_read
from vsebench.packs.ro_crate import CRATE, describe
from vsebench.packs.runs import made, manifest_of
from vsebench.protocols.base import load_protocol

SUFFIX = ".vsepack"
DATE = (1980, 1, 1, 0, 0, 0)  # the date of all members: the earliest date that a zip file can state
FORM: dict[str, Any] = {"indent": 1, "ensure_ascii": False}
DATA_SETS = "datasets.json"
IF_MADE = ("timing.parquet", "claims.csv", "comparison.csv")


def write_pack(results: Path, data: Path, out: Path) -> Manifest:
    """Write a pack of a finished run, and return its manifest.

    Parameters
    ----------
    results : the folder with the results of the run
    data : the folder with the data of the run; the manifest contains hashes of the files that exist there
    out : the file to write
    """
    manifest = manifest_of(results, data)
    files = {name: made(results / name) for name in members_of(manifest, results)}
    data_sets = as_sealed_json(without_folders(read_json(files.pop(DATA_SETS))), Path(DATA_SETS), **FORM) + "\n"
    sizes = {name: path.stat().st_size for name, path in files.items()} | {DATA_SETS: len(data_sets.encode())}
    plain = {name: path for name, path in files.items() if path.suffix in (".csv", ".md")}
    contents = {name: read_csv(path) if path.suffix == ".csv" else path.read_bytes() for name, path in plain.items()}
    checksums = {name: sha256(content).hexdigest() for name, content in contents.items()}
    manifest = manifest.model_copy(update={"checksums": checksums})
    texts = {
        DATA_SETS: data_sets,
        MANIFEST: as_sealed_json(manifest.model_dump(mode="json"), Path(MANIFEST), **FORM) + "\n",
        CRATE: json.dumps(describe(manifest, sizes, (results / "summary.parquet").stat().st_mtime), **FORM) + "\n",
    }
    with replacing(out) as temporary:
        _write(temporary, texts, files)
        with temporary.open("rb") as file, checked(file, str(out)):  # a pack that nobody can read is not written
            pass
    return manifest


def without_folders(data_sets: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the entries of datasets.json with the names of the user's tables in place of their paths."""
    return [
        entry | {"options": entry["options"] | {"pairs": Path(entry["options"]["pairs"]).name}}
        if "pairs" in entry["options"]
        else entry
        for entry in data_sets
    ]


def _write(path: Path, texts: Mapping[str, str], files: Mapping[str, Path]) -> None:
    """Write a zip file.

    `texts` maps the name of a member to its text, and `files` maps the name of a member to the file to copy.
    """
    with zipfile.ZipFile(path, "w") as archive:
        for name in sorted([*texts, *files]):
            member = zipfile.ZipInfo(name, DATE)
            member.create_system, member.external_attr = 3, 0o644 << 16  # as on Unix, on any system
            # Parquet files are compressed already.
            member.compress_type = zipfile.ZIP_STORED if name.endswith(".parquet") else zipfile.ZIP_DEFLATED
            archive.writestr(member, texts[name] if name in texts else files[name].read_bytes())


def members_of(manifest: Manifest, results: Path) -> list[str]:
    """Return the paths of the result files that belong in the pack, relative to `results`."""
    names = [*NEEDED, *(name for name in IF_MADE if (results / name).is_file())]
    tables = sorted(str(path.relative_to(results)) for path in (results / "tables").glob("*.md"))
    names += [name for name in tables if MEMBER.fullmatch(name)]  # a user's file, such as README.md, is not packed
    for task, packed in manifest.of_tasks.items():
        decided = {Entry.of(name).variant for name in packed.decided}
        for method, seeds in packed.methods.items():
            files = ["ranks.parquet", *files_read(manifest.metrics)]
            files += ["lists.parquet", "decisions.parquet"] if method in decided else []
            if not load_protocol(task.protocol).new_images:  # only new test images are ranked for each label
                files = [file for file in files if file != "label_ranks.parquet"]
            folders = [Case(task, method, seed).folder(Path()) for seed in seeds]
            names += [f"{folder}/{file}" for folder in folders for file in dict.fromkeys(files)]
        splits = [Case(task, "", seed).split(Path()) for seed in packed.splits]
        names += [f"{split}/{file}" for split in splits for file in ("split.json", "labels.parquet")]
    return names
