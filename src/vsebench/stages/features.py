"""Make image features: run the images of a folder, a tar archive or a table through a network in an ONNX file.

Writes into the output folder

    features.npy    float16, one row per image that could be read
    ids.txt         the image of each row
    failed.txt      the other images, each with the reason, separated by a tab
    record.json     the network (sha256), its output, the transform, versions, numbers of images
    shards/         the rows of 1,000 images each, which a later run takes over

A shard is taken over if nothing has changed that its rows depend on: network, output, transform, versions, the code of
both, and its images' ids, sizes and times of change. So a run that was stopped goes on where it was.
"""

import argparse
import hashlib
import json
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from vsebench.config.dataset import Resize, Suffixes, TransformName
from vsebench.core.errors import UserError
from vsebench.core.sources import sources_of
from vsebench.core.storage import read_arrays, replacing, write_arrays, write_json
from vsebench.data.chunks import even_chunks
from vsebench.formats.images.image_files import ImageFiles, open_images
from vsebench.formats.images.onnx_network import Network
from vsebench.formats.images.pixels import Transform, UnreadableError

SHARD = 1000  # images
BATCH = 32  # images that the network gets at once
LARGEST = 65504  # of float16
PACKAGES = ("onnxruntime", "pillow", "numpy")
Half = NDArray[np.float16]
# What a row depends on besides files.
CODE = (
    "vsebench.formats.images.pixels",
    "vsebench.formats.images.onnx_network",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the stage's arguments."""
    parser.add_argument("--model", type=Path, required=True, help="ONNX file: input (n, 3, height, width) of float32")
    parser.add_argument("--output", required=True, help="name of the output that becomes the features")
    parser.add_argument(
        "--images", type=Path, required=True, help="folder, tar archive, or table with the columns image and file"
    )
    parser.add_argument("--transform", choices=get_args(TransformName), required=True, help="what pixels go through")
    parser.add_argument(
        "--resize",
        type=resize,
        default=256,
        help="pixels of the shorter side, before the centre is cut out; or squash: the whole image (default: 256)",
    )
    parser.add_argument(
        "--suffixes",
        choices=get_args(Suffixes),
        default="keep",
        help="whether .jpg belongs to the id of an image in a folder or archive (default: keep)",
    )
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="(default: one per core)")
    parser.add_argument("--out", type=Path, required=True, help="folder to write into")


def resize(text: str) -> Resize:
    """Read the option `--resize`."""
    if text == "squash":
        return "squash"
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: a number of pixels or squash is needed")
    return int(text)


def run(arguments: argparse.Namespace) -> None:
    """Run the stage."""
    if arguments.threads < 1:
        raise UserError(f"--threads: {arguments.threads}; use 1 or more")
    network = Network(arguments.model, arguments.output, arguments.threads)
    if arguments.resize != "squash" and arguments.resize < max(network.height, network.width):
        size = f"{network.height} x {network.width}"
        raise UserError(f"--resize: {arguments.resize} pixels, but {arguments.model} takes {size}; use more, or squash")
    transform = Transform(arguments.transform, arguments.resize, network.height, network.width)
    images = open_images(arguments.images, arguments.suffixes)
    if images.left_out:
        print(f"{arguments.images}: {images.left_out} files are no images by their names", file=sys.stderr)
    record = describe(network, transform)
    describer = Describer(network, transform, arguments.threads)
    shards = make_shards(images, describer, json.dumps(record, sort_keys=True), arguments.out / "shards")
    failed = write(shards, images.ids, network.dimensions, arguments.out)
    counts = {"images": len(images.ids), "failed": failed, "dimensions": network.dimensions}
    write_json(record | counts, arguments.out / "record.json")


def describe(network: Network, transform: Transform) -> dict[str, Any]:
    """Return what the features of any image depend on."""
    code = hashlib.sha256(b"".join(path.read_bytes() for path in sources_of(*CODE)))
    return {
        "model": {"name": network.path.name, "sha256": network.sha256},
        "output": network.output,
        "transform": transform.record(),
        "versions": {name: version(name) for name in PACKAGES},
        "code": code.hexdigest(),
    }


