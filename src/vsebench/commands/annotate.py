"""Annotate new images: list the top labels of each image according to a fitted model and the image's features."""

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from tqdm import tqdm

from vsebench import models
from vsebench.config.dataset import TABLES
from vsebench.core.errors import UserError
from vsebench.core.schemas import ANNOTATIONS
from vsebench.core.storage import read_parquet, replacing, seal_of
from vsebench.data.chunks import even_chunks
from vsebench.data.features import Block, Features, side_by_side
from vsebench.data.problem import Ids, Matrix, Queries
from vsebench.formats.features_file import read_rows
from vsebench.models import Model, checked_scores, named_sets

BATCH = 1000  # number of images to score at once


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", type=Path, required=True, help="model.npz of a method that uses image features")
    parser.add_argument("--labels", type=Path, required=True, help="labels.parquet of the model's data set")
    form = "file of image features (.npy, .npz, .parquet or .csv); if the model uses several sets, one file per set"
    parser.add_argument("--features", type=Path, nargs="+", required=True, help=form)
    rows = (
        "text file with one image id per line; one for all files of features, or one for each (default ids: 1, 2, ...)"
    )
    parser.add_argument("--ids", type=Path, nargs="+", default=[], help=rows)
    column = "column of image ids, for features in .parquet or .csv files (default: image)"
    parser.add_argument("--image", default="image", help=column)
    parser.add_argument("--top", type=int, default=5, help="number of labels per image (default: 5)")
    out = "CSV file to write, with the columns image, rank, label and score"
    parser.add_argument("--out", type=Path, required=True, help=out)


def run(arguments: argparse.Namespace) -> None:
    if arguments.top < 1:
        raise UserError(f"--top: is {arguments.top}, but should be 1 or more")
    model, table = models.load(arguments.model), read_parquet(arguments.labels)
    if "name" not in table.columns:
        raise UserError(f"{arguments.labels}: no column 'name'; the labels.parquet of a processed data set is needed")
    labels = table["name"]
    if model.n_labels != len(labels):
        sizes = f"{len(labels)} labels, but {arguments.model} has {model.n_labels}"
        advice = "use the labels of the data set on which the model was trained"
        raise UserError(f"{arguments.labels}: {sizes}; {advice}")
    are_known = are_names_of_model(arguments.labels, arguments.model)
    ids, features = read_sets(arguments.features, arguments.ids, arguments.image, named_sets(model))
    top, scores = annotate(model, features, min(arguments.top, model.n_labels))
    n_images, n_labels = top.shape
    columns = {
        "image": np.repeat(ids, n_labels),
        "rank": np.tile(np.arange(1, n_labels + 1), n_images),
        "label": labels.gather(top.ravel()),
        "score": scores.ravel(),
    }
    with replacing(arguments.out) as temporary:
        pl.DataFrame(columns, schema=ANNOTATIONS).write_csv(temporary)
    if not are_known:
        split = arguments.model.parent.parent / "split"
        why = f"this was not checked, because the split of this model is not in {split}"
        print(f"Check that {arguments.labels} has the model's labels: {why}", file=sys.stderr)


def are_names_of_model(labels: Path, model: Path) -> bool:
    """Return True if the model was trained with the file `labels`, and False if this is not known.

    A model states the checksum of its split, and a split states the checksum of the labels.parquet from which it was
    made. Raises a `UserError` if `labels` has a different checksum.
    """
    split = model.parent.parent / "split/labels.parquet"
    if not split.is_file():
        return False
    read_parquet(split)  # checks its seal
    of_split, of_model, given = seal_of(split), seal_of(model), seal_of(labels)
    if not (isinstance(of_split, dict) and isinstance(of_model, dict) and isinstance(given, dict)):
        return False  # older versions of vsebench wrote files without seals
    stated = [checksum for path, checksum in of_split["made_with"].items() if path.endswith("/labels.parquet")]
    if of_model["made_with"].get(of_split["path"]) != of_split["checksum"] or not stated:
        return False
    if given["checksum"] not in stated:
        advice = "use data/processed/<data set>/labels.parquet of the model's run"
        raise UserError(f"{labels}: not the labels with which {model} was trained; {advice}")
    return True


