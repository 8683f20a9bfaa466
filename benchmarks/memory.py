"""Measure the peak memory of an epoch in a new process that contains only the training labels.

The process runs `python -m benchmarks.memory MATRIX.npz CONTESTANT FACTORS THREADS`.
"""

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl

from benchmarks.children import run_module
from benchmarks.contestants import ALS, CORNAC_BPR, ENS, EVERYONE, IMPLICIT_BPR, LIGHTFM_WARP, OPT_AUC, VSE_FS, WARP_10
from benchmarks.data import simulate
from benchmarks.plan import Plan
from vsebench.core.machine import memory_bytes, peak_memory_bytes, processor
from vsebench.core.storage import read_arrays, write_arrays
from vsebench.core.workers import workers
from vsebench.data.problem import LabelMatrix
from vsebench.training import tiny_matrix

SCHEMA = {
    "size": pl.String,
    "contestant": pl.String,
    "threads": pl.Int32,
    "seconds": pl.Float64,
    "start_bytes": pl.Int64,  # memory after imports and compilation, before the data are read
    "peak_bytes": pl.Int64,
    "data_bytes": pl.Int64,  # size of the embeddings and of the label matrix
    "machine": pl.String,
}
MEASURED = (VSE_FS, OPT_AUC, WARP_10, ENS, ALS, IMPLICIT_BPR, CORNAC_BPR, LIGHTFM_WARP)


def measure(plan: Plan) -> pl.DataFrame:
    """Measure the contestants in MEASURED at one size, and VSE-fs also at the largest size."""
    rows = []
    for size, contestants in ((plan.memory, MEASURED), (plan.largest, (VSE_FS,))):
        with TemporaryDirectory() as folder:
            path = Path(folder) / "matrix.npz"
            data_bytes = _write(simulate(size, plan.scale), path, plan.factors)
            for contestant in contestants:
                threads = max(plan.threads)
                child = run_module("benchmarks.memory", str(path), contestant.name, str(plan.factors), str(threads))
                keys = {"size": size, "contestant": contestant.title, "threads": threads, "machine": processor()}
                rows.append(keys | {"data_bytes": data_bytes} | child.answer)
                print(f"memory, {size}, {contestant.title}: {child.answer['peak_bytes'] / 2**20:,.0f} MiB", flush=True)
    return pl.DataFrame(rows, schema=SCHEMA)


def _write(matrix: LabelMatrix, path: Path, factors: int) -> int:
    """Write a matrix; return the number of bytes of the matrix and the embeddings together."""
    write_arrays(
        path,
        offsets=matrix.offsets,
        labels=matrix.label_of_pair,
        counts=matrix.count_of_pair,
        n_labels=np.array(matrix.n_labels),
    )
    pairs = matrix.offsets.nbytes + matrix.label_of_pair.nbytes + matrix.count_of_pair.nbytes
    return 4 * factors * (matrix.n_rows + matrix.n_labels) + pairs


def epoch_here(path: Path, name: str, factors: int, threads: int) -> dict[str, Any]:
    """Train one epoch in this process; return its seconds, the memory before the data are read, and the peak memory."""
    contestant = next(contestant for contestant in EVERYONE if contestant.name == name)
    settings = contestant.grid[0] | {"factors": factors}
    with workers(threads) as pool:
        contestant.start(tiny_matrix(), settings, pool).run(1)
        start = memory_bytes()
        arrays = read_arrays(path)
        matrix = LabelMatrix(int(arrays["n_labels"]), arrays["offsets"], arrays["labels"], arrays["counts"])
        seconds = contestant.start(matrix, settings, pool).run(1)[0]
    return {"seconds": seconds, "start_bytes": start, "peak_bytes": peak_memory_bytes()}


if __name__ == "__main__":
    print(json.dumps(epoch_here(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))))
