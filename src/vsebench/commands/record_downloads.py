"""Record the checksums of downloaded files for which no official checksum is known.

The command reads provenance.json in each folder of downloads. If a file was downloaded from an address in the
configuration, and the configuration states no checksum for the file, the command adds the sha256 of the file to
data/included/first-downloads.yaml. Files from a mirror, and files that were put in place by hand, are left out, because
their content may differ. Later downloads must have the recorded checksums.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import yaml

from vsebench.config.dataset import FirstDownloads, SourceFile
from vsebench.core.errors import UserError
from vsebench.core.storage import replacing
from vsebench.core.yaml_files import check, read_config, read_yaml
from vsebench.formats.download.recorded import RECORD, files_recorded
from vsebench.plan.paths import FIRST_DOWNLOADS

SOURCES = ("datasets", "siblings", "word_vectors")  # folders of the configuration whose files name downloads
HEAD = """\
# sha256 of files for which no official checksum is known, as they were when somebody first downloaded them from their
# sources. Later downloads must have the same sha256. `vsebench record-downloads` adds to this file.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder with downloads (default: data)")
    config = "folder of the configuration (default: config)"
    parser.add_argument("--config", type=Path, default=Path("config"), help=config)


def run(arguments: argparse.Namespace) -> None:
    path = arguments.config.parent / FIRST_DOWNLOADS
    recorded = read_config(FirstDownloads, path).sha256 if path.exists() else {}
    unknown = {file.name for file in files_named(arguments.config) if not file.has_checksum}
    for name, sha256, record in downloads(arguments.data):
        if name not in unknown:
            continue
        if recorded.setdefault(name, sha256) != sha256:
            raise UserError(
                f"{record}: the sha256 of {name} is {sha256}, but {recorded[name]} in {path}; find out "
                f"which is wrong; if the first is, delete the downloaded file and its record, else the line in {path}"
            )
    with replacing(path) as temporary:
        temporary.write_text(HEAD + yaml.safe_dump({"sha256": recorded}), encoding="utf-8")
    print(f"{path}: has the sha256 of {len(recorded)} of the {len(unknown)} files without an official checksum")


def files_named(config: Path) -> Iterator[SourceFile]:
    """Yield each file to download for the data sets, siblings and word vectors in a folder of configurations."""
    for folder in SOURCES:
        for path in sorted((config / folder).glob("*.yaml")):
            content = read_yaml(path)
            for index, file in enumerate(content.get("files", []) if isinstance(content, dict) else []):
                yield check(SourceFile, file, f"{path}: files.{index}")


def downloads(data: Path) -> Iterator[tuple[str, str, Path]]:
    """For each file that was downloaded from an address, yield its name, its sha256 and the path of its record."""
    for record in sorted(data.rglob(RECORD)):
        for name, source, _, sha256 in files_recorded(record):
            if source.startswith(("http://", "https://")):
                yield name, sha256, record
