"""Simulated rows of image features, with and without labels, for the benchmarks on image features.

Sparse rows count words: an image has labels and a Poisson-distributed number of words. A share of the words is drawn
from small vocabularies of the image's labels. The rest is drawn from all words: these are put in random order, and the
probability of word number w is proportional to 1 / (w + 10). Values are square roots of counts, and rows have unit
length.
"""

import importlib.util
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.data import CONFIG, Data, hold_out
from benchmarks.plan import SEED, Plan, SparseRows
from vsebench.config.dataset import DatasetConfig
from vsebench.core.yaml_files import read_config
from vsebench.data.features import Features, Rows, csr
from vsebench.data.problem import Dataset, Ids, LabelMatrix
from vsebench.data.streams import Stream, generator
from vsebench.formats.download.mirror import MIRROR
from vsebench.methods.by_features.neighbours import prepare
from vsebench.stages.prepare import read_annotations

BLOBS = "corel5k374"
OWN_WORDS = 100  # size of a label's vocabulary (all words if there are fewer)
OWN_SHARE = 0.3  # share of an image's words that is drawn from the vocabularies of its labels
DIRECTIONS = 20  # number of directions along which dense rows mostly vary
NOISE = 0.1  # standard deviation of the noise that is added to dense rows


@dataclass(frozen=True)
class Searched:
    """Rows to search, and queries for which the nearest rows are searched.

    All rows and queries have unit length.
    """

    name: str
    rows: Rows
    queries: Rows


def blobs(plan: Plan) -> Data:
    """Return Corel 5k with blobs (clusters of image regions) as features, or simulated data of the same kind.

    Corel 5k, with 374 labels, is used if the scale is 1 and its files are in the folder that VSEBENCH_MIRROR names.
    """
    folder = Path(os.environ.get(MIRROR, ""))
    config = read_config(DatasetConfig, CONFIG / "datasets" / f"{BLOBS}.yaml")
    if plan.scale != 1 or not all((folder / file.name).is_file() for file in config.files):
        return simulated("sim-blobs", plan.on_features.blobs, plan)
    annotations, _ = read_annotations(BLOBS, config, folder)
    assert annotations.features is not None
    assert annotations.parts is not None
    labels = LabelMatrix.from_pairs(annotations.pairs, len(annotations.images), len(annotations.labels))
    parts = annotations.parts.to_numpy().astype(np.str_)
    return with_unit_length(BLOBS, Dataset(labels, parts), annotations.features.values, "official", plan)


def simulated(name: str, size: SparseRows, plan: Plan) -> Data:
    """Draw images with labels and sparse rows; a tenth of the images is for testing, and a tenth is for validation."""
    rng = generator(SEED, Stream.SIMULATED_LABELS)
    size = size.scaled(plan.scale)
    labels = draw_labels(size, rng)
    return with_unit_length(name, Dataset(labels), draw_words(size, labels, rng), "images", plan)


def with_unit_length(name: str, dataset: Dataset, values: Rows, protocol: str, plan: Plan) -> Data:
    """Return a split that holds out whole images, with features scaled to unit length; the metric is `map`."""
    return hold_out(name, dataset, plan.images, protocol, all_known(prepare(values, "cosine")))


def all_known(rows: Rows) -> Features:
    """Return rows as `Features`, in which every image has features."""
    return Features(rows, np.ones(rows.shape[0], dtype=np.bool_))


def draw_labels(size: SparseRows, rng: np.random.Generator) -> LabelMatrix:
    """Draw labels uniformly; an image gets `labels_per_image` labels, or fewer if a label is drawn twice."""
    images = np.repeat(np.arange(size.images), size.labels_per_image)
    pairs = pl.DataFrame({"image": images, "label": rng.integers(size.labels, size=len(images))}).unique()
    pairs = pairs.cast(pl.Int32).with_columns(count=pl.lit(1, dtype=pl.Int32))
    return LabelMatrix.from_pairs(pairs, size.images, size.labels)


def draw_words(size: SparseRows, labels: LabelMatrix, rng: np.random.Generator) -> Any:
    """Draw the words of labelled images, and return the square roots of the counts of words.

    The result is a CSR matrix of shape (n_images, `size.dimensions`) and dtype float32.
    """
    lengths = np.maximum(rng.poisson(size.words, labels.n_rows), 1)
    image = np.repeat(np.arange(labels.n_rows), lengths)
    frequency = 1 / (rng.permutation(size.dimensions) + 10.0)
    words = rng.choice(size.dimensions, len(image), p=frequency / frequency.sum())
    own_words = rng.integers(size.dimensions, size=(labels.n_labels, min(OWN_WORDS, size.dimensions)))
    own = np.flatnonzero(rng.random(len(image)) < OWN_SHARE)
    words[own] = own_words[one_label(labels, image[own], rng), rng.integers(own_words.shape[1], size=len(own))]
    counts = sparse.coo_array((np.ones(len(image)), (image, words)), shape=(labels.n_rows, size.dimensions)).tocsr()
    return csr(np.sqrt(counts.data).astype(np.float32), counts.indices, counts.indptr, counts.shape)


def one_label(labels: LabelMatrix, images: NDArray[np.integer], rng: np.random.Generator) -> Ids:
    """Return, for each image, a label that is drawn uniformly from the image's labels.

    For n images, the result has shape (n,) and dtype int32.
    """
    index = (rng.random(len(images)) * labels.n_labels_of_row[images]).astype(np.int64)
    return np.asarray(labels.label_of_pair[labels.offsets[images] + index], dtype=np.int32)


def sparse_rows(plan: Plan) -> Searched:
    """Draw sparse rows and queries, in the same way as the images of `simulated`, and leave out the labels."""
    size, n_queries = plan.on_features.sparse.scaled(plan.scale), plan.scaled(plan.on_features.sparse_queries)
    rng = generator(SEED, Stream.SIMULATED_LABELS)
    both = replace(size, images=size.images + n_queries)
    words = prepare(draw_words(both, draw_labels(both, rng), rng), "cosine")
    return Searched("sparse rows", words[: size.images], words[size.images :])


def dense_rows(plan: Plan) -> Searched:
    """Draw dense rows and queries, which are normally distributed along a few directions, with noise."""
    n_rows, n_queries, dimensions = (plan.scaled(size) for size in plan.on_features.dense)
    rng = generator(SEED, Stream.SIMULATED_LABELS)
    coordinates = rng.standard_normal((n_rows + n_queries, DIRECTIONS), dtype=np.float32)
    directions = rng.standard_normal((DIRECTIONS, dimensions), dtype=np.float32) / np.sqrt(np.float32(DIRECTIONS))
    noise = rng.standard_normal((n_rows + n_queries, dimensions), dtype=np.float32)
    rows = prepare(coordinates @ directions + np.float32(NOISE) * noise, "cosine")
    return Searched("dense rows", rows[:n_rows], rows[n_rows:])


def searched(data: Data) -> Searched:
    """Return the test images of a data set as queries, and its training and validation images as rows."""
    assert data.features is not None
    learnt = np.flatnonzero(data.known.n_labels_of_row).astype(np.int32)
    return Searched(data.name, data.features.rows(learnt), data.features.rows(data.test.images))


def installed(package: str, what: str) -> bool:
    """Return whether a package is installed; if it is not, print that `what` is left out."""
    is_installed = importlib.util.find_spec(package) is not None
    if not is_installed:
        print(f"{what}: left out, because {package} is not installed", flush=True)
    return is_installed
