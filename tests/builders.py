"""Small matrices, tables, held-out labels and models for tests."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl

from vsebench.core.workers import workers
from vsebench.data.problem import HeldOut, LabelMatrix
from vsebench.evaluation.ranking import rank
from vsebench.models import Model


def matrix_of(rows, n_labels, counts=None):
    """Build a label matrix from a list of ascending labels for each image."""
    offsets = np.cumsum([0, *(len(row) for row in rows)]).astype(np.int64)
    labels = np.array([label for row in rows for label in row], dtype=np.int32)
    counts = np.ones(len(labels), dtype=np.int32) if counts is None else np.asarray(counts, dtype=np.int32)
    return LabelMatrix(n_labels, offsets, labels, counts)


def rows_of(matrix):
    """Return the list of labels of each row."""
    return [matrix.label_of_pair[start:stop].tolist() for start, stop in pairwise(matrix.offsets)]


def dense(matrix):
    """Return (n_rows, n_labels) bool, whether a row has a label."""
    rows = np.zeros((matrix.n_rows, matrix.n_labels), dtype=bool)
    rows[matrix.image_of_pair, matrix.label_of_pair] = True
    return rows


def frame(lines, schema):
    """Return a table of lines, which may lack columns but must not have others, since polars would drop these."""
    lines = list(lines)
    assert all(line.keys() <= schema.keys() for line in lines)
    return pl.DataFrame(lines, schema=schema)


def held_out_of(right, n_labels, known=None, images=None, candidates=None):
    """Build held-out labels from lists of labels; the images are 0, 1, 2, ... unless they are named."""
    images = np.arange(len(right)) if images is None else np.asarray(images)
    known = [[] for _ in right] if known is None else known
    mask = np.ones(n_labels, dtype=bool)
    if candidates is not None:
        mask[:] = np.isin(np.arange(n_labels), candidates)
    return HeldOut(images.astype(np.int32), matrix_of(right, n_labels), matrix_of(known, n_labels), mask)


@dataclass(frozen=True)
class Given(Model):
    """A model whose scores are given outright, one row per image of the data set."""

    kind = "given"
    table: np.ndarray

    @property
    def n_labels(self):
        return self.table.shape[1]

    def scores(self, queries):
        return np.ascontiguousarray(self.table[queries.images], dtype=np.float32)

    def largest_score(self):
        return float(np.abs(self.table).max(initial=0))

    def arrays(self):
        return {"table": self.table}

    @classmethod
    def from_arrays(cls, arrays):
        return cls(arrays["table"])


def ranks_of(scores, right, **changes):
    """Rank held-out labels by scores, (n_images, n_labels); see `held_out_of` for the rest."""
    scores = np.asarray(scores, dtype=np.float32)
    with workers(1) as pool:
        return rank(Given(scores), held_out_of(right, scores.shape[1], **changes), None, pool, "test")