class Describer:
    """A network with its transform; images are decoded on several threads."""

    def __init__(self, network: Network, transform: Transform, threads: int) -> None:
        self.network, self.transform = network, transform
        self._pool = ThreadPoolExecutor(threads)

    def rows(self, contents: Iterator[bytes | OSError], ids: list[str], bar: "tqdm[Any]") -> tuple[Half, list[str]]:
        """Return the rows of those images that can be read, and for each image the reason why not, or "".

        Raises a `UserError` for a number that float16 cannot hold.
        """
        found, reasons = [np.empty((0, self.network.dimensions), dtype=np.float16)], []
        for start, stop in even_chunks(len(ids), BATCH):
            batch = list(self._pool.map(self._pixels, islice(contents, stop - start)))
            reasons += [one if isinstance(one, str) else "" for one in batch]
            readable = [number for number, one in enumerate(batch, start) if not isinstance(one, str)]
            if readable:
                values = self.network(np.stack([one for one in batch if not isinstance(one, str)]))
                found.append(as_half(values, [ids[number] for number in readable], self.network))
            bar.update(stop - start)
        return np.concatenate(found), reasons

    def _pixels(self, content: bytes | OSError) -> NDArray[np.float32] | str:
        """Return what the network takes, or the reason why there is nothing."""
        if isinstance(content, OSError):
            return content.strerror or type(content).__name__
        try:
            return self.transform.pixels(content)
        except UnreadableError as error:
            return str(error)


def as_half(values: NDArray[np.float32], ids: list[str], network: Network) -> Half:
    """Return features as float16; raises a `UserError` that names an image whose features it cannot hold."""
    wrong = np.argwhere(~(np.abs(values) < LARGEST))  # what is no number is in no order either
    if len(wrong):
        image, column = wrong[0]
        raise UserError(
            f"{network.path}: {ids[image]}: {values[image, column]} in the output {network.output!r}; features are"
            f" kept as float16, numbers below {LARGEST}; is the transform the network's own?"
        )
    return values.astype(np.float16)


def make_shards(images: ImageFiles, describer: Describer, record: str, folder: Path) -> list[Path]:
    """Make the shards that are missing or depend on something else than now; return the files of all."""
    parts = even_chunks(len(images.ids), SHARD)
    files = {folder / f"{number:05}.npz": part for number, part in enumerate(parts)}
    keys = {file: key_of(record, images, *part) for file, part in files.items()}
    for other in set(folder.glob("*.npz")) - set(files):
        other.unlink()
    missing = [file for file in files if key_in(file) != keys[file]]
    contents = images.contents([image for file in missing for image in range(*files[file])])
    left = sum(stop - start for start, stop in map(files.__getitem__, missing))
    n_images = len(images.ids)
    with tqdm(total=n_images, initial=n_images - left, desc="features", unit="image", mininterval=5) as bar:
        for file in missing:
            start, stop = files[file]
            values, reasons = describer.rows(contents, images.ids[start:stop], bar)
            write_arrays(file, key=np.array(keys[file]), values=values, reasons=np.array(reasons))
    return list(files)


def key_of(record: str, images: ImageFiles, start: int, stop: int) -> str:
    """Return a text that is another if anything changes that the rows of some images depend on."""
    depends = [record, images.ids[start:stop], images.marks[start:stop]]
    return hashlib.sha256(json.dumps(depends).encode()).hexdigest()


def key_in(file: Path) -> str | None:
    """Return the key of a shard; None if there is no such file, or not a whole one."""
    try:
        return str(read_arrays(file)["key"])
    except (UserError, KeyError):
        return None


def write(shards: Sequence[Path], ids: list[str], dimensions: int, out: Path) -> int:
    """Write the rows of all shards into one file, which is not held in memory, and the ids; return how many failed."""
    reasons = np.concatenate([read_arrays(file)["reasons"] for file in shards]).tolist()
    failed = [f"{image}\t{reason}" for image, reason in zip(ids, reasons, strict=True) if reason]
    if len(failed) == len(ids):
        raise UserError(f"none of {len(ids)} images can be read; the first is {' '.join(failed[0].split())}")
    if failed:
        print(f"{len(failed)} of {len(ids)} images cannot be read; they are in {out / 'failed.txt'}", file=sys.stderr)
    write_lines(failed, out / "failed.txt")
    write_lines([image for image, reason in zip(ids, reasons, strict=True) if not reason], out / "ids.txt")
    with replacing(out / "features.npy") as temporary:
        shape = (len(ids) - len(failed), dimensions)
        rows = np.lib.format.open_memmap(temporary, mode="w+", dtype=np.float16, shape=shape)
        start = 0
        for file in shards:
            values = read_arrays(file)["values"]
            rows[start : start + len(values)] = values
            start += len(values)
        rows.flush()
    return len(failed)


def write_lines(lines: list[str], path: Path) -> None:
    """Write a text file."""
    with replacing(path) as temporary:
        temporary.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
