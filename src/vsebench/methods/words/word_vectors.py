"""The initial label vectors of methods that use word vectors.

A label without a word vector gets a vector in a random direction, so that it can be ranked. The length of this vector
is the median length of the labels' word vectors. Methods that compare word vectors directly with image features use the
given vectors unchanged.
"""

from typing import Literal

import numpy as np
from pydantic import Field

from vsebench.core.errors import UserError
from vsebench.data.problem import Matrix, Problem, WordScale
from vsebench.data.streams import Stream, generator
from vsebench.methods.base import Settings


class WordSettings(Settings):
    """Settings of the labels' initial vectors."""

    vectors: WordScale = "unit"  # word vectors unchanged, scaled to length 1, or centred and scaled to length 1
    scale: float = Field(default=1.0, gt=0)  # a factor that multiplies all vectors
    # The labels' word vectors, the same vectors shuffled among the labels, or random vectors of length 1.
    start: Literal["words", "dealt", "random"] = "words"


def label_vectors(problem: Problem, settings: WordSettings) -> Matrix:
    """Return the initial vector of each label in a new array, (n_labels, d) float32; no vector is zero."""
    assert problem.word_vectors is not None
    rng = generator(problem.seed, Stream.WORDS)
    vectors = problem.word_vectors.scaled(settings.vectors).astype(np.float32)
    directions = rng.standard_normal(vectors.shape, dtype=np.float32)
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    if settings.start == "random":
        vectors = directions
    else:
        lengths = np.linalg.norm(vectors, axis=1)
        known = lengths > 0
        vectors[~known] = directions[~known] * (np.median(lengths[known]) if known.any() else 1)
    if settings.start == "dealt":
        vectors = rng.permutation(vectors)
    return vectors * np.float32(settings.scale)


def word_vectors_among_features(problem: Problem, method: str) -> Matrix:
    """Return the labels' word vectors, (n_labels, d) float32, for comparison with features of d dimensions.

    `problem` must have features and word vectors. If their numbers of dimensions differ, a `UserError` names `method`.
    """
    features, words = problem.features, problem.word_vectors
    assert features is not None
    assert words is not None
    if features.dimensions != words.dimensions:
        numbers = f"features have {features.dimensions} dimensions and word vectors {words.dimensions}"
        raise UserError(f"{numbers}; {method} needs both from the same network, such as CLIP")
    return words.vectors
