"""Compute image features: run the images of a folder, tar archive or table through a network in an ONNX file.

The command stores the features of every 100 images in a file of their own, which is called a shard. docs/features.md
lists all files that the command writes, and says when a shard is reused.
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
from vsebench.core.storage import read_arrays, replacing, seal_array, write_arrays, write_json
from vsebench.data.chunks import even_chunks
from vsebench.formats.images.image_files import ImageFiles, open_images
from vsebench.formats.images.onnx_network import Network
from vsebench.formats.images.pixels import Transform, UnreadableError

SHARD = 100  # number of images per shard: with a slow network such as VGG-16, about 90 seconds of work
BATCH = 32  # number of images per batch of the network
LARGEST = 65504  # the largest float16
PACKAGES = ("onnxruntime", "pillow", "numpy")
Half = NDArray[np.float16]
# The modules on which the features of an image depend.
CODE = ("vsebench.formats.images.pixels", "vsebench.formats.images.onnx_network")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", type=Path, required=True, help="ONNX file with float32 input (n, 3, height, width)")
    parser.add_argument("--output", required=True, help="name of the network's output to use as features")
    images = "folder or tar archive of images, or table with the columns image (the id) and file"
    parser.add_argument("--images", type=Path, required=True, help=images)
    parser.add_argument("--transform", choices=get_args(TransformName), required=True, help="how pixels are scaled")
    sides = "the shorter side in pixels, before the centre is cropped; or squash: scale the whole image (default: 256)"
    parser.add_argument("--resize", type=resize, default=256, help=sides)
    ids = "whether image ids keep or drop the extensions of file names, such as .jpg (default: keep)"
    parser.add_argument("--suffixes", choices=get_args(Suffixes), default="keep", help=ids)
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="number of threads (default: one per core)")
    parser.add_argument("--out", type=Path, required=True, help="folder to write into")


def resize(text: str) -> Resize:
    """Parse the option `--resize`."""
    if text == "squash":
        return "squash"
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: must be a number of pixels or squash")
    return int(text)


def run(arguments: argparse.Namespace) -> None:
    if arguments.threads < 1:
        raise UserError(f"--threads: is {arguments.threads}; use 1 or more")
    network = Network(arguments.model, arguments.output, arguments.threads)
    least = max(network.height, network.width)
    if arguments.resize != "squash" and arguments.resize < least:
        size = f"{network.height} x {network.width}; use {least} or more, or squash"
        raise UserError(f"--resize: {arguments.resize} pixels, but {arguments.model} takes {size}")
    transform = Transform(arguments.transform, arguments.resize, network.height, network.width)
    images = open_images(arguments.images, arguments.suffixes)
    if images.left_out:
        print(
            f"{arguments.images}: number of files left out (hidden or not images): {images.left_out}", file=sys.stderr
        )
    record = describe(network, transform)
    describer = Describer(network, transform, arguments.threads)
    shards = make_shards(images, describer, json.dumps(record, sort_keys=True), arguments.out / "shards")
    failed = write(shards, images.ids, network.dimensions, arguments.out)
    counts = {"images": len(images.ids), "failed": failed, "dimensions": network.dimensions}
    write_json(record | counts, arguments.out / "record.json")


def describe(network: Network, transform: Transform) -> dict[str, Any]:
    """Return everything that the features depend on, apart from the images: the network, the transform and the code."""
    code = hashlib.sha256(b"".join(path.read_bytes() for path in sources_of(*CODE)))
    return {
        "model": {"name": network.path.name, "sha256": network.sha256},
        "output": network.output,
        "transform": transform.record(),
        "versions": {name: version(name) for name in PACKAGES},
        "code": code.hexdigest(),
    }


class Describer:
    """Computes the features of images with a network and a transform, and decodes the images on several threads."""

    def __init__(self, network: Network, transform: Transform, threads: int) -> None:
        self.network, self.transform = network, transform
        self._pool = ThreadPoolExecutor(threads)

    def rows(self, contents: Iterator[bytes | OSError], ids: list[str], bar: "tqdm[Any]") -> tuple[Half, list[str]]:
        """Return the features of the readable images, and a list that says which images cannot be read.

        The features have one row for each readable image. The list has an entry for each image: the reason why the
        image cannot be read, or "" for a readable image. Raises a `UserError` if a number is not finite or too large
        for float16.
        """
        rows, reasons = [np.empty((0, self.network.dimensions), dtype=np.float16)], []
        for start, stop in even_chunks(len(ids), BATCH):
            results = list(self._pool.map(self._pixels, islice(contents, stop - start)))
            reasons += [result if isinstance(result, str) else "" for result in results]
            readable = [number for number, result in enumerate(results, start) if not isinstance(result, str)]
            if readable:
                values = self.network(np.stack([pixels for pixels in results if not isinstance(pixels, str)]))
                rows.append(as_half(values, [ids[number] for number in readable], self.network))
            bar.update(stop - start)
        return np.concatenate(rows), reasons

    def _pixels(self, content: bytes | OSError) -> NDArray[np.float32] | str:
        """Return the network's input for an image or, if the image cannot be read, the reason."""
        if isinstance(content, OSError):
            return content.strerror or type(content).__name__
        try:
            return self.transform.pixels(content)
        except UnreadableError as error:
            return str(error)


