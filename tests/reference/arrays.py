"""Small arrays in the form that kernels read."""

import numpy as np

from tests.reference.random_numbers import SplitMix64
from vsebench.kernels.products import Embedding
from vsebench.kernels.random_numbers import new_state
from vsebench.kernels.sgd.pipeline import Positives, new_pipeline
from vsebench.kernels.sgd.sampling import Streams
from vsebench.kernels.vectors import LANES, aligned, padded_size


def padded(matrix):
    """Pad the factors of (n, K) with zeros to a multiple of LANES."""
    out = aligned(len(matrix), padded_size(matrix.shape[1]))
    out[:, : matrix.shape[1]] = matrix
    return out


def embedding_of(images, labels):
    return Embedding(padded(images), padded(labels))


def with_unused(row_labels):
    """Append the LANES numbers that kernels read and do not use."""
    return np.concatenate([row_labels, np.zeros(LANES)]).astype(np.int32)


def pipeline_of(rows):
    """Return the pipeline of the positives of images; `rows` holds a list of labels for each."""
    offsets = np.cumsum([0, *map(len, rows)])
    pairs = [(i, label, offsets[i], offsets[i + 1]) for i, row in enumerate(rows) for label in row]
    row_labels = np.array([label for row in rows for label in row])
    return new_pipeline(Positives(np.array(pairs, dtype=np.int32), with_unused(row_labels)))


def pairs_of(rows):
    return [(i, label) for i, row in enumerate(rows) for label in row]


def streams(seed):
    return Streams(*(new_state(seed, stream) for stream in range(3)))


def streams_and_twins(seed, n=3):
    """Return the streams of a seed, and a generator in Python with the same state for each of the first n streams."""
    state = streams(seed)
    return state, [SplitMix64(stream[0]) for stream in state[:n]]
