"""Find out which methods can be run with very many labels, and how long they take, on simulated data.

    .venv/bin/python -m benchmarks.extreme FOLDER [--scale 0.1] [--memory 20] [--minutes 60] [--methods wsabie ridge]

At full size, there are 500,000 training images, 1,000 test images, 100,000 labels and 200,000 features. An image has
five labels and, on average, 100 non-zero features. The data are simulated as in `feature_rows`, so the accuracy after
one epoch does not say which method is better; it only shows that labels were ranked. The data are written to FOLDER in
the text format of the Extreme Classification Repository (0.5 GB) unless these files exist already, and are then read
from the files.

Each method then runs in a process of its own: one epoch, or the whole fit of a method without epochs, and the ranking
of the labels for 200 test images. Methods that know images by their labels alone get all images, and rank the labels
for 200 of them; one label of each image is held out (protocol `distinct`). A method is refused before it begins if its
lower bound on memory (`Fitter.least_memory`) exceeds the limit; a process that exceeds the limit on memory or time is
ended. The script prints a table, and writes results/extreme.json.
"""

import argparse
import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.children import ROOT, last_words
from benchmarks.data import configured
from benchmarks.feature_rows import draw_labels, draw_words
from benchmarks.plan import SEED, SparseRows, scaled
from vsebench.core.errors import UserError
from vsebench.core.machine import memory_bytes, peak_memory_bytes, peak_memory_of, processor
from vsebench.core.storage import read_parquet, write_json, write_parquet
from vsebench.core.tasks import Case, Task
from vsebench.core.workers import workers
from vsebench.data.features import Features, read_features, write_features
from vsebench.data.problem import Dataset, LabelMatrix, Problem, Split
from vsebench.data.streams import Stream, generator
from vsebench.evaluation.metrics import mean_metric
from vsebench.evaluation.ranking import rank
from vsebench.formats.readers import xc_repository
from vsebench.methods.base import Fitter, Method, Settings, load_method, read_settings, with_factors
from vsebench.protocols.base import load_protocol, split_dataset
from vsebench.training import check_memory, warm_up

FULL = SparseRows(images=500_000, dimensions=200_000, labels=100_000, labels_per_image=5, words=104)
TEST_IMAGES, RANKED_IMAGES = 1_000, 200
FACTORS = 100
METHODS = (
    "popularity", "random", "wsabie", "wsabie_auc", "random_projection_tree", "vote_by_cosine", "bce", "zlpr", "lsep",
    "linear_warp", "pamir_ia", "one_vs_rest", "lsep_linear", "ridge", "logistic", "softmax", "kernel_ridge",
    "nearest_images", "jec", "tagprop", "tagprop_sigma", "two_pass_knn", "nmf_knn", "cca_knn_labels", "fasttag",
    "opt_auc", "warp", "vse_ens", "vse_fs", "ials", "mult_vae",
    "ease", "edlae", "slim", "item_knn", "rp3beta", "pure_svd",
)  # fmt: skip
FILES: dict[xc_repository.Part, str] = {"train": "train.txt", "test": "test.txt"}
IMAGES_A_BLOCK = 20_000
GIB = 2**30


@dataclass(frozen=True)
class Limits:
    """The memory in bytes and the seconds that a process may use; a process that uses more is ended."""

    memory: int
    seconds: float


def write_data(folder: Path, scale: float) -> None:
    """Draw training and test images, and write them in the text format of the repository."""
    size = replace(FULL.scaled(scale), images=scaled(FULL.images, scale) + TEST_IMAGES)
    rng = generator(SEED, Stream.SIMULATED_LABELS)
    labels = draw_labels(size, rng)
    values = draw_words(size, labels, rng)
    n_train = size.images - TEST_IMAGES
    folder.mkdir(parents=True, exist_ok=True)
    for name, start, stop in ((FILES["train"], 0, n_train), (FILES["test"], n_train, size.images)):
        with (folder / name).open("w") as stream:
            stream.write(f"{stop - start} {size.dimensions} {size.labels}\n")
            for first in range(start, stop, IMAGES_A_BLOCK):
                last = min(first + IMAGES_A_BLOCK, stop)
                stream.write("".join(f"{line}\n" for line in text_of(labels.slice(first, last), values[first:last])))


