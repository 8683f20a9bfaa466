"""Compare the time and memory that another program's scores need with those that this package's models need.

Opt-AUC and WARP are fitted on simulated labels; the plan's `memory` names their size. The scores of Opt-AUC are then
written to two files, as another program would write them: the first file has the vectors of images and labels, and the
second file has each image's 100 labels with the highest scores. The stage `fit` trains the model or reads the file, and
the stage `rank` ranks the held-out labels. Each stage runs in a new process:
`python -m benchmarks.outside_scores ARGUMENTS`.
"""

import json
import sys
import time
from contextlib import redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl

from benchmarks.children import run_module
from benchmarks.data import configured, simulate
from benchmarks.plan import SEED, Plan
from vsebench import cli
from vsebench.core.machine import peak_memory_bytes, processor
from vsebench.core.schemas import IMAGES, LABELS, PAIRS
from vsebench.core.storage import read_arrays, read_parquet, write_table

SCHEMA = {
    "size": pl.String,
    "scores": pl.String,
    "threads": pl.Int32,
    "seconds_read": pl.Float64,  # time of the stage that trains the model or reads the file
    "peak_read": pl.Int64,  # peak memory of the same stage in bytes
    "seconds_rank": pl.Float64,
    "peak_rank": pl.Int64,
    "recall": pl.Float64,  # recall@10; ties count against the label
    "machine": pl.String,
}
TRAINED = ("warp", "opt_auc")  # the methods that are trained; the files contain the scores of the last method
FORMS = {
    "warp": "WARP",
    "opt_auc": "Opt-AUC",
    "vectors": "its vectors (.npz)",
    "lists": "its first 100 labels (.parquet)",
}
FILES = {"vectors": "vectors.npz", "lists": "lists.parquet"}
LISTED = 100  # number of labels in the list of an image
EPOCHS = 2
CHUNK = 4096  # images whose scores are computed at a time


def measure(plan: Plan) -> pl.DataFrame:
    """Measure time and memory of both trained models, WARP and Opt-AUC, and of both files of scores."""
    size, threads, rows = plan.memory, max(plan.threads), []
    with TemporaryDirectory() as name:
        folder = Path(name)
        run_module("benchmarks.outside_scores", "data", name, size, str(plan.scale))
        run_stage("split", "--processed", folder, "--protocol", "distinct", "--seed", SEED, "--out", folder / "split")
        for form in FORMS:
            fitted, ranked = fit_and_rank(folder, form, plan)
            row = {"size": size, "scores": FORMS[form], "threads": threads, "machine": processor()}
            for stage, measured in (("read", fitted), ("rank", ranked)):
                row |= {f"seconds_{stage}": measured["seconds"], f"peak_{stage}": measured["peak_bytes"]}
            rows.append(row | {"recall": recall_of(folder / form / "ranks.parquet")})
            peaks = [f"{measured['peak_bytes'] / 2**20:,.0f} MiB" for measured in (fitted, ranked)]
            print(f"outside_scores, {size}, {FORMS[form]}: peak {peaks[0]} to fit, {peaks[1]} to rank", flush=True)
            if form == TRAINED[-1]:
                run_module("benchmarks.outside_scores", "files", name)
    return pl.DataFrame(rows, schema=SCHEMA)


def fit_and_rank(folder: Path, form: str, plan: Plan) -> tuple[dict[str, Any], dict[str, Any]]:
    """Fit a method or read a file of scores, and then rank the test labels.

    Return the seconds and the memory of the two stages. `form` is a key of FORMS.
    """
    threads, split, out = max(plan.threads), folder / "split", folder / form
    case: list[object] = [
        "--split", split, "--dataset", "simulated", "--protocol", "distinct", "--variant", form, "--seed", SEED,
        "--threads", threads, "--out", out,
    ]  # fmt: skip
    if form in TRAINED:
        settings = configured(form).settings | {"factors": plan.factors}
        epochs = {"maximum": EPOCHS, "patience": None}
        case += ["--module", form, "--epochs", json.dumps(epochs), "--metric", "ndcg@10", "--images", plan.images]
    else:
        settings = {"file": str(folder / FILES[form])}
        case += ["--module", "outside_scores", "--names", folder / "labels.parquet"]
    fitted = run_stage("fit", *case, "--settings", json.dumps(settings))
    ranks = ["--ranks", out / "ranks.parquet", "--lists", out / "lists.parquet", "--threads", threads]
    return fitted, run_stage("rank", "--split", split, "--model", out / "model.npz", *ranks)


