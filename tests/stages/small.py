"""A small processed data set and stages run on it, in this process."""

import json

import numpy as np
import polars as pl

from vsebench.cli import main
from vsebench.core.modules import modules_in
from vsebench.core.schemas import IMAGES, LABELS, PAIRS
from vsebench.core.storage import write_array, write_table

SETTINGS = {"factors": 4, "learning_rate": 0.1, "regularisation": 0.01, "deviation": 0.1}
EPOCHS = {"maximum": 6, "patience": 3}


def write_processed(folder, n_images=80, features=False):
    """Write images in four groups, an image with four of its group's six labels; every fourth is a test image."""
    rng = np.random.default_rng(0)
    lines = [(i, int(label), 1) for i in range(n_images) for label in 6 * (i % 4) + rng.choice(6, 4, replace=False)]
    pairs = pl.DataFrame(lines, schema=PAIRS, orient="row").sort("image", "label")
    write_table(pairs, PAIRS, folder / "pairs.parquet")
    images = {
        "image": np.arange(n_images),
        "id": [f"i{i}" for i in range(n_images)],
        "part": ["test" if i // 4 % 5 == 0 else "train" for i in range(n_images)],
        "has_features": [features] * n_images,
    }
    write_table(pl.DataFrame(images, schema=IMAGES), IMAGES, folder / "images.parquet")
    write_labels(folder, [f"l{label}" for label in range(24)], np.bincount(pairs["label"], minlength=24))
    if features:
        write_array(np.eye(4, dtype=np.float32)[np.arange(n_images) % 4], folder / "features.npy")


def write_labels(folder, names, frequency=1):
    """Write labels.parquet; each label occurs once per image."""
    columns = {"label": range(len(names)), "name": names, "frequency": frequency, "occurrences": frequency}
    write_table(pl.DataFrame(columns, schema=LABELS), LABELS, folder / "labels.parquet")


def run(name, *arguments):
    """Run a command or stage; returns its exit status."""
    group = [] if name.replace("-", "_") in modules_in("commands") else ["stage"]
    return main([*group, name, *map(str, arguments)])


def split(folder, protocol="distinct", seed=1):
    return run("split", "--processed", folder, "--protocol", protocol, "--seed", seed, "--out", folder / "split")


def case(folder, module="opt_auc", settings=SETTINGS, protocol="distinct", seed=1, variant="my_row"):
    """Return the arguments that `fit` and `sweep` share."""
    return [
        "--split", folder / "split", *inputs(folder), "--dataset", "sim-tiny", "--protocol", protocol,
        "--variant", variant, "--module", module, "--settings", json.dumps(settings), "--seed", seed,
    ]  # fmt: skip


def inputs(folder):
    """Name the features and the truth that the folder has."""
    files = {"--features": folder / "features.npy", "--truth": folder / "truth.npz"}
    return [word for option, file in files.items() if file.is_file() for word in (option, file)]


def fit(folder, *options, grid=None, epochs=EPOCHS, metric="ndcg@10", **changes):
    arguments = ["fit", *case(folder, **changes), "--images", 1000, "--out", folder / "model"]
    arguments += ["--grid", json.dumps(grid)] if grid else []
    arguments += ["--epochs", json.dumps(epochs)] if epochs else []
    return run(*arguments, *options, *(["--metric", metric] if metric else []))
