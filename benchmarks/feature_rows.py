"""Rows of image features that everything on features is measured on, and labelled images with such rows.

Sparse rows are words: an image has some labels and a number of words, Poisson distributed. A share of the words is
from a small vocabulary that each label has for itself, the rest from all words w with probability ~ 1 / (w + 10), in a
random order. A number is the square root of a word's count, and rows have unit length.
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
from vsebench.methods.by_features.neighbours import prepare
from vsebench.stages.download import MIRROR
from vsebench.stages.prepare import read_annotations

BLOBS = "corel5k374"
OWN_WORDS = 100  # of a label, or as many as there are
OWN_SHARE = 0.3  # of the words of an image, from the vocabularies of its labels
DIRECTIONS = 20  # that dense rows mostly vary along
NOISE = 0.1  # standard deviation of what is added to each number of a dense row


@dataclass(frozen=True)
class Searched:
    """Rows among which the nearest of some queries are searched; all have unit length."""

    name: str
    rows: Rows
    queries: Rows


def blobs(plan: Plan) -> Data:
    """Return Corel 5k with 374 words from the mirror if it is there, else simulated rows of the same size."""
    folder = Path(os.environ.get(MIRROR, ""))
    config = read_config(DatasetConfig, CONFIG / "datasets" / f"{BLOBS}.yaml")
    if plan.scale != 1 or not all((folder / file.name).is_file() for file in config.files):
        return simulated("sim-blobs", plan.on_features.blobs, plan)
    annotations, _ = read_annotations(BLOBS, config, folder)
    assert annotations.features is not None
    assert annotations.parts is not None
    labels = LabelMatrix.from_pairs(annotations.pairs, len(annotations.images), len(annotations.labels))
    parts = annotations.parts.to_numpy().astype(np.str_)
    return of_unit_length(BLOBS, Dataset(labels, parts), annotations.features.values, "official", plan)


def simulated(name: str, size: SparseRows, plan: Plan) -> Data:
    """Draw images with labels and sparse rows, a tenth of them for the test and a tenth for validation."""
    rng = generator(SEED, Stream.SIMULATED_LABELS)
    size = size.scaled(plan.scale)
    labels = draw_labels(size, rng)
    return of_unit_length(name, Dataset(labels), draw_words(size, labels, rng), "images", plan)


def of_unit_length(name: str, dataset: Dataset, values: Rows, protocol: str, plan: Plan) -> Data:
    """Return images of which whole ones are held out, with features of unit length; the metric is `map`."""
    return hold_out(name, dataset, plan.images, protocol, all_known(prepare(values, "cosine")))


def all_known(rows: Rows) -> Features:
    """Return rows as the features of as many images."""
    return Features(rows, np.ones(rows.shape[0], dtype=np.bool_))


def draw_labels(size: SparseRows, rng: np.random.Generator) -> LabelMatrix:
    """Draw labels, all with the same probability; an image gets as many as the size says, or fewer if some repeat."""
    images = np.repeat(np.arange(size.images), size.labels_per_image)
    pairs = pl.DataFrame({"image": images, "label": rng.integers(size.labels, size=len(images))}).unique()
    pairs = pairs.cast(pl.Int32).with_columns(count=pl.lit(1, dtype=pl.Int32))
    return LabelMatrix.from_pairs(pairs, size.images, size.labels)


def draw_words(size: SparseRows, labels: LabelMatrix, rng: np.random.Generator) -> Any:
    """Draw the words of labelled images; CSR (n_images, d) float32, the square roots of the counts."""
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
    """Return one of the labels of each image, (n,) int32, each with the same probability."""
    places = (rng.random(len(images)) * labels.n_labels_of_row[images]).astype(np.int64)
    return np.asarray(labels.label_of_pair[labels.offsets[images] + places], dtype=np.int32)


def sparse_rows(plan: Plan) -> Searched:
    """Draw sparse rows and queries; images and words are drawn as in `simulated`, labels are not returned."""
    size, n_queries = plan.on_features.sparse.scaled(plan.scale), plan.scaled(plan.on_features.sparse_queries)
    rng = generator(SEED, Stream.SIMULATED_LABELS)
    both = replace(size, images=size.images + n_queries)
    words = prepare(draw_words(both, draw_labels(both, rng), rng), "cosine")
    return Searched("sparse rows", words[: size.images], words[size.images :])


def dense_rows(plan: Plan) -> Searched:
    """Draw dense rows and queries: normal numbers along a few directions, and noise."""
    n_rows, n_queries, dimensions = (plan.scaled(size) for size in plan.on_features.dense)
    rng = generator(SEED, Stream.SIMULATED_LABELS)
    places = rng.standard_normal((n_rows + n_queries, DIRECTIONS), dtype=np.float32)
    directions = rng.standard_normal((DIRECTIONS, dimensions), dtype=np.float32) / np.sqrt(np.float32(DIRECTIONS))
    noise = rng.standard_normal((n_rows + n_queries, dimensions), dtype=np.float32)
    rows = prepare(places @ directions + np.float32(NOISE) * noise, "cosine")
    return Searched("dense rows", rows[:n_rows], rows[n_rows:])


def searched(data: Data) -> Searched:
    """Return the test images of a set as queries among the images to learn from."""
    assert data.features is not None
    learnt = np.flatnonzero(data.known.n_labels_of_row).astype(np.int32)
    return Searched(data.name, data.features.rows(learnt), data.features.rows(data.test.images))


def installed(package: str, what: str) -> bool:
    """Return whether a package is there; if not, say what is left out."""
    there = importlib.util.find_spec(package) is not None
    if not there:
        print(f"{what}: {package} is not installed, so it is left out", flush=True)
    return there