def as_half(values: NDArray[np.float32], ids: list[str], network: Network) -> Half:
    """Return features as float16; if a number is too large or not finite, raise a `UserError` that names the image."""
    wrong = np.argwhere(~(np.abs(values) <= LARGEST))  # negated, so that NaN is wrong too
    if len(wrong):
        image, column = wrong[0]
        where = f"{network.path}: {ids[image]}: the output {network.output!r} contains {values[image, column]}"
        limit = f"which is not finite or too large for float16 (at most {LARGEST})"
        raise UserError(f"{where}, {limit}; check that the transform suits the network")
    return values.astype(np.float16)


def make_shards(images: ImageFiles, describer: Describer, record: str, folder: Path) -> list[Path]:
    """Compute the shards that are missing or out of date, delete unused ones, and return the paths of all shards."""
    parts = even_chunks(len(images.ids), SHARD)
    files = {folder / f"{number:05}.npz": part for number, part in enumerate(parts)}
    keys = {file: key_of(record, images, *part) for file, part in files.items()}
    for unused in set(folder.glob("*.npz")) - set(files):
        unused.unlink()
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
    """Return a hash of everything that determines the features of the images `start` to `stop` - 1."""
    dependencies = [record, images.ids[start:stop], images.marks[start:stop]]
    return hashlib.sha256(json.dumps(dependencies).encode()).hexdigest()


def key_in(file: Path) -> str | None:
    """Return the hash (see `key_of`) in a shard's file, or None if the file is missing or damaged."""
    try:
        return str(read_arrays(file)["key"])
    except (UserError, KeyError):
        return None


def write(shards: Sequence[Path], ids: list[str], dimensions: int, out: Path) -> int:
    """Write features.npy, ids.txt and failed.txt from the shards and ids; return the number of unreadable images."""
    reasons = np.concatenate([read_arrays(file)["reasons"] for file in shards]).tolist()
    failed = [f"{image}\t{reason}" for image, reason in zip(ids, reasons, strict=True) if reason]
    if len(failed) == len(ids):
        first = ": ".join(failed[0].split("\t", 1))
        raise UserError(f"no image can be read (number of images: {len(ids)}); first error: {first}")
    if failed:
        print(f"{len(failed)} of {len(ids)} images cannot be read; see {out / 'failed.txt'}", file=sys.stderr)
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
        seal_array(temporary, out / "features.npy")
    return len(failed)


def write_lines(lines: list[str], path: Path) -> None:
    """Write lines into a text file."""
    with replacing(path) as temporary:
        temporary.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