def text_of(labels: LabelMatrix, values: Any) -> list[str]:
    """Return a line for each image: its labels, and its features with their values."""
    images = np.arange(labels.n_rows)
    entries = pl.DataFrame({"image": np.repeat(images, np.diff(values.indptr)), "feature": values.indices})
    entries = entries.with_columns(value=pl.Series(values.data.astype(np.float64)).round(6))
    words = entries.group_by("image", maintain_order=True).agg(pl.format("{}:{}", "feature", "value").str.join(" "))
    pairs = pl.DataFrame({"image": labels.image_of_pair, "label": labels.label_of_pair}).cast({"image": pl.Int64})
    names = pairs.group_by("image", maintain_order=True).agg(pl.col("label").cast(pl.String).str.join(","))
    lines = pl.DataFrame({"image": images}).join(names, on="image", how="left", maintain_order="left")
    lines = lines.join(words, on="image", how="left", maintain_order="left")
    return (
        lines.select(pl.concat_str([pl.nth(1).fill_null(""), pl.nth(2).fill_null("")], separator=" "))
        .to_series()
        .to_list()
    )


def read_text(folder: Path) -> dict[str, Any]:
    """Read the text files, and write their features and labels to files for the other processes.

    Return the seconds and the memory of the reading, and the number of non-zero features.
    """
    start, before = time.perf_counter(), memory_bytes()
    annotations = xc_repository.read(folder, xc_repository.Options(features="sparse", parts=FILES))
    seconds = time.perf_counter() - start
    assert annotations.features is not None
    assert annotations.parts is not None
    write_features(annotations.features, folder / "features.npz")
    write_parquet(annotations.pairs, folder / "pairs.parquet")
    write_json({"labels": len(annotations.labels), "parts": annotations.parts.to_list()}, folder / "sizes.json")
    entries = annotations.features.values.nnz
    return {"seconds": seconds, "start_bytes": before, "peak_bytes": peak_memory_bytes(), "entries": entries}


def run_method(folder: Path, variant: str, limit: int) -> dict[str, Any]:
    """Fit a method, rank labels for test images, and return the seconds and the memory.

    If the lower bound on the method's memory exceeds `limit` bytes, return the reason why it was refused.
    """
    method, settings = method_of(variant)
    protocol = "distinct" if "known_labels" in method.needs else "official"
    split, features = read_split(folder, protocol)
    with workers(1) as pool:
        problem = Problem(split.final, SEED, pool, features)
        case = Case(Task("simulated", protocol), variant, SEED)
        try:
            check_memory(method, settings, problem, case, limit)
        except UserError as error:
            return {"refused": str(error)}
        if issubclass(method, Method):
            warm_up(method, settings)
        start, before = time.perf_counter(), memory_bytes()
        fitter = method(problem, settings)
        prepared = time.perf_counter()
        if isinstance(fitter, Method):
            fitter.epoch()
        model = fitter.model()
        fitted = time.perf_counter()
        measured = {"start_seconds": prepared - start, "fit_seconds": fitted - prepared, "start_bytes": before}
        return measured | ranked(model, split, problem) | {"peak_bytes": peak_memory_bytes()}


def method_of(variant: str) -> tuple[type[Fitter], Settings]:
    """Return a method and its settings.

    The settings are those in the file of the variant, but with 100 factors. Methods that normalise features have the
    normalisation steps `idf` and `l2`, which suit counts.
    """
    config = configured(variant)
    method = load_method(config.method)
    values = with_factors(method, config.settings, FACTORS)
    if "normalise" in method.settings_type.model_fields:
        values["normalise"] = ["idf", "l2"]
    return method, read_settings(method, values, variant)


