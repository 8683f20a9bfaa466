"""Write a split for a program outside this package, and read what is needed to check the program's scores.

The written folder contains everything that a model may learn from, but no test label.
"""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from vsebench.core.errors import UserError, one_line
from vsebench.core.storage import read_json, read_parquet, replacing, write_json
from vsebench.core.tasks import Task
from vsebench.data.needs import Names, Parts

LINKED = ("features*.np[yz]", "word_vectors.npz")
FILES = (
    "README.md", "train.csv", "valid.csv", "final.csv", "images.csv", "labels.csv", "split.json", "split.txt",
)  # fmt: skip
README = """# {task}, seed {seed}

Made by vsebench. Train a model on these files, score the test images, and write the scores to a file.

| file | content |
|---|---|
| `train.csv` | image, label, count: the labels to train on while settings are chosen |
| `valid.csv` | the labels for choosing settings |
| `final.csv` | the labels to train the final model on: those of `train.csv` and `valid.csv` |
| `images.csv` | id: all images; train, valid, final, test: whether the image is used for this part |
| `labels.csv` | name: all labels; trained: whether the final model sees the label; candidate: whether it is ranked |
| `features.npy`, `.npz` | the features, if any: one row per image of `images.csv`, not normalised (.npz: CSR) |
| `features-NAME.npy`, `.npz` | if there are several sets of features: one file per set, instead of `features.npy` |
| `word_vectors.npz` | if there are word vectors: `vectors`, one row per label; `known`: whether a label has one |
| `split.json` | the task, the seed and the hash of the split |
| `split.txt` | the hash alone |

docs/outside.md describes the formats of score files. If you write `scores.parquet`, copy `split.txt` to
`scores.split.txt` in the same folder; vsebench can then refuse scores of another split. `vsebench check-scores
scores.parquet FOLDER` tells whether the scores fit this split; FOLDER is the folder that contains this file.
"""


@dataclass(frozen=True)
class ExportedSplit:
    """What is needed to check scores: image ids, label names, test images, candidate labels, content of split.json."""

    names: Names
    parts: Parts
    record: dict[str, Any]


def write_exported(split: Path, processed: Path, folder: Path, task: Task, seed: int, copied: bool) -> str:
    """Write a split for a program outside this package, and return the hash of the split.

    The file `split.json` is written last. If the split has no hash, a `UserError` is raised.

    Parameters
    ----------
    split : folder of the split
    processed : folder of the processed data
    folder : the folder to write
    copied : whether features and word vectors are copied; if not, relative links to their files are made
    """
    hash_of_split = read_json(split / "split.json").get("hash")
    if hash_of_split is None:
        why = "because an older version of vsebench wrote it"
        raise UserError(f"{split}/split.json: has no hash, {why}; delete it and run again")
    _write_tables(split, processed, folder)
    for link in (path for pattern in LINKED for path in folder.glob(pattern)):
        link.unlink()
    for file in (path for pattern in LINKED for path in sorted(processed.glob(pattern))):
        if copied:
            shutil.copyfile(file, folder / file.name)
        else:
            (folder / file.name).symlink_to(os.path.relpath(file.resolve(), folder.resolve()))
    (folder / "split.txt").write_text(f"{hash_of_split}\n", encoding="utf-8")
    (folder / "README.md").write_text(README.format(task=task, seed=seed), encoding="utf-8")
    write_json({"task": str(task), "seed": seed, "hash": hash_of_split}, folder / "split.json")
    return str(hash_of_split)


def _write_tables(split: Path, processed: Path, folder: Path) -> None:
    """Write the pairs, the images and the labels of a split as CSV files that contain names instead of numbers."""
    ids, names = read_parquet(processed / "images.parquet")["id"], read_parquet(processed / "labels.parquet")["name"]
    for part in ("train", "valid", "final"):
        pairs = read_parquet(split / f"{part}.parquet")
        columns = {"image": ids.gather(pairs["image"]), "label": names.gather(pairs["label"]), "count": pairs["count"]}
        _write_csv(pl.DataFrame(columns), folder / f"{part}.csv")
    images, labels = read_parquet(split / "images.parquet"), read_parquet(split / "labels.parquet")
    used = {"train": images["first"], "valid": images["valid"], "final": images["final"], "test": images["test"]}
    _write_csv(pl.DataFrame({"id": ids} | used), folder / "images.csv")
    roles = {"name": names, "trained": labels["final"], "candidate": labels["test"]}
    _write_csv(pl.DataFrame(roles), folder / "labels.csv")


def _write_csv(frame: pl.DataFrame, path: Path) -> None:
    with replacing(path) as temporary:
        frame.write_csv(temporary)


def read_exported(folder: Path) -> ExportedSplit:
    """Read a folder that `write_exported` wrote; a `UserError` names a file that is missing or was changed."""
    images = _read_csv(folder / "images.csv", "id", "test")
    labels = _read_csv(folder / "labels.csv", "name", "candidate")
    record = read_json(folder / "split.json")
    if not isinstance(record, dict) or not {"task", "seed", "hash"} <= record.keys():
        raise _changed(folder / "split.json", "lacks the task, the seed or the hash")
    names = Names(images["id"].to_list(), labels["name"].to_list())
    parts = Parts(record["hash"], (images["test"] == "true").to_numpy(), (labels["candidate"] == "true").to_numpy())
    return ExportedSplit(names, parts, record)


def _read_csv(path: Path, names: str, used: str) -> pl.DataFrame:
    """Read a CSV table as text.

    `names` and `used` are the names of two columns that the table must have. The column `used` must contain only the
    values true and false.
    """
    if not path.is_file():
        raise UserError(f"{path}: no such file; name a folder that `vsebench export` wrote")
    try:
        table = pl.read_csv(path, infer_schema=False)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise _changed(path, f"not a readable table ({one_line(error)})") from None
    for column in (names, used):
        if column not in table.columns:
            raise _changed(path, f"has no column {column!r}")
    if not table[used].is_in(["true", "false"]).all(ignore_nulls=False):
        raise _changed(path, f"the column {used!r} has values other than true and false")
    return table


def _changed(path: Path, what: str) -> UserError:
    return UserError(f"{path}: {what}, so it was changed after `vsebench export` wrote it; export the split again")
