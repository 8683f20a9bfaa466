"""Measure the time and memory that it takes to read a table with the layout and size of Open Images.

    python benchmarks/openimages_reader.py FOLDER [--lines 80000000]

The script generates an archive in FOLDER (0.6 GB for 80 million lines), unless an earlier run with the same number of
lines has done so. It runs the stage `prepare` on the archive in separate processes, checks the label matrix, prints a
table, and writes the numbers to results/openimages_reader.json. Images have 9 labels on average, label frequencies are
heavy-tailed, and 1 % of the lines are repeated. Unlike in the official table, the images are not sorted, so reading the
table takes more work.
"""

import argparse
import io
import json
import os
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from vsebench.core.storage import write_json

ARCHIVE = "generated.tar.gz"
LABELS = 7_844
LABELS_PER_IMAGE = 9
BLOCKS = 50  # minimum number of blocks; the last 2 % of the blocks form the table of the validation part
IMAGES_A_BLOCK = 100_000
REPEATED = 0.01
LIMIT_GIB = 6
# The process reports its own peak, since the peak that the system reports to a parent includes the parent's memory.
STAGE = """
import json, os, sys
from vsebench.cli import main
from vsebench.core.machine import peak_memory_bytes
status, times = main(sys.argv[1:]), os.times()
print(json.dumps({"cpu_seconds": times.user + times.system, "gib": peak_memory_bytes() / 2**30}))
sys.exit(status)
"""
VARIANTS: dict[str, dict[str, Any]] = {
    "everything": {},
    "filters on everything": {"top_labels": 6000, "min_labels_per_image": 2},
    "a sample of 15 %": {"sample_images": 0.15, "top_labels": 7483, "min_labels_per_image": 2},
}


def mids() -> np.ndarray:
    """Return label ids of 8 to 10 characters, like those of Open Images.

    The result has shape (LABELS,) and contains bytes. The labels are in descending order of their popularity.
    """
    order = np.random.default_rng(0).permutation(LABELS)
    return np.array([b"/m/0%x" % number for number in 4096 + order * 397])


def image_id(number: np.ndarray) -> np.ndarray:
    """Return a distinct, random-looking uint64 for each number."""
    mixed = number.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return mixed ^ (mixed >> np.uint64(31))


def draw(n_lines: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray, int]]:
    """Yield blocks of lines: the image number and the label of each line, and the number of repeated lines.

    The repeated lines are the last lines of a block.
    """
    a_block = min(IMAGES_A_BLOCK, n_lines // LABELS_PER_IMAGE // BLOCKS + 1)
    popularity = np.cumsum(1 / np.arange(10, LABELS + 10))
    drawn = block = 0
    while drawn < n_lines:
        rng = np.random.default_rng([seed, block])
        sizes = 1 + rng.negative_binomial(4, 4 / (3 + LABELS_PER_IMAGE), a_block)
        image = np.repeat(np.arange(a_block), sizes)
        label = np.searchsorted(popularity, rng.random(len(image)) * popularity[-1])
        image, label = np.divmod(np.unique(image * LABELS + label)[: n_lines - drawn], LABELS)
        repeats = rng.integers(len(image), size=min(int(REPEATED * len(image)), n_lines - drawn - len(image)))
        image, label = np.append(image, image[repeats]), np.append(label, label[repeats])
        yield image + block * a_block, label, len(repeats)
        drawn += len(image)
        block += 1


def text(image: np.ndarray, label: np.ndarray, names: np.ndarray) -> bytes:
    """Return the lines of a table.

    The lines are built as a matrix of bytes, in which names are padded with zeros. Then the zeros are removed.
    """
    nibbles = (image_id(image)[:, None] >> np.arange(60, -1, -4, dtype=np.uint64)) & np.uint64(15)
    digits = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)[nibbles.astype(np.uint8)]
    name = names[label].view(np.uint8).reshape(len(label), -1)
    confidence = np.frombuffer(b",0.5\n,0.6\n,0.7\n,0.8\n,0.9\n", dtype=np.uint8).reshape(5, 5)[(image + label) % 5]
    source = np.broadcast_to(np.frombuffer(b",machine,", dtype=np.uint8), (len(label), 9))
    matrix = np.concatenate([digits, source, name, confidence], axis=1)
    return matrix[matrix != 0].tobytes()


