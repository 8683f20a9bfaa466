"""Write the split of a task for a model that is trained elsewhere: everything that it may learn, and no test label."""

import argparse
from pathlib import Path

import polars as pl

from vsebench.core.errors import UserError
from vsebench.core.storage import read_json, read_parquet, replacing, write_json
from vsebench.core.tasks import Case, Task
from vsebench.protocols.base import FROM, source_of

LINKED = ("features*.np[yz]", "word_vectors.npz")
README = """# {task}, seed {seed}

Made by `vsebench export`. Train a model on these files, score the test images, and write the scores to a file.

| file | content |
|---|---|
| `train.csv` | image, label, count: the labels to train on while settings are chosen |
| `valid.csv` | the labels to choose settings by |
| `final.csv` | the labels to train the final model on: those of `train.csv` and `valid.csv` |
| `images.csv` | id: all images; train, valid, final, test: what each is used for |
| `labels.csv` | name: all labels; trained: whether the final model sees the label; candidate: whether it is ranked |
| `features.npy`, `.npz` | if the data set has features: a row per line of `images.csv` (.npz: CSR, as SciPy saves it) |
| `features-NAME.npy`, `.npz` | the same for each of several sets of features |
| `word_vectors.npz` | if there are word vectors: `vectors`, one row per line of `labels.csv`, and `known` |
| `split.json` | the task, the seed and the hash of the split |
| `split.txt` | the hash alone |

Forms of a file of scores: docs/outside.md. For `scores.parquet`, copy `split.txt` to `scores.split.txt` next to it, so
that the scores of another split are refused. `vsebench check-scores scores.parquet {folder}` tells whether a file fits.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("task", help="<data set>/<protocol>")
    parser.add_argument("folder", type=Path, help="folder to write; it must not exist yet")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--processed", type=Path, default=Path("data/processed"))


def run(arguments: argparse.Namespace) -> None:
    task = Task.of(arguments.task)
    split = Case(task, "", arguments.seed).split(arguments.results)
    source = source_of(task.protocol)
    processed = arguments.processed / task.dataset / (f"{FROM}{source}" if source else "")
    if not (split / "split.json").is_file():
        raise UserError(
            f"{split}: there is no such split; `snakemake {split}/split.json` makes it, with the --configfile of a run "
            "that has this task and seed"
        )
    folder = arguments.folder
    if folder.exists():
        raise UserError(f"{folder}: exists already; name a new folder")
    hash_of_split = read_json(split / "split.json").get("hash")
    if hash_of_split is None:
        raise UserError(f"{split}/split.json: has no hash, since an older version wrote it; delete it and run again")
    write_split(split, processed, folder)
    for file in (path for pattern in LINKED for path in sorted(processed.glob(pattern))):
        (folder / file.name).symlink_to(file.resolve())
    (folder / "split.txt").write_text(f"{hash_of_split}\n", encoding="utf-8")
    readme = README.format(task=task, seed=arguments.seed, folder=folder)
    (folder / "README.md").write_text(readme, encoding="utf-8")
    write_json({"task": str(task), "seed": arguments.seed, "hash": hash_of_split}, folder / "split.json")
    print(f"{folder}: {task}, seed {arguments.seed}, split {hash_of_split[:12]}; see {folder}/README.md")


def write_split(split: Path, processed: Path, folder: Path) -> None:
    """Write the pairs of a split, its images and its labels as CSV files with names in place of numbers."""
    ids, names = read_parquet(processed / "images.parquet")["id"], read_parquet(processed / "labels.parquet")["name"]
    for part in ("train", "valid", "final"):
        pairs = read_parquet(split / f"{part}.parquet")
        columns = {"image": ids.gather(pairs["image"]), "label": names.gather(pairs["label"]), "count": pairs["count"]}
        write_csv(pl.DataFrame(columns), folder / f"{part}.csv")
    images, labels = read_parquet(split / "images.parquet"), read_parquet(split / "labels.parquet")
    used = {"train": images["first"], "valid": images["valid"], "final": images["final"], "test": images["test"]}
    write_csv(pl.DataFrame({"id": ids} | used), folder / "images.csv")
    write_csv(
        pl.DataFrame({"name": names, "trained": labels["final"], "candidate": labels["test"]}), folder / "labels.csv"
    )


def write_csv(frame: pl.DataFrame, path: Path) -> None:
    with replacing(path) as temporary:
        frame.write_csv(temporary)