def read_split(folder: Path, protocol: str) -> tuple[Split, Features | None]:
    """Return the split of the data under a protocol, and the features if the test images are new."""
    sizes = json.loads((folder / "sizes.json").read_text())
    parts = np.array(sizes["parts"])
    labels = LabelMatrix.from_pairs(read_parquet(folder / "pairs.parquet"), len(parts), sizes["labels"])
    if not load_protocol(protocol).new_images:
        return split_dataset(protocol, Dataset(labels), SEED), None
    features = read_features(folder / "features.npz", np.ones(len(parts), dtype=np.bool_))
    return split_dataset(protocol, Dataset(labels, parts, features.known), SEED), features


def ranked(model: Any, split: Split, problem: Problem) -> dict[str, float]:
    """Rank the labels of some test images; return the seconds per image, and the mean precision@1."""
    test = split.test.take(np.arange(min(RANKED_IMAGES, len(split.test.images)), dtype=np.int32))
    start = time.perf_counter()
    ranks = rank(model, test, problem.features, problem.workers, "test")
    seconds = (time.perf_counter() - start) / len(test.images)
    return {"seconds_per_image": seconds, "precision@1": mean_metric(ranks, "precision@1")}


def in_child(folder: Path, what: str, limits: Limits) -> dict[str, Any]:
    """Read the text, or run a method, in a process that is ended when it exceeds a limit."""
    command = [sys.executable, "-m", "benchmarks.extreme", str(folder), "--child", what, "--memory", str(limits.memory)]
    start, ended = time.perf_counter(), ""
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None and not ended:
            time.sleep(0.2)
            if (peak_memory_of(process.pid) or 0) > limits.memory:
                ended = f"it took more than {limits.memory / GIB:.1f} GiB"
            elif time.perf_counter() - start > limits.seconds:
                ended = f"it took more than {limits.seconds / 60:.0f} minutes"
        if ended:
            process.kill()
        out, errors = process.communicate()
    if not ended and process.returncode == 0:
        answer: dict[str, Any] = json.loads(out)
        return answer
    return {"ended": ended or last_words(subprocess.CompletedProcess(command, process.returncode, out, errors))}


def line(variant: str, result: dict[str, Any]) -> str:
    """Return a method's line of the printed table."""
    if "fit_seconds" not in result:
        return f"| {variant} | {result.get('refused') or result['ended']} |"
    gib, milliseconds = result["peak_bytes"] / GIB, 1000 * result["seconds_per_image"]
    seconds = f"{result['start_seconds']:.1f} s to start, {result['fit_seconds']:.1f} s for an epoch or the fit"
    accuracy = f"precision@1 {result['precision@1']:.3f}"
    return f"| {variant} | {seconds}, {gib:.2f} GiB, {milliseconds:.1f} ms per test image, {accuracy} |"


def measure(folder: Path, scale: float, methods: list[str], limits: Limits, out: Path) -> dict[str, Any]:
    """Write the data if they do not exist, read them, and run the methods one after the other."""
    if not (folder / FILES["test"]).is_file():
        write_data(folder, scale)
    results: dict[str, Any] = {"scale": scale, "machine": processor(), "limits": asdict(limits), "methods": {}}
    results["reading"] = in_child(folder, "read", limits)
    print(f"reading: {results['reading']}", flush=True)
    for variant in methods:
        results["methods"][variant] = in_child(folder, variant, limits)
        print(line(variant, results["methods"][variant]), flush=True)
        write_json(results, out)
    return results


def main(arguments: list[str]) -> None:
    """Read the command line, and measure the methods that it names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="a folder for the data")
    parser.add_argument("--scale", type=float, default=1.0, help="size of the data, relative to the full size")
    parser.add_argument("--memory", type=float, default=20, help="maximum memory of a process, in GiB")
    parser.add_argument("--minutes", type=float, default=60, help="maximum time of a process, in minutes")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), help="files in config/methods")
    parser.add_argument("--out", type=Path, default=Path("results/extreme.json"))
    parser.add_argument("--child", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.child:
        limit = int(given.memory)  # in bytes here
        answer = read_text(given.folder) if given.child == "read" else run_method(given.folder, given.child, limit)
        print(json.dumps(answer))
        return
    limits = Limits(round(given.memory * GIB), 60 * given.minutes)
    measure(given.folder, given.scale, given.methods, limits, given.out)


if __name__ == "__main__":
    main(sys.argv[1:])