def generate(archive: Path, n_lines: int, seed: int = 0) -> dict[str, Any]:
    """Write an archive, and return its numbers of lines, images, pairs and repeats.

    The result also contains the number of images of each label. To save memory, blocks are drawn twice. The first time,
    only their sizes are kept, because a tar archive states the size of a file before its content.
    """
    names = mids()
    lengths = np.char.str_len(names)
    head = b"ImageID,Source,LabelName,Confidence\n"
    frequency, sizes = np.zeros(LABELS, dtype=np.int64), []
    n_images = repeated = 0
    for image, label, repeats in draw(n_lines, seed):
        sizes.append((16 + 9 + 5) * len(label) + int(lengths[label].sum()))
        frequency += np.bincount(label[: len(label) - repeats], minlength=LABELS)
        n_images += len(np.unique(image))
        repeated += repeats
    n_train = len(sizes) - max(1, len(sizes) // BLOCKS)
    blocks = draw(n_lines, seed)
    with tarfile.open(archive, "w:gz", compresslevel=1) as tar:
        for part, of_part in (("train", sizes[:n_train]), ("validation", sizes[n_train:])):
            info = tarfile.TarInfo(f"machine_ann/{part}/labels.csv")
            info.size = len(head) + sum(of_part)
            tar.addfile(info, io.BufferedReader(_Lines(head, (text(*next(blocks)[:2], names) for _ in of_part))))
    used = {names[label].decode(): int(frequency[label]) for label in np.flatnonzero(frequency)}
    pairs = n_lines - repeated
    return {"lines": n_lines, "images": n_images, "pairs": pairs, "repeats": repeated, "frequency": used}


class _Lines(io.RawIOBase):
    """A file-like object that contains `head` and then the blocks of an iterator."""

    def __init__(self, head: bytes, blocks: Iterator[bytes]) -> None:
        self.rest, self.blocks = memoryview(head), blocks

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self.rest:
            self.rest = memoryview(next(self.blocks, b""))
        size = min(len(buffer), len(self.rest))
        buffer[:size] = self.rest[:size]
        self.rest = self.rest[size:]
        return size


def prepare(folder: Path, out: Path, vocabulary: dict[str, Any]) -> dict[str, float]:
    """Run the stage `prepare` in a new process; return its wall time, processor time and peak memory."""
    options = {"archive": ARCHIVE, "min_confidence": 0.5}
    definition = json.dumps({"adapter": "openimages", "options": options, "vocabulary": vocabulary})
    command = [sys.executable, "-c", STAGE, "prepare", "--name", "generated", "--definition", definition]
    command += ["--raw", str(folder), "--out", str(out)]
    start = time.perf_counter()
    process = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if process.returncode:
        raise SystemExit(f"the stage prepare ended with status {process.returncode}")
    measured: dict[str, float] = json.loads(process.stdout.splitlines()[-1])
    return {"seconds": time.perf_counter() - start} | measured


def check(out: Path, made: dict[str, Any]) -> None:
    """Check that the matrix made without filters contains exactly the generated annotations."""
    labels = pl.read_parquet(out / "labels.parquet")
    counts = json.loads((out / "summary.json").read_text())["counts"]
    assert (counts["images"], counts["pairs"]) == (made["images"], made["pairs"]), counts
    assert dict(labels.select("name", "frequency").rows()) == made["frequency"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="scratch folder, in which the generated archive stays")
    parser.add_argument("--lines", type=int, default=80_000_000)
    arguments = parser.parse_args()
    folder: Path = arguments.folder
    folder.mkdir(parents=True, exist_ok=True)
    note = folder / f"made-{arguments.lines}.json"
    if not note.exists():
        note.write_text(json.dumps(generate(folder / ARCHIVE, arguments.lines)))
    made = json.loads(note.read_text())
    columns = ("lines", "filters", "images", "labels", "pairs", "seconds", "CPU seconds", "peak GiB")
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    results = []
    for name, filters in VARIANTS.items():
        vocabulary = dict(filters)
        if "sample_images" in vocabulary:
            vocabulary["sample_images"] = int(vocabulary["sample_images"] * made["images"])
        out = folder / "processed"
        measured = prepare(folder, out, vocabulary)
        if not filters:
            check(out, made)
        counts = json.loads((out / "summary.json").read_text())["counts"]
        sizes = {key: counts[key] for key in ("images", "labels", "pairs")}
        results.append({"lines": made["lines"], "filters": name, **sizes, **measured})
        numbers = [f"{number:,}" for number in sizes.values()]
        numbers += [f"{measured[key]:.0f}" for key in ("seconds", "cpu_seconds")] + [f"{measured['gib']:.2f}"]
        print(f"| {made['lines']:,} | {name} | {' | '.join(numbers)} |", flush=True)
    target = Path("results") / "openimages_reader.json"
    write_json({"cores": os.cpu_count(), "runs": results}, target)
    if max(result["gib"] for result in results) > LIMIT_GIB:
        raise SystemExit(f"the stage prepare took more than {LIMIT_GIB} GiB of memory")


if __name__ == "__main__":
    main()