def read_sets(
    paths: list[Path], ids_paths: list[Path], column: str, sets: tuple[Block, ...]
) -> tuple[list[str], Features]:
    """Read the ids and the features of new images.

    If the model has named sets of features (`sets`), `paths` contains one file for each set. All files must contain the
    same images, with one row per image. The order of the rows may differ; the result has the order of the first file.
    """
    if len(paths) != max(len(sets), 1):
        seen = ", ".join(f"{block.name} ({block.stop - block.start} numbers per image)" for block in sets)
        needed = f"one for each of these sets, in this order: {seen}" if sets else "one"
        raise UserError(f"--features: number of files: {len(paths)}; the model needs {needed}")
    if len(ids_paths) not in (0, 1, len(paths)):
        raise UserError(
            f"number of files: {len(ids_paths)} in --ids, {len(paths)} in --features; name one file of ids for all "
            "files of features, or one for each"
        )
    check_ids_used(paths, ids_paths)
    of_paths = ids_paths if len(ids_paths) == len(paths) else [*ids_paths, None][:1] * len(paths)
    read = [read_images(path, ids, column) for path, ids in zip(paths, of_paths, strict=True)]
    if not sets:
        return read[0]
    ids, arranged = read[0][0], {}
    for block, path, (own, features) in zip(sets, paths, read, strict=True):
        if features.dimensions != block.stop - block.start:
            needed = f"the model was fitted to {block.stop - block.start} in the set {block.name}"
            raise UserError(f"{path}: {features.dimensions} numbers per image, but {needed}")
        row_of = {image: row for row, image in enumerate(own)}
        other = next(iter(set(ids) ^ set(own)), None)
        if other is not None:
            raise UserError(
                f"{path} and {paths[0]}: only one of them has a row for {other!r}; both must have the same images"
            )
        arranged[block.name] = features.take(np.array([row_of[image] for image in ids]))
    return ids, side_by_side(arranged)


def check_ids_used(paths: list[Path], ids_paths: list[Path]) -> None:
    """Raise a `UserError` if a file of ids would not be read, because the features are tables that contain the ids."""
    for number, ids in enumerate(ids_paths):
        features = paths if len(ids_paths) == 1 else paths[number : number + 1]
        if all(path.suffix in TABLES for path in features):
            column = "has a column of ids, which --image names"
            raise UserError(f"--ids: {ids} would not be read, because {features[0]} {column}; leave out --ids")


def read_images(path: Path, ids_path: Path | None, column: str) -> tuple[list[str], Features]:
    """Read the ids and the features of new images from one file."""
    for file in filter(None, (path, ids_path)):
        if not file.is_file():
            raise UserError(f"{file}: no such file")
    ids, values = read_rows(path, ids_path, column)
    n_rows = values.shape[0] if values.ndim == 2 else 0
    if n_rows == 0:
        raise UserError(f"{path}: the features have shape {values.shape}; give a matrix with one row per image")
    if ids is not None and len(ids) != n_rows:
        raise UserError(
            f"{path}: number of rows of features: {n_rows}, number of ids in {ids_path}: {len(ids)}; "
            "give an id for each row"
        )
    ids = [str(number) for number in range(1, n_rows + 1)] if ids is None else ids
    return ids, Features(values, np.ones(n_rows, dtype=bool), where=str(path))


def annotate(model: Model, features: Features, n_labels: int) -> tuple[Ids, Matrix]:
    """Return the `n_labels` labels with the highest scores for each image, and these scores.

    Both arrays have shape (n_images, n_labels). The labels are int32 and the scores float32. Labels with equal scores
    are in the order of the data set.
    """
    batches: list[tuple[Any, Any]] = []
    for start, stop in tqdm(even_chunks(features.n_images, BATCH), desc="annotating", mininterval=5):
        rows = features.rows(np.arange(start, stop))
        scores = checked_scores(model, Queries.of_new_images(rows, model.n_labels))
        top = np.argsort(-scores, axis=1, kind="stable")[:, :n_labels]
        batches.append((top.astype(np.int32), np.take_along_axis(scores, top, axis=1)))
    return np.concatenate([top for top, _ in batches]), np.concatenate([scores for _, scores in batches])
