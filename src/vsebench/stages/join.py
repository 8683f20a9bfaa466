"""Join two data sets for the protocol `from-<data set>`: one to test on, and one to train on.

In the joined data, the images and labels of the data set to test on come first and keep their numbers. Labels with the
same name become one label. The stage writes the files of a processed data set: pairs, images and labels as .parquet,
word_vectors.npz, and the sets of features that both data sets have. It also writes given.parquet. This table contains
the pairs of the data set to train on whose image and label are also in the data set to test on.

The joined data use the test images of the data set to test on, and the training and validation images of the data set
to train on. If a data set has no official partition, all its images are used. However, images of the data set to train
on that have the id of a test image are not used. Images that are not used belong to no part and have no pairs.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from scipy import sparse

from vsebench.core.errors import UserError
from vsebench.core.schemas import IMAGES, JOINED_LABELS, PAIRS
from vsebench.core.storage import features_file, read_parquet, set_of, write_arrays, write_table
from vsebench.data.features import Features, read_features, write_features
from vsebench.data.needs import WORD_VECTORS
from vsebench.data.problem import WordVectors


@dataclass(frozen=True)
class Processed:
    """The tables of a processed data set, sorted by image and label, and its word vectors."""

    images: pl.DataFrame
    labels: pl.DataFrame
    pairs: pl.DataFrame
    word_vectors: WordVectors

    @classmethod
    def read(cls, folder: Path) -> "Processed":
        """Read a processed data set."""
        images, labels, pairs = (read_parquet(folder / f"{name}.parquet") for name in ("images", "labels", "pairs"))
        return cls(images, labels, pairs, WORD_VECTORS.load(folder / "word_vectors.npz"))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tested", type=Path, required=True, help="folder of the processed data set to test on")
    parser.add_argument("--trained", type=Path, required=True, help="folder of the processed data set to train on")
    form = "files of the features that both data sets have: first all of --tested, then all of --trained"
    parser.add_argument("--features", type=Path, nargs="+", default=[], help=form)
    parser.add_argument("--out", type=Path, required=True, help="folder to write into")


def run(arguments: argparse.Namespace) -> None:
    tested, trained = Processed.read(arguments.tested), Processed.read(arguments.trained)
    n_shared = tested_by(tested, trained.images).sum()
    if n_shared:
        of_test = f"test images of {arguments.tested} have the same ids"
        print(f"{arguments.trained}: number of images left out because {of_test}: {n_shared}")
    try:
        joined = join(tested, trained)
    except ValueError as error:
        raise UserError(f"{arguments.tested} and {arguments.trained}: {error}") from None
    write_table(joined.images, IMAGES, arguments.out / "images.parquet")
    write_table(joined.labels, JOINED_LABELS, arguments.out / "labels.parquet")
    write_table(joined.pairs, PAIRS, arguments.out / "pairs.parquet")
    write_table(given(tested, trained), PAIRS, arguments.out / "given.parquet")
    write_arrays(arguments.out / "word_vectors.npz", **vars(joined.word_vectors))
    n_sets = len(arguments.features) // 2
    for paths in zip(arguments.features[:n_sets], arguments.features[n_sets:], strict=True):
        both = [read_set(path) for path in paths]
        features = join_features(both[0], both[1], " and ".join(map(str, paths)))
        write_features(features, arguments.out / features_file(set_of(paths[0]), features.is_sparse))


def read_set(path: Path) -> Features:
    """Read one set of features of a processed data set."""
    return read_features(path, read_parquet(path.parent / "images.parquet")["has_features"].to_numpy())


def join(tested: Processed, trained: Processed) -> Processed:
    """Return the two data sets as one.

    A `ValueError` is raised if the word vectors of the data sets differ in their dimensions, or if two labels of one
    data set have the same name.
    """
    labels = join_labels(tested.labels["name"], trained.labels["name"])
    added = labels.filter(pl.col("label") >= tested.labels.height)["name"]
    is_added = trained.labels["name"].is_in(added.implode()).to_numpy()
    if tested.word_vectors.dimensions != trained.word_vectors.dimensions:
        dimensions = f"{tested.word_vectors.dimensions} and {trained.word_vectors.dimensions} dimensions"
        raise ValueError(f"the word vectors of the two data sets have {dimensions}; use one source for both data sets")
    word_vectors = WordVectors(
        np.vstack([tested.word_vectors.vectors, trained.word_vectors.vectors[is_added]]),
        np.concatenate([tested.word_vectors.known, trained.word_vectors.known[is_added]]),
    )
    test = tested.images.with_columns(part=kept_parts(tested.images, ["test"]))
    train = trained.images.with_columns(
        image=pl.col("image") + tested.images.height,
        part=pl.when(~tested_by(tested, trained.images)).then(kept_parts(trained.images, ["train", "valid"])),
    )
    images = pl.concat([test.cast(IMAGES), train.cast(IMAGES)])
    numbers = trained.labels.select("label", "name").join(labels.select("name", new="label"), on="name")
    moved = trained.pairs.join(numbers, on="label").select(
        image=pl.col("image") + tested.images.height, label="new", count="count"
    )
    pairs = pl.concat([tested.pairs.cast(PAIRS), moved.cast(PAIRS)])
    pairs = pairs.join(images.filter(pl.col("part").is_not_null()), on="image", how="semi").sort("image", "label")
    return Processed(images, labels, pairs, word_vectors)


def tested_by(tested: Processed, images: pl.DataFrame) -> pl.Series:
    """Return a mask of the images whose id is also the id of a test image of `tested`.

    A model must not see these images in training.
    """
    test = tested.images.filter(kept_parts(tested.images, ["test"]).is_not_null())
    return images["id"].is_in(test["id"].implode())


def given(tested: Processed, trained: Processed) -> pl.DataFrame:
    """Return the pairs of `trained` whose image and label are also in `tested`, numbered as in `tested`.

    Images are matched by id, and labels by name. For example, experts may have labelled the images of `tested`, while
    the returned pairs are the tags that users gave to the same images.
    """
    images = trained.images.select("image", "id").join(tested.images.select("id", new_image="image"), on="id")
    labels = trained.labels.select("label", "name").join(tested.labels.select("name", new_label="label"), on="name")
    pairs = trained.pairs.join(images, on="image").join(labels, on="label")
    return pairs.select(image="new_image", label="new_label", count="count").sort("image", "label").cast(PAIRS)


def join_labels(tested: pl.Series, trained: pl.Series) -> pl.DataFrame:
    """Return the labels of both data sets as the table `schemas.JOINED_LABELS`.

    `tested` and `trained` are the names of the labels. If two labels of one data set have the same name, a `ValueError`
    is raised.
    """
    for names in (tested, trained):
        if names.is_duplicated().any():
            raise ValueError(f"two labels of one data set have the name {names.filter(names.is_duplicated())[0]!r}")
    names = pl.concat([tested, trained]).unique(maintain_order=True)
    columns = {
        "label": np.arange(len(names)),
        "name": names,
        "trained": names.is_in(trained.implode()),
        "tested": names.is_in(tested.implode()),
    }
    return pl.DataFrame(columns).cast(JOINED_LABELS)


def kept_parts(images: pl.DataFrame, parts: list[str]) -> pl.Expr:
    """Return an expression for the part of each image; it is null for a part that is not in `parts`.

    If the data set has no official partition, all images are in the first of `parts`.
    """
    if images["part"].null_count() == images.height:
        return pl.lit(parts[0])
    return pl.when(pl.col("part").is_in(parts)).then(pl.col("part"))


def join_features(tested: Features, trained: Features, where: str) -> Features:
    """Stack the features of both data sets.

    A `UserError` is raised if only one of the two sets of features is sparse, or if they differ in their dimensions.
    """
    kinds = [f"{'sparse' if f.is_sparse else 'dense'} with {f.dimensions} numbers" for f in (tested, trained)]
    if kinds[0] != kinds[1]:
        raise UserError(f"{where}: features are {' and '.join(kinds)}, but must be the same for both data sets")
    values = [tested.values, trained.values]
    stacked = sparse.vstack(values, format="csr") if tested.is_sparse else np.concatenate(values)
    return Features(stacked, np.concatenate([tested.known, trained.known]), where=where)