def run_stage(*words: object) -> dict[str, Any]:
    """Run a stage of the workflow in a new process; return its seconds and its peak memory in bytes."""
    answer: dict[str, Any] = run_module("benchmarks.outside_scores", "stage", *map(str, words)).answer
    return answer


def recall_of(ranks: Path) -> float:
    """Return recall@10 from a table of ranks with one held-out label per image."""
    frame = read_parquet(ranks)
    within = (frame["above"] + frame["tied"] < 10).fill_null(False)
    return float(within.mean() or 0.0)


def stage_here(words: list[str]) -> dict[str, Any]:
    """Run a stage in this process."""
    start = time.perf_counter()
    with redirect_stdout(sys.stderr):
        status = cli.main(["stage", *words])
    if status:
        sys.exit(status)
    return {"seconds": time.perf_counter() - start, "peak_bytes": peak_memory_bytes()}


def write_data(folder: Path, size: str, scale: float) -> None:
    """Draw the labels, and write them as a processed data set."""
    matrix = simulate(size, scale)
    frequency = np.bincount(matrix.label_of_pair, minlength=matrix.n_labels)
    images = pl.DataFrame({"image": np.arange(matrix.n_rows)}).with_columns(
        id=pl.format("image-{}.jpg", pl.col("image")), part=pl.lit(None), has_features=pl.lit(False)
    )
    labels = pl.DataFrame({"label": np.arange(matrix.n_labels)}).with_columns(
        name=pl.format("label {}", pl.col("label")), frequency=frequency, occurrences=frequency
    )
    write_table(images.cast(dict(IMAGES)), IMAGES, folder / "images.parquet")
    write_table(labels.cast(dict(LABELS)), LABELS, folder / "labels.parquet")
    write_table(matrix.to_pairs(), PAIRS, folder / "pairs.parquet")


def write_files(folder: Path) -> None:
    """Write the fitted model's vectors, and each image's labels with the highest scores, as another program would."""
    model = read_arrays(folder / TRAINED[-1] / "model.npz")
    ids, names = read_parquet(folder / "images.parquet")["id"], read_parquet(folder / "labels.parquet")["name"]
    vectors = {"image_vectors": model["image"], "label_vectors": model["label"]}
    np.savez(folder / FILES["vectors"], **vectors, ids=np.array(ids.to_list()), labels=np.array(names.to_list()))
    listed = min(LISTED, len(names))
    chunks = []
    for start in range(0, len(ids), CHUNK):
        scores = model["image"][start : start + CHUNK] @ model["label"].T
        first = np.argpartition(-scores, listed - 1, axis=1)[:, :listed]
        image = ids[start : start + CHUNK]
        columns = {
            "image": image.gather(np.repeat(np.arange(len(image)), listed)),
            "label": names.gather(first.ravel()),
            "score": np.take_along_axis(scores, first, axis=1).ravel(),
        }
        chunks.append(pl.DataFrame(columns).with_columns(pl.col("image", "label").cast(pl.Categorical)))
    pl.concat(chunks).with_columns(pl.col("image", "label").cast(pl.String)).write_parquet(folder / FILES["lists"])


def main(arguments: list[str]) -> None:
    """Run one step in this process."""
    step, *words = arguments
    if step == "data":
        write_data(Path(words[0]), words[1], float(words[2]))
    elif step == "files":
        write_files(Path(words[0]))
    else:
        print(json.dumps(stage_here(words)))


if __name__ == "__main__":
    main(sys.argv[1:])
