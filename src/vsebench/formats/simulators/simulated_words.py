"""Words of the labels of `simulated_tags.py`, of which a share is alike where the labels look alike.

    u_l = unit[A (rho z_l + sqrt(1 - rho^2) z'_l)],   z'_l ~ N(0, I_m / m),   A (d, m) with orthonormal columns
    v_l = sqrt(1 - kappa^2) u_l + kappa c,            c a unit vector that all words share

z_l are the looks of the labels: with `correlation` rho = 1 words are alike as looks are, with 0 they know nothing of
them.

Source: made for this project.
"""

import math
from collections.abc import Collection
from pathlib import Path

import numpy as np
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from vsebench.core.yaml_files import Strict
from vsebench.formats.simulators.simulated_tags import label_names, looks
from vsebench.formats.word_vectors.word_files import WordVectors

MEANINGS, AXES, COMMON = 100, 101, 102  # streams of the seed, beside those of the data set


class Options(Strict):
    """The law; labels, latent and seed are those of the data set."""

    labels: int = Field(ge=2)  # as the data set has it
    latent: int = Field(ge=1)  # m, as the data set has it
    dimensions: int = Field(ge=1)  # d, of the words
    correlation: float = Field(ge=0, le=1)  # rho: 1, words are alike as looks are; 0, they know nothing of them
    common: float = Field(ge=0, lt=1)  # kappa, how much of one direction all words have
    seed: int = Field(default=0, ge=0)  # as the data set has it

    @model_validator(mode="after")
    def _room_for_the_axes(self) -> "Options":
        if self.dimensions < self.latent:
            raise PydanticCustomError("dimensions", "dimensions: words need at least as many as `latent`")
        return self


def read_vectors(raw: Path, options: Options, wanted: Collection[str]) -> WordVectors:
    """Draw the vectors of the wanted words; `raw` is not read. The same options give the same vectors."""
    seen, rho = looks(options.labels, options.latent, options.seed), options.correlation
    meant = _stream(options, MEANINGS).standard_normal(seen.shape) / math.sqrt(options.latent)
    axes, _ = np.linalg.qr(_stream(options, AXES).standard_normal((options.dimensions, options.latent)))
    own = (rho * seen + math.sqrt(1 - rho**2) * meant) @ axes.T
    own /= np.linalg.norm(own, axis=1, keepdims=True)
    shared = _stream(options, COMMON).standard_normal(options.dimensions)
    shared /= np.linalg.norm(shared)
    vectors = (math.sqrt(1 - options.common**2) * own + options.common * shared).astype(np.float32)
    words = dict(zip(label_names(options.labels), vectors, strict=True))
    found = {word: vector for word, vector in words.items() if word in wanted}
    return WordVectors(found, options.dimensions, [])


def _stream(options: Options, name: int) -> np.random.Generator:
    return np.random.default_rng([options.seed, name])
